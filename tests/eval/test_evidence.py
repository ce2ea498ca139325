"""The lines and excerpts of hits, against the files (long form: `python -m tests.eval.evidence`)."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from tests.eval.evidence import evidence_faults
from tests.imports import REPOSITORY
from tests.wikiq.built_wiki import build_wiki
from wikiq.index.database import open_database

QUESTIONS_MAX = 20
TAGGED = "# Tags\n\nWe see\n<Picture\n  alt='sought'\n  src='a.png' />\nwhat is *sought* here.\n"


def test_hits_over_the_documents_lead_to_lines_that_hold_what_matched(tmp_path: Path) -> None:
    pages = {path.name: path.read_text("utf-8") for path in (REPOSITORY / "docs").glob("*.md")}
    headings = [found for text in pages.values() for found in re.findall(r"^##+ (.+)$", text, re.MULTILINE)]
    wiki = build_wiki(tmp_path, pages | {"tags.md": TAGGED})
    step = -(-len(headings) // QUESTIONS_MAX)
    questions = [*headings[::step], "what is sought here"]
    with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
        assert list(evidence_faults(snapshot, questions)) == []
        page = wiki.index.root / "tags.md"
        page.write_text(f"One line more.\n{TAGGED}", "utf-8")
        (fault,) = evidence_faults(snapshot, ["what is sought here"])
    assert fault.startswith("'what is sought here' tags.md:7: 'sought' is not in")
    assert len(questions) > QUESTIONS_MAX // 2
