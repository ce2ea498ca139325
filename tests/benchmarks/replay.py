"""`python -m tests.benchmarks replay [SEED]`: reads as an agent does, and counts the right sections.

Three calls at most, ten questions of each set, drawn with a seed that is used once: a plan that is changed
after a look at its questions needs others. The plan is written down in docs/agents.md. An agent that has
read the right section stops; here the judgement knows when.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.eval.collection import Collection, corpus_of
from tests.shared_data import SHARED
from wikiq.answers.outline import outline
from wikiq.eval.judged import JudgedQuestion, parse_set, path_key
from wikiq.index.database import Snapshot, open_database
from wikiq.mcp.calls import Calls
from wikiq.mcp.tools import TOOLS
from wikiq.model.request import Source

SETS: Final = ("claudedocs", "xquad-en", "jsquad")
QUESTIONS: Final = 10
SEED: Final = 20261206
READ_TOGETHER: Final = 3  # hits
WHOLE_PAGE: Final = 4000  # tokens
_HEAD: Final = re.compile(r"^(.+):(\d+)-(\d+) of \d+ lines? \N{MIDDLE DOT} ", re.MULTILINE)

Lines = tuple[str, int, int]


def main(words: list[str]) -> None:
    """Print each question that was missed, and how many were answered."""
    seed = int(words[0]) if words else SEED
    if not (SHARED / "eval").is_dir():
        print(f"skipped: {SHARED / 'eval'} is not there")
        return
    with tempfile.TemporaryDirectory(prefix="replay-") as work:
        collection = Collection(sets=SHARED / "eval" / "sets", corpora=SHARED / "eval", work=Path(work))
        for name in SETS:
            text = (collection.sets / f"{name}.jsonl").read_text("utf-8")
            asked = random.Random(seed).sample(parse_set(text, name), QUESTIONS)
            db = collection.index_of(corpus_of(text))
            needed = [calls_needed(db, question) for question in asked]
            for question, calls in zip(asked, needed, strict=True):
                if calls is None:
                    print(f"  missed: {question.number} {question.text}")
            found = [calls for calls in needed if calls is not None]
            mean = f", {sum(found) / len(found):.1f} calls each" if found else ""
            print(f"{name}, seed {seed}: {len(found)} of {len(asked)} read within three calls{mean}")


def calls_needed(db: Path, question: JudgedQuestion) -> int | None:
    """After how many calls a judged section has been sent from its first line on; None within three."""
    with closing(open_database(str(db))) as database, database.snapshot() as snapshot:
        wanted = list(wanted_lines(snapshot, question))
    with closing(Calls(Source(db=str(db)), {}, "/")) as calls:
        found = calls.call(TOOLS["search"], {"query": question.text}).text
        places = re.findall(r"^\d+ (.+?:\d+)-\d+ ", found, re.MULTILINE)
        if not places:
            return None
        page = places[0].rpartition(":")[0]
        readings = (
            {"page": "\n".join(places[:READ_TOGETHER])},
            {"page": page, "max_tokens": WHOLE_PAGE},
        )
        for number, reading in enumerate(readings, 2):
            if is_sent(calls.call(TOOLS["read"], reading).text, wanted):
                return number
    return None


def wanted_lines(snapshot: Snapshot, question: JudgedQuestion) -> Iterator[Lines]:
    """The lines of each section that was judged right, without those of its subsections."""
    pages = {str(path).casefold(): str(path) for (path,) in snapshot.rows("SELECT path FROM page")}
    for wanted in question.relevant:
        path = pages.get(wanted.page.casefold())
        if path is None:
            continue
        page = outline(snapshot, path)
        for row in page.sections:
            key = path_key(row.section_path, page.title)
            if wanted.heading_path is None or key == path_key(wanted.heading_path, page.title):
                yield path, row.start_line, row.end_line


def is_sent(text: str, wanted: list[Lines]) -> bool:
    """Whether one of the wanted sections stands whole in a reading."""
    sent = [(path, int(start), int(end)) for path, start, end in _HEAD.findall(text)]
    return any(
        path == asked and start <= first and last <= end
        for path, start, end in sent
        for asked, first, last in wanted
    )
