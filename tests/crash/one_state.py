"""Answers beside a writer: what one answer holds is all of the commit whose generation it tells.

`python -m tests.crash.one_state [--answers 2000] [--rate 2]` commits `rate` times a second (0: on and on).
Every page of every commit names its edition, so an answer that mixes states shows two of them, or one that
is not that of its generation.
"""

from __future__ import annotations

import io
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

from indexerd.store import Store
from tests.crash.command import Command
from tests.store.wiki import NOON, plan_for
from wikiq.main import run as run_wikiq
from wikiq.output.context import Surroundings
from wikiq.output.terminal import open_screen

PATIENCE_S: Final = 30.0  # for the first commit
EDITION: Final = re.compile(r"edition(\d+)x")
GENERATION_BESIDE_TITLES: Final = (
    "SELECT m.value AS generation, p.title FROM v1_pages p, meta m WHERE m.key = 'generation'"
)
# Every command that tells a generation, and `sql`, which can ask for it.
QUESTIONS: Final = (
    ("search", "restore", "--json"),
    ("search", "restore", "--sections", "--json"),
    ("pages", "--json"),
    ("show", "a", "--json"),
    ("outline", "a", "--json"),
    ("expand", "a#part", "--json"),
    ("links", "a", "--json"),
    ("backlinks", "b", "--json"),
    ("topics", "--json"),
    ("check", "--json"),
    ("changes", "--since", "1", "--json"),
    ("chunks", "--since", "0"),
    ("status", "--json"),
    ("sql", GENERATION_BESIDE_TITLES, "--json"),
)


def wiki_of(edition: int) -> dict[str, str]:
    """The pages of one edition. Their number tells it too, for `status`, which shows no text."""
    mark = f"edition{edition}x"
    pages = {
        f"{name}.md": (
            f"---\ntopics: [{mark}]\n---\n# Page {name} {mark}\n\nrestore {mark} [{mark}]({other}.md) "
            f"[gone](gone-{mark}.md)\n\n## Part\n\nrestore the part {mark}\n"
        )
        for name, other in (("a", "b"), ("b", "a"))
    }
    return pages | {f"{mark}.md": f"# {mark}\n\n[a](a.md)\n"} | filler(edition)


def filler(edition: int) -> dict[str, str]:
    """As many pages as the edition says, modulo 10."""
    return {f"more/{nth}.md": f"# More {nth}\n\n[a](../a.md)\n" for nth in range(edition % 10)}


def commit_editions(db: Path, root: Path, pause_s: float, first: Event, stop: Event) -> None:
    """Commit one edition after the other until `stop`; edition n is generation n."""
    with Store.open(db, root=str(root), name="wiki") as store:
        while True:
            edition = store.generation + 1
            store.apply(plan_for(store, wiki_of(edition)), committed_at=NOON)
            first.set()
            if stop.wait(pause_s):
                return


@contextmanager
def committing(db: Path, root: Path, rate: float) -> Iterator[None]:
    """Commit editions while the block runs.

    In a process of its own: the writer's SQLite and Python's share no locks within one.
    """
    spawn = get_context("spawn")
    first, stop = spawn.Event(), spawn.Event()
    writer = spawn.Process(target=commit_editions, args=(db, root, 1 / rate if rate else 0.0, first, stop))
    writer.start()
    try:
        if not first.wait(PATIENCE_S):
            raise AssertionError("the writer does not commit")
        yield
    finally:
        stop.set()
        writer.join()


def ask(db: Path, root: Path, words: Sequence[str]) -> str:
    """What one command prints."""
    out, err = io.StringIO(), io.StringIO()
    environ = {"WIKIQ_DB": str(db)}
    surroundings = Surroundings(
        environ=environ, folder=str(root), out=open_screen(out, environ), err=open_screen(err, environ)
    )
    run_wikiq(words, surroundings)
    if not out.getvalue():
        raise AssertionError(f"{words}: {err.getvalue()}")
    return out.getvalue()


def mixed(words: Sequence[str], printed: str) -> str | None:
    """Say how an answer mixes states; None where all of it is of the generation that it tells."""
    told = generation_of(json.loads(printed.splitlines()[0]))
    found = {int(edition) for edition in EDITION.findall(printed)}
    if words[0] == "status":
        found = {told} if json.loads(printed)["pages"] == 3 + told % 10 else {-1}
    newest = {max(found)} if words[0] == "changes" else found  # earlier ones are what it tells of
    return None if newest == {told} else f"{' '.join(words)}: generation {told}, editions {sorted(found)}"


def generation_of(answer: dict[str, Any]) -> int:
    """The generation that an answer tells; of a page shown, that of the index."""
    if "rows" in answer:
        (told,) = {int(row["generation"]) for row in answer["rows"]}
        return told
    return int(answer.get("index", answer)["generation"])


def play(folder: Path, *, answers: int, rate: float, seed: int) -> dict[str, Any]:
    """Ask all of them in turn."""
    root = folder / "wiki"
    root.mkdir(parents=True)
    db = folder / "state" / "index.db"
    db.parent.mkdir()
    chance, asked, faults = random.Random(seed), Counter[str](), []
    with committing(db, root, rate):
        for nth in range(answers):
            words = QUESTIONS[nth % len(QUESTIONS)]
            time.sleep(chance.random() * 0.01)  # so that commits fall on every statement
            fault = mixed(words, ask(db, root, words))
            faults += [fault] if fault else []
            asked[words[0]] += 1
        commits = generation_of(json.loads(ask(db, root, ("status", "--json"))))
    return {"faults": faults, "answers": answers, "commits": commits, "asked": dict(asked)}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("one_state", __doc__, answers=2000, rate=2.0)
    options = command.parse(arguments)
    return command.play(
        options, lambda folder: play(folder, answers=options.answers, rate=options.rate, seed=options.seed)
    )


if __name__ == "__main__":
    sys.exit(main())
