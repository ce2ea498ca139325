"""Ten questions a reader of each shared corpus would ask, with what a search answers, for docs/search.md.

`python -m tests.eval.examples powershell INDEX` prints the answers of an index of that corpus.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tests.wikiq.asking import answer
from wikiq.answers.search import search
from wikiq.index.database import open_database
from wikiq.model.request import SearchRequest
from wikiq.model.results import Hit

QUESTIONS = {
    "powershell": (
        "How do I stop a process that does not respond?",
        "What is splatting?",
        "difference between -eq and -like",
        "Get-ChildItem -Recurse",
        "about_Execution_Policies",
        "reference/7.5/Microsoft.PowerShell.Core/Where-Object.md",
        '"cannot be loaded because running scripts is disabled on this system"',
        "$PSVersionTable.PSVersion",
        "read a csv file and sort it by a column",
        "title:remoting exit code -ssh",
    ),
    "obsidian-help": (
        "How do I sync my vault between two computers?",
        "embed an image and set its width",
        "internal links",
        "What is a canvas good for?",
        "/^\\d{4}-\\d{2}-\\d{2}$/",
        "en/Editing and formatting/Callouts.md",
        "tag:#project",
        "obsidian://open?vault=",
        "如何备份我的数据",
        "インターネットなしで使う",
    ),
}
SHOWN = 3  # pages of each answer


def main() -> int:
    """Print the answers to the questions of one corpus as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.examples", description=__doc__)
    parser.add_argument("corpus", choices=QUESTIONS)
    parser.add_argument("index", help="the index file of that corpus")
    options = parser.parse_args()
    database = open_database(options.index)
    for question in QUESTIONS[options.corpus]:
        result = answer(database, search, SearchRequest(query=question, limit=SHOWN))
        corrected = "".join(f", `{typed}` read as `{used}`" for typed, used in result.corrected.items())
        print(f"\n`{question}` — {result.total} pages{corrected}\n")
        for number, hit in enumerate(result.hits, 1):
            print(*answer_lines(number, hit), sep="\n")
    database.close()
    return 0


def answer_lines(number: int, hit: Hit) -> Iterator[str]:
    """One hit: its path and line, the headings down to the section, and for the first the excerpt."""
    evidence = hit.evidence
    line = evidence.match_line if evidence else 1
    crumbs = " > ".join(evidence.heading_path) if evidence else ""
    yield f"{number}. `{hit.path}:{line}` {crumbs}".rstrip()
    if number == 1 and evidence is not None and evidence.excerpt is not None:
        yield f"   > {evidence.excerpt}"


if __name__ == "__main__":
    raise SystemExit(main())
