"""`python -m tests.wikiq.mcp.random_calls [--calls 10000] [--db INDEX]`: no answer exceeds its budget.

Calls of all tools with random arguments, sensible and not, in both forms, on a small wiki made to be awkward
or on a given index. Prints each answer that is larger than was asked for, and how many calls there were.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.answers.pages import topics
from wikiq.index.database import Snapshot, open_database
from wikiq.mcp import documents, texts
from wikiq.mcp.budget import LONGEST_ERROR, compact, count_tokens
from wikiq.mcp.calls import Calls, ToolAnswer
from wikiq.mcp.tools import TOOLS, BadArgumentsError, check_arguments
from wikiq.model.request import Source

LONG: Final = "a line that is longer than every budget is sent in part and never in whole. " * 2_000
WIDE: Final = '\u65e5\u672c\u8a9e \U0001f600 \u202e \x1b[31m \U000e0041 \\" \t ' * 40
AWKWARD: Final = (
    SamplePage("long-line.md", f"# Long line\n\n{LONG}\n\n## After\n\nshort\n"),
    SamplePage("wide.md", f"# {WIDE[:90]}\n\n" + "\n\n".join([WIDE] * 30)),
    SamplePage(
        "many.md", "# Many\n" + "".join(f"\n## Heading {n}\n\n[[wide]] line {n}\n" for n in range(400))
    ),
    SamplePage(
        "nested.md", "".join(f"{'#' * (n % 6 + 1)} Level {n} {'x' * 200}\n\ntext\n" for n in range(60))
    ),
    SamplePage("one.md", "one\n"),
    SamplePage("empty.md", ""),
    SamplePage(f"{'deep/' * 40}page.md", "# Deep\n\nword line\n"),
    *(
        SamplePage(f"many/{n}.md", f"# Page {n}\n\nline {n} links to [[many]] and [[wide]]\n")
        for n in range(120)
    ),
)
PAGES_READ: Final = (1, 1, 1, 2, 3, 7, 40)  # in one call
DEEPEST_PATHS: Final = 20  # half of the pages asked for are of these
WORDS: Final = (
    "line",
    "word",
    "heading",
    "page",
    "\u65e5\u672c",
    "longer than every",
    '"budget is"',
    "-",
    "x" * 300,
)


@dataclass(frozen=True, slots=True)
class Excess:
    """An answer that is larger than was asked for."""

    tool: str
    arguments: dict[str, Any]
    tokens: int
    most: int


class RandomCalls:
    """Makes arguments up from a wiki's own paths, folders and topics, and from words."""

    def __init__(self, seed: int, snapshot: Snapshot) -> None:
        self._random = random.Random(seed)
        self._paths = [str(row[0]) for row in snapshot.rows("SELECT path FROM page ORDER BY path")]
        self._deep = sorted(self._paths, key=lambda path: -path.count("/"))[:DEEPEST_PATHS]
        self._folders = sorted({path.rpartition("/")[0] for path in self._paths} - {""}) or ["nowhere"]
        self._topics = [row.topic for row in topics(snapshot)] or ["nowhere"]

    def call(self) -> tuple[str, dict[str, Any]]:
        """A tool and its arguments."""
        name = self._random.choice(tuple(TOOLS))
        pages = PAGES_READ if name == "read" else (1,)
        arguments = {
            key: self._value(key, pages) for key in TOOLS[name].arguments if self._random.random() < 0.6
        }
        for key, argument in TOOLS[name].arguments.items():
            if argument.required and self._random.random() < 0.97:
                arguments[key] = self._value(key, pages)
        return name, arguments

    def _value(self, key: str, pages: Sequence[int] = (1,)) -> Any:
        pick = self._random.choice
        values: dict[str, Callable[[], Any]] = {
            "query": lambda: " ".join(self._random.choices(WORDS, k=self._random.randint(1, 5))),
            "page": lambda: "\n".join(self._page() for _ in range(pick(pages))),
            "max_tokens": lambda: pick(
                (100, 101, 130, 257, 1000, "1500", 20_000, 10**9, self._random.randint(100, 3000))
            ),
            "limit": lambda: pick((1, 3, 8, 50, "5", 900)),
            "path": lambda: pick((f"{pick(self._folders)}/**", pick(self._paths), "*", "[", "nowhere/**")),
            "topic": lambda: pick((None, pick(self._topics), pick(self._topics), "nowhere")),
            "since": lambda: pick((None, "7d", "2020-01-01", "whenever")),
            "kind": lambda: pick(("pages", "topics", "changes", "problems", "songs")),
            "generation": lambda: pick((0, 1, 10**12)),
            "sections": lambda: pick((True, False, "yes")),
            "fresh": lambda: False,  # waits for a daemon; costs no tokens
        }
        return values[key]()

    def _page(self) -> str:
        path = self._random.choice(self._random.choice((self._paths, self._deep)))
        line = self._random.choice((1, 1, 1, 2, 3))
        if self._random.random() < 0.01:
            return "no-such-page"
        return self._random.choice((path, f"{path}:{line}", f"{path}:{line}-{line + 40}", path[:-3]))


def excess(answer: ToolAnswer, name: str, arguments: dict[str, Any]) -> Excess | None:
    """Hold an answer against its budget."""
    try:
        taken = check_arguments(TOOLS[name], arguments)
    except BadArgumentsError:
        taken = {}
    if answer.is_error:
        most = -(-LONGEST_ERROR // 3)
    else:
        most = taken.get("max_tokens", 1500)
        assert answer.document is None or json.loads(answer.text) == answer.document
        assert answer.document is None or compact(answer.document) == answer.text
    tokens = count_tokens(answer.text)
    return Excess(name, arguments, tokens, most) if tokens > most else None


def find_excesses(db: Path, count: int, seed: int = 1) -> Iterator[Excess]:
    """Make `count` calls, half of them in either form; gives the answers that are too large."""
    with closing(open_database(str(db))) as database, database.snapshot() as snapshot:
        made = RandomCalls(seed, snapshot)
    forms = [Calls(Source(db=str(db)), {}, "/", form) for form in (texts, documents)]
    try:
        for number in range(count):
            name, arguments = made.call()
            found = excess(forms[number % 2].call(TOOLS[name], arguments), name, arguments)
            if found is not None:
                yield found
    finally:
        for calls in forms:
            calls.close()


def main(words: list[str]) -> int:
    """Gives 1 when an answer was too large."""
    parser = argparse.ArgumentParser(prog="python -m tests.wikiq.mcp.random_calls")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="random-calls-") as work:
        db = chosen.db or write_sample(Path(work), AWKWARD).db
        found = list(find_excesses(db, chosen.calls, chosen.seed))
    for one in found[:20]:
        print(f"{one.tool} {json.dumps(one.arguments)[:300]}: {one.tokens} tokens, {one.most} asked for")
    print(f"{chosen.calls} calls, {len(found)} answers over their budget")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
