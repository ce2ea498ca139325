"""Pages that come, go, move and share names: links mean what an index made from nothing says.

`python -m tests.crash.moves [--operations 10000]`: compared after every twentieth operation.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from indexerd.store import Store
from tests.crash.command import Command
from tests.store.wiki import bring, open_store

COMPARED_EVERY: Final = 20
FOLDERS: Final = ("", "a/", "a/b/", "a/c/", "z/", "z/b/", "long name/b/")
FILES: Final = (
    "Plan.md",
    "plan.md",
    "b.md",
    "README.md",
    "index.md",
    "my page.md",
    "my-page.md",
    "a___b.md",
    "C#.md",
)
TARGETS: Final = (
    "[[Plan]]", "[[plan.md]]", "[[b/Plan]]", "[[b]]", "[[./b]]", "[[/b]]", "[[my_page]]", "[[a/b]]", "[[C#]]",
    "[[Nick|Plan]]", "[[Nick]]", "[[b/README]]", "[x](b)", "[x](b/)", "[x](../Plan.md)", "[x](b/Plan.md)",
    "[x](/b/plan/)", "[x](plan.html)", "[x](README.md)", "[x](/old/)", "[x](my%20page.md)", "[x](/)",
)  # fmt: skip
FRONTS: Final = (
    "", "", "---\naliases: [Nick, b]\n---\n", "---\ntitle: Nick\n---\n", "---\npermalink: /old/\n---\n",
)  # fmt: skip
MEANT: Final = """SELECT slug, target, label, target_slug, how, ambiguous, fragment FROM v1_links
    ORDER BY slug, target, label, line"""
LEFT_KEYS: Final = "SELECT count(*) FROM target_key WHERE target_id NOT IN (SELECT target_id FROM target)"


def change(wiki: dict[str, str], chance: random.Random) -> None:
    """A page of a name that others bear comes, goes, moves or is edited."""
    path = chance.choice(FOLDERS) + chance.choice(FILES)
    text = wiki.pop(chance.choice(sorted(wiki))) if wiki and chance.random() < 0.6 else None
    if text is None or chance.random() < 0.5:
        text = chance.choice(FRONTS) + " ".join(chance.sample(TARGETS, 3))
    if chance.random() < 0.8:
        wiki[path] = text


def select(store: Store, statement: str) -> list[tuple[Any, ...]]:
    """All rows."""
    return store._connection.execute(statement).fetchall()


def differences(folder: Path, operations: int, seed: int) -> Iterator[str]:
    """What an index that followed the operations says otherwise than one made from nothing."""
    chance = random.Random(seed)
    wiki: dict[str, str] = {}
    with open_store(folder / "followed") as store:
        for number in range(1, operations + 1):
            change(wiki, chance)
            bring(store, wiki)
            if number % COMPARED_EVERY == 0:
                with open_store(folder / str(number)) as fresh:
                    bring(fresh, wiki)
                    if select(store, MEANT) != select(fresh, MEANT):
                        yield f"after {number} operations: {wiki}"
        if (left := select(store, LEFT_KEYS)) != [(0,)]:
            yield f"{left} keys of targets that are gone"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("moves", __doc__, operations=10_000)
    options = command.parse(arguments)

    def play(folder: Path) -> dict[str, object]:
        found = list(differences(folder, options.operations, options.seed))
        return {"faults": found, "operations": options.operations}

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
