"""Files that lie: flipped bytes, views that never end, rows of the wrong kind.

Each is answered by one line and exit status 2, never by a traceback.
"""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.another_user import AS_NOBODY, needs_open_installation
from tests.wikiq.asking import answer
from tests.wikiq.running import command, environment, run_on_screen, run_wikiq
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.answers.changes import changes
from wikiq.answers.pages import list_pages, page, topics
from wikiq.answers.search import search
from wikiq.answers.status import status
from wikiq.errors import WikiqError
from wikiq.index.database import open_database
from wikiq.model.request import Filters, SearchRequest
from wikiq.model.results import json_form

FLIPS = 300  # files with damage, each asked everything; a run of 10,000 found no other kind of error


def ask_everything(path: Path) -> None:
    """Ask what every service answers; a WikiqError is a fine answer of a damaged file."""
    questions = (
        lambda snapshot: search(snapshot, SearchRequest(query="runs cancellation")),
        lambda snapshot: search(snapshot, SearchRequest(query="agent", sections=True)),
        lambda snapshot: list_pages(snapshot, Filters(under=("architecture",))),
        lambda snapshot: page(snapshot, "run-lifecycle#cancellation"),
        lambda snapshot: page(snapshot, "guide"),
        topics,
        status,
        lambda snapshot: changes(snapshot, 0),
    )
    for question in questions:
        try:
            database = open_database(str(path), patience_s=0.0)
        except WikiqError:
            return
        said = None
        try:
            json_form(answer(database, question))
        except WikiqError as error:
            said = str(error)
        finally:
            database.close()
        assert said is None or "\n" not in said


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bytes_never_give_a_traceback(index: SampleIndex, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = index.db.read_bytes()
    broken = tmp_path / "broken.db"
    for _ in range(FLIPS // 4):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 4, 64))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        broken.write_bytes(damaged)
        ask_everything(broken)


@pytest.mark.parametrize("kept", [100, 4096, 8192, 20_000])
def test_a_file_cut_short_never_gives_a_traceback(index: SampleIndex, tmp_path: Path, kept: int) -> None:
    broken = tmp_path / "broken.db"
    broken.write_bytes(index.db.read_bytes()[:kept])
    ask_everything(broken)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE section SET heading_path = 'not json'",
        "UPDATE section SET heading_path = '{}'",
        "UPDATE page SET sections = 'many'",
        "UPDATE page SET path = '../../etc/passwd' WHERE slug = 'paths'",
        "UPDATE page SET size = NULL WHERE 0",
        "UPDATE place SET start_line = 'x'",
        "UPDATE meta SET value = NULL WHERE key = 'root'",
        "UPDATE meta SET value = 'never' WHERE key = 'committed_at'",
        "DELETE FROM section",
        "DELETE FROM place",
        "DROP TABLE topic",
        "DROP VIEW v1_pages",
        "DROP TABLE sections_fts",
    ],
)
def test_rows_of_the_wrong_kind_never_give_a_traceback(index: SampleIndex, statement: str) -> None:
    index.alter(statement)
    ask_everything(index.db)


def test_a_view_without_end_is_cut_off(index: SampleIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikiq.index.database.DEADLINE_S", 0.2)
    index.alter("DROP VIEW v1_topics")
    index.alter(
        "CREATE VIEW v1_topics AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
        " SELECT x AS slug, x AS title, x AS description, 1 AS page_count FROM n"
    )
    database = open_database(str(index.db))
    with pytest.raises(WikiqError, match="took too long"):
        answer(database, topics)
    database.close()


def test_a_function_hidden_in_a_view_is_not_run(index: SampleIndex) -> None:
    index.alter("DROP VIEW v1_topic_parents")
    index.alter("CREATE VIEW v1_topic_parents AS SELECT load_extension('/tmp/evil.so') AS child, 1 AS parent")
    done = run_wikiq("topics", index=index)
    assert done.status == 2
    assert done.err.count("\n") == 1


def test_a_page_cannot_steer_the_terminal_through_any_command(tmp_path: Path) -> None:
    evil = "\x1b]52;c;cm0=\x07\x1b[2J\x9b31m\u202e\x7f\x08"
    pages = [
        SamplePage(
            "evil.md",
            f"# Head{evil}ing word\n\nbody word {evil} word\r\n",
            title=f"Ti{evil}tle",
            summary=f"s{evil}",
            topics=(f"t{evil}",),
        )
    ]
    index = write_sample(tmp_path, pages)
    for arguments in (
        ("word",),
        ("word", "--json"),
        ("word", "--ndjson"),
        ("word", "--format", "{title}{excerpt}{topics}{summary}"),
        ("pages",),
        ("show", "evil"),
        ("show", "evil", "--raw"),
        ("topics",),
        ("changes", "--since", "0"),
        ("status",),
        ("show", f"nope{evil}"),
    ):
        _, shown = run_on_screen(*arguments, index=index, NO_COLOR="1")
        text = shown.decode().replace("\r\n", "\n")
        assert not set(text) & {
            chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E)
        }, (
            arguments,
            text,
        )


def test_a_name_that_no_text_can_hold_is_shown_and_bound_without_a_traceback(index: SampleIndex) -> None:
    for arguments in (["\udcff\udcfe"], ["show", "\udcff"], ["pages", "--path", "\udcff"]):
        done = subprocess.run(
            command(*arguments),
            cwd=index.root,
            env=environment(index.root.parent),
            capture_output=True,
            check=False,
        )
        assert done.returncode in (1, 2)
        assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv (util-linux) is not here")
@needs_open_installation
@pytest.mark.parametrize("wal", ["kept", "gone"])
def test_another_user_reads_while_the_daemon_is_down(tmp_path: Path, wal: str) -> None:
    import apsw

    open_to_all = Path("/tmp") / f"wikiq-reader-{os.getpid()}-{wal}"
    open_to_all.mkdir(mode=0o755)
    try:
        index = write_sample(open_to_all, [SamplePage("a.md", "# Apple\n\nA fruit.\n")])
        writer = apsw.Connection(str(index.db))
        writer.pragma("journal_mode", "wal")
        if wal == "kept":
            writer.file_control("main", apsw.SQLITE_FCNTL_PERSIST_WAL, _one_as_int())
            writer.execute("UPDATE meta SET value = 5 WHERE key = 'generation'")
        writer.close()
        assert index.db.with_name("index.db-wal").exists() is (wal == "kept")
        done = subprocess.run(
            [*AS_NOBODY, *command("fruit", "--json")],
            cwd=index.root,
            env=environment(open_to_all),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        assert b'"title": "Apple"' in done.stdout
        assert (b'"generation": 5' in done.stdout) is (wal == "kept")
        assert b"the daemon is not running" in done.stderr
    finally:
        shutil.rmtree(open_to_all)


def _one_as_int() -> int:
    """The address of a C int that says 1, as the file control takes it."""
    _KEPT.append(ctypes.c_int(1))
    return ctypes.addressof(_KEPT[-1])


_KEPT: list[ctypes.c_int] = []
