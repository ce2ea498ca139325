"""Random file operations with restarts in between: after each restart the index is what the tree says.

`python -m tests.crash.operations --operations 10000 --restart-every 200 [--scan-interval 600] [--seed N]`
prints one line a restart; the first difference ends it with the seed that repeats it.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import statistics
import sys
import time
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Final

from tests.crash.command import Command
from tests.crash.process import LiveDaemon

EQUAL_S: Final = 10.0  # of quiet, after which everything must be in the index
FOLDERS: Final = 12
MOST_COPIED: Final = 200  # entries of a folder, so that the tree does not double with every copy
BY_SCANS_ALONE: Final = frozenset({"link"})  # an edit through one name is no event of the other
WORDS: Final = ("index", "section", "heading", "topic", "slug", "daemon", "scan", "batch", "reader", "page",
    "全文検索", "日本語の索引", "ภาษาไทย", "café", "ＡＢＣ",
)  # fmt: skip
EXTENSIONS: Final = (".md", ".md", ".md", ".markdown", ".MD", ".txt")


class Mischief:
    """Operations on one tree, from one random generator. Never leaves the tree. `without`: by name."""

    def __init__(self, root: Path, generator: random.Random, *, without: Container[str] = ()) -> None:
        self._root = root
        self._random = generator
        operations: tuple[Callable[[], None], ...] = (
            self.create,
            self.create,
            self.create,
            self.edit,
            self.edit,
            self.replace,
            self.append,
            self.truncate,
            self.rename,
            self.swap,
            self.copy_folder,
            self.move_folder,
            self.delete,
            self.delete_folder,
            self.link,
            self.symlink,
            self.chmod,
            self.touch,
            self.hide,
            self.edit_unseen,
            self.rename_over,
            self.declare_topics,
        )
        self._operations = [each for each in operations if each.__name__ not in without]

    def one(self) -> None:
        """One operation; what is not possible at this moment is nothing."""
        with contextlib.suppress(FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError):
            self._random.choice(self._operations)()

    def create(self) -> None:
        folder = self._folder()
        folder.mkdir(parents=True, exist_ok=True)
        self._new_file(folder).write_text(self._text())

    def edit(self) -> None:
        self._file().write_text(self._text())

    def replace(self) -> None:
        target = self._file()
        temporary = target.with_name(f".{target.name}.tmp")
        temporary.write_text(self._text())
        temporary.replace(target)

    def append(self) -> None:
        with self._file().open("a") as file:
            file.write(self._text())

    def truncate(self) -> None:
        target = self._file()
        os.truncate(target, self._random.choice([0, target.stat().st_size // 2]))

    def rename(self) -> None:
        source = self._file()
        source.rename(self._new_file(source.parent))

    def swap(self) -> None:
        one, other = self._file(), self._file()
        spare = one.with_name(".spare")
        one.rename(spare)
        with contextlib.suppress(FileNotFoundError):
            other.rename(one)
        spare.rename(other)

    def copy_folder(self) -> None:
        source, target = self._existing_folder(), self._folder() / f"copy{self._random.randrange(4)}"
        if not target.is_relative_to(source) and sum(1 for _ in source.rglob("*")) < MOST_COPIED:
            shutil.copytree(source, target, symlinks=True)

    def move_folder(self) -> None:
        source = self._existing_folder()
        with contextlib.suppress(OSError, shutil.Error):
            source.rename(self._folder() / f"moved{self._random.randrange(4)}")

    def delete(self) -> None:
        self._file().unlink()

    def delete_folder(self) -> None:
        if self._random.random() < 0.3:
            shutil.rmtree(self._existing_folder())

    def link(self) -> None:
        source = self._file()
        source.with_name(f"hard{self._random.randrange(9)}.md").hardlink_to(source)

    def symlink(self) -> None:
        source = self._file()
        source.with_name(f"soft{self._random.randrange(9)}.md").symlink_to(
            self._random.choice(["..", source.name])
        )

    def chmod(self) -> None:
        self._file().chmod(self._random.choice([0o600, 0o644, 0o400, 0o000]))

    def touch(self) -> None:
        moment = self._random.choice([0, 1_000_000_000, 4_000_000_000])
        os.utime(self._file(), (moment, moment))

    def edit_unseen(self) -> None:
        """At the same size, with the time put back."""
        target = self._file()
        facts = target.stat()
        with target.open("r+b") as file:
            file.write(bytes(self._random.choice(b"abc") for _ in range(min(3, facts.st_size))))
        os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    def rename_over(self) -> None:
        source, target = self._file(), self._file()
        source.replace(target)

    def declare_topics(self) -> None:
        word, other = self._random.sample(WORDS, 2)
        text = f"- {{slug: {word}, title: {other}, parents: [{other}/{word}]}}\n"
        (self._root / "topics.yaml").write_text(self._random.choice([text, "", "- [\n"]))

    def hide(self) -> None:
        folder = self._root / ".hidden"
        folder.mkdir(exist_ok=True)
        (folder / f"{self._random.randrange(9)}.md").write_text(self._text())

    def _text(self) -> str:
        lines = [f"# {self._random.choice(WORDS)} {self._random.randrange(100)}", ""]
        if self._random.random() < 0.3:
            topics = ", ".join(self._random.sample(WORDS, 2))
            lines = ["---", f"topics: [{topics}]", f"alias: {self._random.choice(WORDS)}", "---", *lines]
        for _ in range(self._random.randrange(1, 12)):
            words = " ".join(self._random.choice(WORDS) for _ in range(self._random.randrange(1, 12)))
            lines.append(
                self._random.choice([words, f"## {words}", f"[[{words}]]", f"- {words}", f"#{words}"])
            )
            lines.append(f"[a](d{self._random.randrange(FOLDERS)}/page{self._random.randrange(30)}.md#x)")
        return "\n".join(lines) + "\n"

    def _folder(self) -> Path:
        parts = [f"d{self._random.randrange(FOLDERS)}" for _ in range(self._random.randrange(4))]
        return self._root.joinpath(*parts)

    def _existing_folder(self) -> Path:
        folders = sorted(path for path in self._root.rglob("*") if path.is_dir() and not path.is_symlink())
        if not folders:
            raise FileNotFoundError
        return self._random.choice(folders)

    def _file(self) -> Path:
        files = sorted(path for path in self._root.rglob("*") if path.is_file() and not path.is_symlink())
        if not files:
            raise FileNotFoundError
        return self._random.choice(files)

    def _new_file(self, folder: Path) -> Path:
        stem = self._random.choice(["README", "index", *(f"page{nth}" for nth in range(30))])
        return folder / f"{stem}{self._random.choice(EXTENSIONS)}"


def run(folder: Path, *, operations: int, restart_every: int, scan_interval: float, seed: int) -> list[float]:
    """Plays the operations; seconds to equal before each restart. Raises UnequalError.

    With a `scan_interval` of more seconds than that takes, what events should have told is not mended by a
    scan; what no event tells is left out then.
    """
    generator = random.Random(seed)
    root = folder / "wiki"
    root.mkdir(parents=True)
    mischief = Mischief(root, generator, without=BY_SCANS_ALONE if scan_interval else ())
    for _ in range(100):
        mischief.create()
    environ = {"INDEXERD_SCAN_INTERVAL": str(scan_interval)} if scan_interval else {}
    daemon = LiveDaemon(root, folder / "state" / "index.db", environ=environ)
    daemon.start()
    waits = []
    try:
        for number in range(1, operations + 1):
            mischief.one()
            if generator.random() < 0.2:
                time.sleep(generator.random() * 0.2)
            if restart_every and number % restart_every == 0:
                waits.append(daemon.wait_equal(EQUAL_S))
                _restart(daemon, mischief, generator)
                waits.append(daemon.wait_equal(EQUAL_S))
                daemon.verify()
                print(
                    f"{number} operations, {daemon.state()['last_scan']['pages_seen']} pages: equal",
                    flush=True,
                )
        waits.append(daemon.wait_equal(EQUAL_S))
    finally:
        daemon.stop()
    return waits


def _restart(daemon: LiveDaemon, mischief: Mischief, generator: random.Random) -> None:
    """Stopped or killed, at rest or in the middle of work, and started over a tree that moved on."""
    for _ in range(generator.randrange(20)):
        mischief.one()
    daemon.stop(generator.choice([signal.SIGTERM, signal.SIGKILL]))
    for _ in range(generator.randrange(20)):
        mischief.one()
    daemon.start()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    command = Command("operations", __doc__, operations=10_000, restart_every=200, scan_interval=0.0)
    options = command.parse(arguments)

    def play(folder: Path) -> dict[str, object]:
        waits = run(
            folder,
            operations=options.operations,
            restart_every=options.restart_every,
            scan_interval=options.scan_interval,
            seed=options.seed,
        )
        return {
            "faults": [],
            "operations": options.operations,
            "restarts": len(waits) // 2,
            "equal_median_s": round(statistics.median(waits), 2),
            "equal_worst_s": round(max(waits), 2),
        }

    return command.play(options, play)


if __name__ == "__main__":
    sys.exit(main())
