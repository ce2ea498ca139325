"""Questions made of anything: each is answered or refused in words, and none takes long.

`python -m tests.crash.queries [--index FILE] [--questions 10000] [--seed N]` asks an index, or a small one of
its own, with every option, and prints how many were answered and refused, and how the slowest compare
with the median. Nothing typed may reach SQLite as full-text syntax: that would be an exception.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.wikiq.asking import answer
from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.answers.search import search
from wikiq.errors import WikiqError
from wikiq.index.database import Database, open_database
from wikiq.model.request import LARGEST_LIMIT, Filters, SearchRequest
from wikiq.model.results import json_form

LONGEST: Final = 200  # characters of a question of any characters
COMMONEST: Final = 5000  # words of the index that questions are made of
TOLD_EVERY: Final = 10_000
SLOW_S: Final = 2.0  # processor time, on a small index; the usual question takes a millisecond
SLOW_MEDIANS: Final = 20  # on a wiki of thousands of pages; below that the median is next to nothing
LEAST_MEDIAN_S: Final = 0.01

# What FTS5 reads as syntax, what SQL does, and letters of scripts without blanks and of none.
PIECES: Final = (
    '"', "'", '""', "(", ")", "*", "^", "+", "-", ":", "{", "}", ",", ";", "--", "/*", "\\", "%", "_", "\x00",
    " AND ", " OR ", " NOT ", " NEAR ", "NEAR(", "title:", "heading:", "body:", "rowid:", "sections_fts:",
    " MATCH ", "SELECT ", "' OR 1=1 --", '"a fruit"', "-fruit", "数据", "データ", "검색", "ค้นหา", "ก",
    "हिन्दी", "ß", "İ", "Ａ", "\u0301", "\u200d", "\u202e", "\U0001f980", "\ufeff", "\ud7ff", "\ud800",
    "\n", "\t", " ",
)  # fmt: skip
SAMPLE: Final = (
    SamplePage("a.md", "# Apple\n\nA fruit.\n\n## NEAR and OR\n\nNOT a keyword AND no syntax.\n"),
    SamplePage("b.md", "# 数据\n\n数据库 ก ひらがな ß İ\n", topics=("fruit",)),
)


@dataclass(slots=True)
class Counts:
    """Questions by what came of them, and the processor time of each."""

    answers: Counter[str] = field(default_factory=Counter)
    times: list[tuple[float, str]] = field(default_factory=list)

    def median_s(self) -> float:
        """What half of the questions stay below."""
        return statistics.median(seconds for seconds, _ in self.times)

    def slow(self) -> list[tuple[float, str]]:
        """The questions that took too long, slowest first."""
        median = self.median_s()
        limit = SLOW_MEDIANS * median if median >= LEAST_MEDIAN_S else SLOW_S
        return sorted((one for one in self.times if one[0] > limit), reverse=True)


def make_question(generator: random.Random, words: Sequence[str]) -> str:
    """Words of the index, syntax, any characters, or all of them."""

    def of_any_characters() -> str:
        return "".join(chr(_any_code(generator)) for _ in range(generator.randrange(LONGEST)))

    def of_syntax() -> str:
        return "".join(_piece(generator, words) for _ in range(generator.randrange(1, 40)))

    def of_words() -> str:
        return " ".join(generator.choices(words, k=generator.choice((1, 2, 3, 5, 8, 13, 80))))

    def of_a_part_repeated() -> str:
        part = generator.choice((_piece(generator, words), chr(_any_code(generator))))
        return part * generator.randrange(1, 30) + of_syntax()

    def of_all() -> str:
        makers = (of_words, of_syntax, of_any_characters)
        return generator.choice(("", " ")).join(generator.choice(makers)() for _ in range(3))

    made: Callable[[], str] = generator.choice(
        (of_words, of_words, of_syntax, of_any_characters, of_a_part_repeated, of_all)
    )
    return made()


def make_request(generator: random.Random, words: Sequence[str]) -> SearchRequest:
    """A question with random options."""

    def sometimes(chance: float) -> bool:
        return generator.random() < chance

    return SearchRequest(
        query=make_question(generator, words),
        filters=Filters(
            paths=("**/about*",) if sometimes(0.1) else (), since="2000" if sometimes(0.1) else None
        ),
        limit=generator.choice((1, 20, LARGEST_LIMIT)) if sometimes(0.2) else 20,
        sections=sometimes(0.2),
        exact=sometimes(0.2),
        prefix=sometimes(0.2),
        explain=sometimes(0.05),
    )


def _piece(generator: random.Random, words: Sequence[str]) -> str:
    return generator.choice(PIECES if generator.random() < 0.7 else words)


def _any_code(generator: random.Random) -> int:
    """Of any plane, the halves of pairs included: an argument that is no text decodes to such."""
    return generator.randrange(generator.choice([0x80, 0x800, 0x10000, 0x110000]))


def run(database: Database, *, questions: int, seed: int) -> Counts:
    """Ask them all; an exception that is no answer ends it, with the question that raised it."""
    generator = random.Random(seed)
    with database.snapshot() as snapshot:
        rows = snapshot.rows("SELECT term FROM terms ORDER BY doc DESC, term LIMIT ?", (COMMONEST,))
    words = [term for (term,) in rows]
    counts = Counts()
    for number in range(1, questions + 1):
        request = make_request(generator, words)
        began = time.process_time()
        try:
            found = answer(database, search, request)
            json_form(found)
            counts.answers["found" if found.hits else "nothing found"] += 1
        except WikiqError as error:
            counts.answers[type(error).__name__] += 1
        except Exception:
            print(f"question {number} of seed {seed}: {request!r}", flush=True)
            raise
        counts.times.append((time.process_time() - began, request.query))
        if number % TOLD_EVERY == 0:
            print(f"{number} questions: {dict(counts.answers)}", flush=True)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("queries", __doc__, questions=10_000)
    command.parser.add_argument("--index", type=Path, help="an index file; a small one is made without it")
    options = command.parse(arguments)
    with command.working(options) as folder:
        index = options.index or write_sample(folder, SAMPLE).db
        with closing(open_database(str(index))) as database:
            counts = run(database, questions=options.questions, seed=options.seed)
    median = counts.median_s()
    return command.conclude(
        options,
        [f"{1000 * seconds:.0f} ms: {question!r}" for seconds, question in counts.slow()],
        questions=options.questions,
        answers=dict(counts.answers),
        median_ms=round(1000 * median, 1),
        slowest_medians=round(max(counts.times)[0] / median, 1),
    )


if __name__ == "__main__":
    sys.exit(main())
