"""`indexerd verify` whose fresh projection is that of markdown-it alone, inline: none of the quick ways.

`python -m tests.crash.slow_verify ROOT --db DB`: prints what differs, and exits as `verify` does.
"""

from __future__ import annotations

import sys

from indexerd.core.markdown import read
from indexerd.core.markdown.document import Document
from indexerd.core.markdown.parser import parse_document
from indexerd.main import main
from indexerd.pipeline import workers


def read_slowly(text: str) -> Document:
    """What the quick reading must be equal to."""
    return parse_document(text)


if __name__ == "__main__":
    read.read_quickly = read_slowly
    workers._processors = lambda: 0  # a worker would import the quick ways
    sys.exit(main(["verify", *sys.argv[1:]]))
