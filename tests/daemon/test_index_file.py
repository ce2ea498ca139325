"""Which file the daemon writes, and that a reader of another one is never told that it is fresh."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from tests.crash.process import LiveDaemon, wait_until

PATIENCE_S: Final = 20.0
WIKIQ: Final = str(Path(sys.executable).with_name("wikiq"))
INDEXERD: Final = str(Path(sys.executable).with_name("indexerd"))
FRESH, NOT_FRESH = 0, 3  # exit statuses


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveDaemon]:
    """A daemon that follows one wiki, and has looked at it."""
    root, db = make_wiki(tmp_path / "followed"), tmp_path / "state" / "index.db"
    with tempfile.TemporaryDirectory() as sockets:  # a short path, which does not move with the index
        daemon = LiveDaemon(root, db, environ={"XDG_RUNTIME_DIR": sockets})
        daemon.start()
        yield daemon
        if daemon.process is not None:
            daemon.stop(signal.SIGKILL)


def make_wiki(root: Path) -> Path:
    root.mkdir()
    (root / "a.md").write_text("# A\n\nfirst words\n")
    return root


def build(root: Path, db: Path) -> None:
    subprocess.run([INDEXERD, "build", str(root), "--db", str(db)], check=True, capture_output=True)


def ask(*words: str, db: Path) -> tuple[int, Any]:
    """The exit status of `wikiq` and its answer."""
    done = subprocess.run(
        [WIKIQ, *words, "--json", "--db", str(db)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, json.loads(done.stdout)


def found(word: str, *, db: Path) -> tuple[int, bool, list[str]]:
    """What a search that is to be fresh gives: exit status, whether it says it is stale, pages."""
    status, answer = ask("search", word, "--fresh", db=db)
    return status, answer["stale"], [hit["path"] for hit in answer["hits"]]


def place(db: Path) -> list[int]:
    facts = db.stat()
    return [facts.st_dev, facts.st_ino]


def test_the_state_tells_which_file_is_written(live: LiveDaemon) -> None:
    assert live.state()["index"] == place(live.db)


def test_a_page_is_found_though_the_index_was_just_replaced(live: LiveDaemon, tmp_path: Path) -> None:
    build(make_wiki(tmp_path / "other"), tmp_path / "elsewhere" / "index.db")
    for nth in range(3):
        live.db.rename(live.db.with_name(f"old{nth}.db"))
        shutil.copy(tmp_path / "elsewhere" / "index.db", live.db)
        (live.root / f"new{nth}.md").write_text(f"# newer{nth}\n")
        assert found(f"newer{nth}", db=live.db) == (FRESH, False, [f"new{nth}.md"])


def test_no_page_is_missed_after_the_folder_of_the_index_was_moved_and_it_was_built_anew(
    live: LiveDaemon,
) -> None:
    live.db.parent.rename(live.db.parent.with_name("moved"))
    with suppress(subprocess.CalledProcessError):  # the daemon may be there first
        build(live.root, live.db)
    answers: list[tuple[int, bool, list[str]]] = []

    def is_fresh_again() -> bool:
        (live.root / f"new{len(answers)}.md").write_text(f"# newer{len(answers)}\n")
        answers.append(found(f"newer{len(answers)}", db=live.db))
        return answers[-1][0] == FRESH

    wait_until(is_fresh_again, PATIENCE_S, "the daemon writes the new one")
    *before, last = answers
    assert {status for status, _, _ in before} <= {NOT_FRESH}
    assert last == (FRESH, False, [f"new{len(before)}.md"])


def test_another_index_in_the_daemons_folder_is_not_fresh_and_nobody_runs_for_it(
    live: LiveDaemon, tmp_path: Path
) -> None:
    root, db = make_wiki(tmp_path / "other"), live.db.with_name("other.db")
    live.stop()
    build(root, db)
    live.start()
    (root / "new.md").write_text("# freshword\n")
    assert found("freshword", db=db) == (NOT_FRESH, True, [])
    assert ask("sync", db=db)[0] == NOT_FRESH
    status, told = ask("status", db=db)
    assert (status, told["daemon"], told["mode"], told["stale"]) == (NOT_FRESH, "stopped", "stopped", True)
    assert ask("status", db=live.db)[0] == FRESH


def test_a_copy_beside_the_index_is_not_fresh(live: LiveDaemon) -> None:
    copy = live.db.with_name("copy.db")
    shutil.copy(live.db, copy)
    (live.root / "new.md").write_text("# freshword\n")
    status, stale, _ = found("freshword", db=copy)
    assert (status, stale) == (NOT_FRESH, True)
    assert found("freshword", db=live.db) == (FRESH, False, ["new.md"])


def test_the_state_names_the_file_that_took_the_place_of_one_that_was_replaced(live: LiveDaemon) -> None:
    shutil.copy(live.db, live.db.with_name("copy.db"))
    os.replace(live.db.with_name("copy.db"), live.db)
    assert found("first", db=live.db) == (FRESH, False, ["a.md"])
    wait_until(lambda: live.state()["index"] == place(live.db), PATIENCE_S, "the new file is named")
    assert ask("search", "first", db=live.db)[1]["stale"] is False
