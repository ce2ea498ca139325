"""Asks an index thousands of random questions: any text, operators, controls, every option.

`python -m tests.eval.random_questions INDEX` prints how many were answered and refused, the exceptions,
and how the slowest compare with the median. Nothing typed may reach SQLite as full-text syntax: that
would be an exception.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from random import Random

from wikiq.database import Database, open_database
from wikiq.errors import UsageError
from wikiq.request import LARGEST_LIMIT, Filters, SearchRequest
from wikiq.search import search

SYNTAX = (
    '"',
    "'",
    "*",
    "^",
    "(",
    ")",
    "{",
    "}",
    ":",
    "-",
    "+",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "title:",
    "heading:",
)
ALPHABETS = (
    "abcdefgh",
    "éßøñİı",
    "абвгд",
    "αβγς",
    "हिन्दी",
    "数据库索引",
    "検索エンジン",
    "검색엔진",
    "ค้นหา",
    "ＡＢＣ",
    "🦀👩‍💻",
    "\x00\x1b\u202e\u2066\ufeff\ud800",
)


def random_question(random: Random, words: Sequence[str]) -> str:
    """A question of words of the wiki, invented words, syntax, or all of them mixed."""
    parts = []
    for _ in range(random.choice((1, 2, 3, 5, 8, 13, 80))):
        kind = random.random()
        if kind < 0.55:
            parts.append(random.choice(words))
        elif kind < 0.75:
            parts.append("".join(random.choices(random.choice(ALPHABETS), k=random.choice((1, 2, 5, 30)))))
        elif kind < 0.95:
            parts.append(random.choice(SYNTAX) + random.choice((*words[:50], "")))
        else:
            parts.append("".join(chr(random.randrange(0x110000)) for _ in range(random.randrange(1, 9))))
    return random.choice((" ", " ", " ", "")).join(parts)


def random_request(random: Random, words: Sequence[str]) -> SearchRequest:
    """A question with random options."""
    filters = Filters(
        paths=("**/about*",) if random.random() < 0.1 else (), since="2000" if random.random() < 0.1 else None
    )
    return SearchRequest(
        query=random_question(random, words),
        filters=filters,
        limit=random.choice((1, 20, LARGEST_LIMIT)) if random.random() < 0.2 else 20,
        sections=random.random() < 0.2,
        exact=random.random() < 0.2,
        prefix=random.random() < 0.2,
        explain=random.random() < 0.05,
    )


def ask(database: Database, request: SearchRequest) -> str:
    """Ask one question; tells what came of it."""
    try:
        result = search(database, request)
    except UsageError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is counted
        return f"{type(error).__name__}: {error!s:.80} for {request.query!r:.80}"
    return "answered" if result.hits else "nothing found"


def main() -> int:
    """Ask, and print what came of it; status 1 when a question raised an exception."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.random_questions", description=__doc__)
    parser.add_argument("index")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random = Random(options.seed)
    database = open_database(options.index)
    with database.snapshot() as snapshot:
        words = [row[0] for row in snapshot.rows("SELECT term FROM terms ORDER BY doc DESC LIMIT 5000")]
    outcomes: Counter[str] = Counter()
    times: list[tuple[float, str]] = []
    for _ in range(options.count):
        request = random_request(random, words)
        started = time.process_time()
        outcomes[ask(database, request)] += 1
        times.append((time.process_time() - started, request.query))
    median = statistics.median(seconds for seconds, _ in times)
    slowest = sorted(times, reverse=True)[:3]
    print(*(f"{count} {outcome}" for outcome, count in outcomes.most_common()), sep="\n")
    print(f"median {median * 1000:.1f} ms; the slowest took these times that:")
    print(*(f"{seconds / median:.1f} {query!r:.100}" for seconds, query in slowest), sep="\n")
    return int(any(": " in outcome for outcome in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
