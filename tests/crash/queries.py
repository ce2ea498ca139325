"""Questions made of anything: each is answered or refused in words, and none takes long.

`python -m tests.crash.queries [--questions 100000] [--seed N]` prints how many were answered, refused
and cut off; an exception of another kind ends it with the question that raised it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.database import open_database
from wikiq.errors import WikiqError
from wikiq.request import SearchRequest
from wikiq.results import json_form
from wikiq.search import search

LONGEST: Final = 200  # characters
TOLD_EVERY: Final = 10_000
SLOW_S: Final = 2.0  # on a busy machine; the usual question takes a millisecond

# What FTS5 reads as syntax, what SQL does, words of the index, and letters of scripts without blanks.
PIECES: Final = (
    '"', "'", '""', "(", ")", "*", "^", "+", "-", ":", "{", "}", ",", ";", "--", "/*", "\\", "%", "_", "\x00",
    " AND ", " OR ", " NOT ", " NEAR ", "NEAR(", "title:", "heading:", "body:", "rowid:", "sections_fts:",
    " MATCH ", "SELECT ", "' OR 1=1 --", "apple", "fruit", "Apple ", "appl*", '"a fruit"', "-fruit",
    "数据", "ก", "ひらがな", "ß", "İ", "\u0301", "\u200d", "\U0001f980", "\ufeff", "\ud7ff", "\n", "\t", " ",
)  # fmt: skip


@dataclass(slots=True)
class Counts:
    """Questions by what came of them, and how long the slowest took."""

    answers: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    slow: list[str] = field(default_factory=list)


def make_question(generator: random.Random) -> str:
    """Pieces of syntax, of any characters, or of both."""
    kind = generator.random()
    length = generator.randrange(1, 40)
    if kind < 0.4:
        return "".join(generator.choice(PIECES) for _ in range(length))
    if kind < 0.7:
        return "".join(chr(_any_character(generator)) for _ in range(generator.randrange(LONGEST)))
    parts = [generator.choice(PIECES) if generator.random() < 0.5 else chr(_any_character(generator))]
    return "".join(parts * generator.randrange(1, 30) + [generator.choice(PIECES) for _ in range(length)])


def _any_character(generator: random.Random) -> int:
    """Of any plane; without the surrogates, which no argument of a process decodes to but as escapes."""
    code = generator.randrange(generator.choice([0x80, 0x800, 0x10000, 0x110000]))
    return code if not 0xD800 <= code <= 0xDFFF else 0xFFFD


def run(folder: Path, *, questions: int, seed: int) -> Counts:
    """Asks them all, of a small index."""
    generator = random.Random(seed)
    index = write_sample(
        folder,
        [
            SamplePage("a.md", "# Apple\n\nA fruit.\n\n## NEAR and OR\n\nNOT a keyword AND no syntax.\n"),
            SamplePage("b.md", "# 数据\n\n数据库 ก ひらがな ß İ\n", topics=("fruit",)),
        ],
    )
    counts = Counts()
    with closing(open_database(str(index.db))) as database:
        for number in range(1, questions + 1):
            question = make_question(generator)
            began = time.perf_counter()
            try:
                found = search(database, SearchRequest(query=question, sections=generator.random() < 0.3))
                json_form(found)
                counts.answers["found" if found.hits else "nothing found"] += 1
            except WikiqError as error:
                counts.answers[type(error).__name__] += 1
            except Exception:
                print(f"question {number} of seed {seed}: {question!r}", flush=True)
                raise
            took = time.perf_counter() - began
            counts.slowest_s = max(counts.slowest_s, took)
            if took > SLOW_S:
                counts.slow.append(question)
            if number % TOLD_EVERY == 0:
                print(f"{number} questions: {dict(counts.answers)}", flush=True)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="queries-") as folder:
        counts = run(Path(folder), questions=options.questions, seed=options.seed)
    for question in counts.slow[:10]:
        print(f"slow: {question!r}")
    print(
        f"{options.questions} questions: 0 exceptions, {dict(counts.answers)}, "
        f"{len(counts.slow)} slow, slowest {1000 * counts.slowest_s:.0f} ms"
    )
    return 1 if counts.slow else 0


if __name__ == "__main__":
    sys.exit(main())
