"""What git, sync tools, archives and people do to a tree, with kills and pauses, against another projection.

`python -m tests.crash.fuzz [--minutes 120] [--every 40]`: every so many steps the daemon is asked for
freshness; then the index must be what a projection of markdown-it alone makes of the tree, row by row.
Followers read all the while: none may see a torn view. Counts steps, differences and deaths.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from tests.crash.barrier import ask
from tests.crash.bulk import _IDENTITY
from tests.crash.command import Command
from tests.crash.kills import Counts as Looks
from tests.crash.kills import reading
from tests.crash.operations import Mischief
from tests.crash.process import LiveDaemon, UnequalError

FRESH_S: Final = 120.0  # on a busy machine; what counts is what is in the index then
MOST_PAUSE_S: Final = 2.0
READERS: Final = 2
IGNORED: Final = ("", "d1/\n", "page1*.md\n!page11.md\n", "[\n", "*a*a*a*b\n/d2/**/d3/\n")
SETTINGS: Final = (
    "",
    '[wiki]\nextensions = ["md"]\n',
    '[wiki]\nignore = ["page2.md"]\n',
    "[wiki]\nextension = 1\n",
    '[identity]\nnames = ["index"]\n',
)
PARTIAL: Final = (".~{}", ".syncthing.{}.tmp", "{}.part", ".{}.Xa3b9k", "~${}", "{}.swp")


class Turmoil:
    """Steps of other programs on a tree that is a git repository, and on the daemon that follows it."""

    def __init__(self, daemon: LiveDaemon, outside: Path, generator: random.Random) -> None:
        self._daemon = daemon
        self._root = daemon.root
        self._outside = outside
        self._random = generator
        self._mischief = Mischief(self._root, generator)
        self.done: Counter[str] = Counter()
        many, some = [self._mischief.one], [self.sync_in, self.sync_conflict, self.govern, self.set]
        git: list[Callable[[], None]] = [self.commit, self.branch, self.checkout, self.stash, self.discard]
        self._steps = [*many * 20, *some * 2, *git, self.pack_and_unpack, self.pause, self.kill, self.stop]

    def one(self) -> None:
        """One step; what is not possible at this moment is nothing."""
        step = self._random.choice(self._steps)
        self.done[step.__name__] += 1
        with contextlib.suppress(FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError):
            step()

    def sync_in(self) -> None:
        """As rsync and the like: under another name, with the time of the source, renamed into its place."""
        target = self._mischief._new_file(self._mischief._folder())
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(self._random.choice(PARTIAL).format(target.name))
        partial.write_text(self._mischief._text())
        moment = self._random.choice([1_000_000_000, 1_700_000_000, int(time.time())])
        os.utime(partial, (moment, moment))
        if self._random.random() < 0.9:
            partial.replace(target)

    def sync_conflict(self) -> None:
        source = self._mischief._file()
        name = f"{source.stem}.sync-conflict-20261201-010203-ABCDEFG{source.suffix}"
        source.with_name(name).write_text(self._mischief._text())

    def govern(self) -> None:
        folder = self._root if self._random.random() < 0.3 else self._mischief._existing_folder()
        (folder / self._random.choice([".gitignore", ".wikiignore"])).write_text(self._random.choice(IGNORED))

    def set(self) -> None:
        (self._root / ".wikiq.toml").write_text(self._random.choice(SETTINGS))

    def commit(self) -> None:
        self._git("add", "-A")
        self._git("commit", "-qm", "some")

    def branch(self) -> None:
        self._git("checkout", "-q", "-B", f"b{self._random.randrange(3)}")

    def checkout(self) -> None:
        self._git("checkout", "-q", "-f", f"b{self._random.randrange(3)}")

    def stash(self) -> None:
        self._git("stash", "-q", "-u")
        if self._random.random() < 0.8:
            self._git("stash", "pop", "-q")

    def discard(self) -> None:
        self._git("reset", "-q", "--hard")

    def pack_and_unpack(self) -> None:
        """With the times and modes of the archive, over what is there now."""
        source, archive = self._mischief._existing_folder(), self._outside / "some.tar"
        if ".git" not in source.relative_to(self._root).parts:
            self._run("tar", "-C", str(source), "-cf", str(archive), ".")
            self._run("tar", "-C", str(self._mischief._existing_folder()), "-xf", str(archive))

    def pause(self) -> None:
        """A machine that stands still for the daemon alone."""
        os.kill(self._daemon.pid, signal.SIGSTOP)
        until = time.monotonic() + self._random.random() * MOST_PAUSE_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                self._mischief.one()
            time.sleep(0.01)
        os.kill(self._daemon.pid, signal.SIGCONT)

    def kill(self) -> None:
        self._restart(signal.SIGKILL)

    def stop(self) -> None:
        self._restart(signal.SIGTERM)

    def _restart(self, number: int) -> None:
        self._daemon.stop(number)
        for _ in range(self._random.randrange(5)):
            self._mischief.one()
        self._daemon.start()

    def _git(self, *words: str) -> None:
        self._run("git", "-C", str(self._root), *_IDENTITY, *words)

    def _run(self, *words: str) -> None:
        """A command that may fail: two branches that do not fit are part of the turmoil."""
        subprocess.run(words, check=False, capture_output=True)


def compare(daemon: LiveDaemon) -> str | None:
    """What differs once the daemon says that it is fresh, None where nothing does.

    Where the wiki's settings are refused, a daemon that ran before goes on with those it had, and a fresh
    projection has none; so it is started anew first.
    """
    answer = ask(daemon.state()["control"], FRESH_S)
    told = [line for line in daemon.log.read_text().splitlines() if '"event": "settings.' in line]
    if told and "settings.refused" in told[-1]:
        daemon.stop()
        daemon.start()
        answer = ask(daemon.state()["control"], FRESH_S)
    if answer is None or not answer["fresh"]:
        return f"not fresh within {FRESH_S:.0f} s: {answer}"
    words = [sys.executable, "-m", "tests.crash.slow_verify", str(daemon.root), "--db", str(daemon.db)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr)[:2000] if done.returncode or done.stdout else None


def run(folder: Path, *, seconds: float, every: int, seed: int) -> dict[str, object]:
    """Plays it for so long; the counts."""
    generator = random.Random(seed)
    root, outside = folder / "wiki", folder / "outside"
    root.mkdir(parents=True)
    outside.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    daemon = LiveDaemon(root, folder / "state" / "index.db")
    turmoil = Turmoil(daemon, outside, generator)
    for _ in range(60):
        turmoil._mischief.create()
    faults, comparisons, looks = [], 0, Looks()
    until = time.monotonic() + seconds
    daemon.start()
    try:
        with reading(daemon.db, READERS, looks):
            while time.monotonic() < until or not comparisons:
                for _ in range(every):
                    turmoil.one()
                comparisons += 1
                if (difference := compare(daemon)) is not None:
                    faults.append(f"comparison {comparisons}: {difference}")
                    break
    except UnequalError as error:
        faults.append(str(error))
    finally:
        with contextlib.suppress(UnequalError):
            daemon.stop()
    steps = dict(sorted(turmoil.done.items()))
    return {
        "faults": [*faults, *looks.faults],
        "comparisons": comparisons,
        "looks": looks.looks,
        "steps": sum(steps.values()),
        "by_step": steps,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("fuzz", __doc__, minutes=120.0, every=40)
    options = command.parse(arguments)
    return command.play(
        options,
        lambda folder: run(folder, seconds=options.minutes * 60, every=options.every, seed=options.seed),
    )


if __name__ == "__main__":
    sys.exit(main())
