"""Bytes that flip on the disk, in the index or its log: one line for a reader, the right rows after a build.

`python -m tests.crash.flips [--flips 1000] [--seed N] [--first N]`: short with `--flips 60`. Any error
of another kind ends up in the faults, and so do rows that are wrong and that `verify` does not tell of.
"""

from __future__ import annotations

import dataclasses
import random
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from indexerd.errors import DamagedIndexError, IndexerdError
from tests.building import REPOSITORY
from tests.crash.command import Command
from tests.store.wiki import Rows, bring, build, open_store, rows_of
from tests.wikiq.asking import answer
from wikiq.answers.changes import changes
from wikiq.answers.pages import page, topics
from wikiq.answers.search import search
from wikiq.answers.status import status
from wikiq.errors import WikiqError
from wikiq.index.database import Snapshot, open_database
from wikiq.model.request import SearchRequest
from wikiq.model.results import json_form

COMMANDS_EVERY: Final = 20  # cases; the rest is asked without a process of its own
BYTES: Final = (1, 1, 4, 50)  # flipped in one case
WIKI: Final = {
    f"{nth}.md": f"# Page {nth}\n\n[x]({nth + 1}.md) {'words ' * 40}\n\n## 日本語\n\ntext\n"
    for nth in range(20)
}
QUESTIONS: Final[tuple[Callable[[Snapshot], Any], ...]] = (
    lambda snapshot: search(snapshot, SearchRequest(query="page words")),
    lambda snapshot: search(snapshot, SearchRequest(query="日本語", sections=True)),
    lambda snapshot: page(snapshot, "3"),
    lambda snapshot: changes(snapshot, 0),
    topics,
    status,
)
KILLED: Final = """
import os, signal, sys
from pathlib import Path
from tests.crash.flips import WIKI
from tests.store.wiki import bring, open_store
store = open_store(Path(sys.argv[1]))
bring(store, {path: text.replace("words", "other") for path, text in WIKI.items()})
store.checkpoint()
bring(store, WIKI)
os.kill(os.getpid(), signal.SIGKILL)
"""


@dataclass(slots=True)
class Counts:
    """`unharmed`: equal at once; `healed`: found, moved aside, made anew; `told`: found by verify alone."""

    flips: int = 0
    answers: int = 0
    refusals: int = 0
    unharmed: int = 0
    healed: int = 0
    told: int = 0
    commands: int = 0
    faults: list[str] = field(default_factory=list)


def make_victims(folder: Path) -> list[Path]:
    """An index whose writer closed it, and one whose writer was killed, with rows in the log."""
    build(folder / "closed", WIKI)
    words = [sys.executable, "-c", KILLED, str(folder / "killed")]
    subprocess.run(words, cwd=REPOSITORY, check=False)
    for left in folder.glob("*/index.db-shm"):
        left.unlink()
    return [folder / "closed", folder / "killed"]


def harm(folder: Path, chance: random.Random) -> None:
    """Flips some bytes of the index or of its log."""
    files = [path for path in (folder / "index.db", folder / "index.db-wal") if path.stat().st_size]
    file = chance.choice(files)
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice(BYTES)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def ask(path: Path, counts: Counts) -> Iterator[str]:
    """What a reader would have seen that is no answer and no line."""
    for number, question in enumerate(QUESTIONS):
        try:
            database = open_database(str(path), patience_s=0.0)
            try:
                json_form(answer(database, question))
                counts.answers += 1
            finally:
                database.close()
        except WikiqError as error:
            counts.refusals += 1
            if "\n" in str(error):
                yield f"more than a line: {error}"
        except Exception:  # noqa: BLE001 - whatever else it is, it is a fault
            yield f"question {number}: {traceback.format_exc(limit=-2)}"


def write(folder: Path, counts: Counts, wanted: Rows) -> Iterator[str]:
    """What a writer that goes on with this index makes of it."""
    try:
        anew = _brought(folder)
    except DamagedIndexError:
        with open_store(folder, anew=True) as store:
            bring(store, WIKI)
        anew = True
    try:
        rows = rows_of(folder)
    except IndexerdError as error:
        rows = {"": [(str(error),)]}  # verify would say so
    if rows == wanted:
        counts.healed += anew
        counts.unharmed += not anew
    elif anew:
        yield "rows differ after it was made anew"
    else:
        counts.told += 1


def _brought(folder: Path) -> bool:
    """Whether it had to be made anew."""
    with open_store(folder) as store:
        problems = store.check_integrity() if store.was_unclean else ()
        if problems:
            raise DamagedIndexError(str(folder), problems[0], "")
        bring(store, WIKI)
        return store.moved_aside is not None


def command(folder: Path, wiki: Path, counts: Counts) -> Iterator[str]:
    """The same by the commands that people type."""
    scripts = Path(sys.executable).parent
    db = ("--db", str(folder / "index.db"))
    for words, fine in (
        (("wikiq", *db, "search", "page"), {0, 1, 2}),
        (("indexerd", "build", str(wiki), *db), {0, 74}),
        (("indexerd", "build", str(wiki), *db), {0}),
        (("indexerd", "verify", str(wiki), *db), {0, 1}),
    ):
        name, *rest = words
        done = subprocess.run([str(scripts / name), *rest], capture_output=True, text=True, check=False)
        counts.commands += 1
        if done.returncode not in fine or "Traceback" in done.stderr:
            yield f"{' '.join(words[:2])}: exit {done.returncode}: {done.stderr[-600:]}"


def run(folder: Path, *, flips: int, seed: int, first: int = 0) -> Counts:
    """Each case can be played alone: its number seeds it."""
    counts = Counts()
    victims = make_victims(folder)
    wanted = rows_of(victims[0])
    wiki = folder / "wiki"
    wiki.mkdir()
    for path, text in WIKI.items():
        (wiki / path).write_text(text)
    for number in range(first, first + flips):
        chance = random.Random(f"{seed}/{number}")
        case = folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        shutil.copytree(victims[number % 2], case)
        harm(case, chance)
        found = [*ask(case / "index.db", counts)]
        try:
            if number % COMMANDS_EVERY == 0:
                found += command(case, wiki, counts)
            else:
                found += write(case, counts, wanted)
        except Exception:  # noqa: BLE001 - whatever it is, it is a fault
            found.append(traceback.format_exc(limit=-3))
        counts.faults += [f"{seed}/{number}: {fault}" for fault in found]
        counts.flips += 1
        if counts.flips % 100 == 0:
            print(f"{counts.flips} cases, {len(counts.faults)} faults", flush=True)
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("flips", __doc__, flips=1000, first=0)
    options = command.parse(arguments)
    how = {"flips": options.flips, "first": options.first}
    return command.play(options, lambda folder: dataclasses.asdict(run(folder, **how, seed=options.seed)))


if __name__ == "__main__":
    sys.exit(main())
