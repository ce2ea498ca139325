"""The command as a process: exit statuses, one line for every mistake, pipes, interrupts."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.imports import REPOSITORY
from tests.wikiq.running import command, environment, run_on_screen, run_wikiq, running_daemon
from tests.wikiq.sample_index import SampleIndex
from wikiq.commands.group import GROUPS
from wikiq.shell.options import COMMANDS


@pytest.mark.parametrize(
    "arguments, status",
    [
        (["agent"], 0),
        (["search", "agent"], 0),
        (["zzzqqqxxx", "--exact"], 1),
        (["zzzqqqxxx", "--exact", "--json"], 1),
        (["--topic", "howto"], 0),
        (["--topic", "howto", "?!"], 0),
        (["--topic", "nope"], 1),
        (["pages", "--path", "nowhere/*"], 1),
        (["pages", "--path", "nowhere"], 1),
        (["show", "guide"], 0),
        (["show", "nope"], 1),
        (["show", "guide#nope"], 1),
        (["topics"], 0),
        (["changes", "--since", "0"], 0),
        (["status"], 3),
        (["sync"], 3),
        (["agent", "--fresh"], 3),
        (["show", "guide", "--fresh"], 3),
        ([], 0),
        (["--help"], 0),
        (["--version"], 0),
        (["search", "--help"], 0),
        (["-h"], 0),
        (["search", "-h"], 0),
        (["show", "-h"], 0),
        (["search"], 2),
        (["search", ""], 2),
        (["?!"], 2),
        (["-agent"], 0),
        (["agent", "--since", "never"], 2),
        (["agent", "--limit", "0"], 2),
        (["agent", "--limit"], 2),
        (["agent", "--json", "--ndjson"], 2),
        (["agent", "--format", "{nope}"], 2),
        (["agent", "--mentions", "../x"], 2),
        (["agent", "--db", "/nowhere/index.db"], 2),
        (["agent", "--wiki", "nope"], 2),
        (["show"], 2),
        (["show", "setup.md"], 2),
        (["pages", "--nope"], 2),
        (["changes"], 2),
        (["changes", "--since", "-1"], 2),
        (["changes", "--since", "0", "--follow", "--json"], 2),
        (["changes", "--since", "x"], 2),
        (["changes", "--since", "1"], 0),
        (["changes", "--since", "2"], 2),
        (["changes", "--since", str(2**63)], 2),
        (["changes", "--since", "9" * 5000], 2),
        (["chunks", "--since", str(2**63)], 2),
        (["chunks", "--since", "9" * 5000], 2),
        (["pages", "--limit", str(2**63)], 0),
        (["pages", "--limit", "9" * 5000], 2),
        (["expand", "guide#troubleshooting", "--depth", str(2**63)], 0),
        (["agent", "--limit", str(2**63)], 2),
        (["agent", "--limit", "9" * 5000], 2),
        (["agent", "--since", "9" * 5000], 2),
        (["agent", "--since", f"{'9' * 5000}d"], 2),
        (["agent", "--fresh", "--timeout", "nan"], 2),
        (["agent", "--fresh", "--timeout", "1e30"], 2),
        (["agent", "--fresh", "--timeout", "9" * 400], 2),
        (["sql", "SELECT 1", "--time-limit", "nan"], 2),
        (["agent", "--all", "--db", "x"], 2),
        (["agent", "--all"], 0),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else str(value),
)
def test_the_exit_status_says_what_came_of_it(
    shared_index: SampleIndex, arguments: list[str], status: int
) -> None:
    done = run_wikiq(*arguments, index=shared_index)
    assert done.status == status, done.err
    assert "Traceback" not in done.err
    if status == 2:
        assert done.out == ""
        lines = done.err.splitlines()
        assert len(lines) == 1
        assert lines[0].startswith("wikiq: ")


def test_the_help_tells_the_exit_statuses_and_the_documents(shared_index: SampleIndex) -> None:
    told = run_wikiq("--help", index=shared_index).out
    for status in ("0  ", "1  ", "2  ", "3  ", "130"):
        assert f"\n  {status}  " in told
    documents = re.findall(r"\w+\.md", told)
    assert {"search.md", "json.md", "library.md"} <= {*documents}
    assert all((REPOSITORY / "docs" / name).is_file() for name in documents)


@pytest.mark.parametrize(
    "words",
    [
        ["search", "a\udcff"],
        ["agent", "--topic", "\udcff"],
        ["agent", "--links-to", "\udcff"],
        ["agent", "--wiki", "\udcff"],
        ["agent", "--db", "\udcff"],
        ["show", "\udcff"],
        ["show", "guide#\udcff"],
        ["outline", "\udcff"],
        ["links", "\udcff"],
        ["expand", "guide#\udcff"],
        ["topics", "\udcff"],
        ["pages", "--path", "\udcff"],
        ["chunks", "--since", "\udcff"],
        ["sql", "SELECT 'a\udcff'"],
        ["sql", "SELECT ?", "\udcff"],
    ],
    ids=ascii,
)
def test_bytes_that_are_no_text_are_no_crash(shared_index: SampleIndex, words: list[str]) -> None:
    done = run_wikiq(*words, index=shared_index)
    assert "Traceback" not in done.err
    assert done.status in (0, 1, 2)


def test_no_index_at_all_is_one_line_with_the_remedy(tmp_path: Path, shared_index: SampleIndex) -> None:
    done = run_wikiq("agent", index=shared_index, cwd=tmp_path, XDG_STATE_HOME=str(tmp_path))
    assert done.status == 2
    assert done.err == (
        f"wikiq: {tmp_path}: there is no index yet; "
        "run `indexerd build` in the wiki's folder, or name an index with --db\n"
    )


def test_without_a_daemon_one_line_on_stderr_says_since_when(shared_index: SampleIndex) -> None:
    done = run_wikiq("agent", "--json", index=shared_index)
    assert done.err.startswith("wikiq: the daemon is not running; last scan ")
    assert done.err.count("\n") == 1
    assert done.json["stale"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "guide"],
        ["topics"],
        ["changes", "--since", "0"],
        ["outline", "guide"],
        ["links", "guide"],
        ["backlinks", "run-lifecycle"],
        ["expand", "run-lifecycle#retry"],
        ["check"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_answer_says_how_old_it_is(shared_index: SampleIndex, arguments: list[str]) -> None:
    done = run_wikiq(*arguments, "--json", index=shared_index)
    assert done.err.startswith("wikiq: the daemon is not running; ")
    assert done.err.count("\n") == 1
    age = done.json["index"]
    assert (age["wiki"], age["index_id"], age["generation"], age["stale"]) == (
        "sample",
        "id-of-sample",
        1,
        True,
    )
    assert age["age_s"] > 0


def test_an_option_that_is_nearly_one_is_a_word_and_is_told(index: SampleIndex) -> None:
    with running_daemon(index):
        done = run_wikiq("agent", "--jsno", index=index)
        quiet = run_wikiq("agent", "--amend", index=index)
    assert done.out.startswith("guide/setup.md:3\t")
    assert done.err == "wikiq: --jsno: taken as a word to search for; the option is --json\n"
    assert quiet.err == ""


@pytest.mark.parametrize(
    "arguments, mistake, hint",
    [
        (
            ["completion", "bash", "vault"],
            "Got unexpected extra argument (vault).",
            "wikiq search completion bash vault",
        ),
        (
            ["completion", "bash", "of", "what's new"],
            "Got unexpected extra arguments (of what's new).",
            r"wikiq search completion bash of 'what'\''s new'",
        ),
        (
            ["completion", "bash", *["long"] * 40],
            f"Got unexpected extra arguments ({' '.join(['long'] * 40)}).",
            None,
        ),
        (["completion"], "Missing argument 'SHELL'. Choose from: bash, fish, zsh.", None),
    ],
    ids=["one", "several", "many", "none"],
)
def test_words_too_many_or_too_few_say_what_may_have_been_meant(
    shared_index: SampleIndex, arguments: list[str], mistake: str, hint: str | None
) -> None:
    done = run_wikiq(*arguments, index=shared_index)
    more = f", or search: `{hint}`" if hint else ""
    assert (done.status, done.err) == (2, f"wikiq: {mistake} See `wikiq {arguments[0]} --help`{more}.\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["sync", "agent", "--limit", "5"],
        ["sql", "agent"],
        ["--limit", "5", "show", "the", "agent"],
        ["status", "agent"],
    ],
)
def test_words_too_many_for_a_command_are_a_search_with_a_note(
    shared_index: SampleIndex, arguments: list[str]
) -> None:
    done = run_wikiq(*arguments, index=shared_index)
    assert "taken as words to search for; the command is `wikiq s" in done.err
    assert "There is no such" not in done.err
    assert done.status in (0, 1)


def test_a_command_with_what_it_takes_stays_a_command(shared_index: SampleIndex) -> None:
    for arguments in (["show", "guide"], ["sql", "SELECT 1"], ["sql", "VALUES(1)"], ["topics", "howto"]):
        done = run_wikiq(*arguments, index=shared_index)
        assert (done.status, "taken as words" in done.err) == (0, False), done.err


def test_a_wikilink_is_the_page_it_means(shared_index: SampleIndex) -> None:
    plain = run_wikiq("show", "guide", index=shared_index).out
    for name in ("[[guide]]", "[[guide|the guide]]"):
        assert run_wikiq("show", name, index=shared_index).out == plain
    section = run_wikiq("show", "[[guide#Troubleshooting]]", index=shared_index)
    assert section.out.startswith("## Troubleshooting")


def test_the_help_lists_every_command_in_one_group() -> None:
    assert sorted(name for _, names in GROUPS for name in names) == sorted(COMMANDS)


def test_the_status_begins_with_a_line_for_people(shared_index: SampleIndex) -> None:
    done = run_wikiq("status", index=shared_index)
    assert done.out.splitlines()[0] == "6 pages, may be behind the disk, not followed"
    assert "generation" not in done.out
    assert "generation" in run_wikiq("status", "--verbose", index=shared_index).out


def test_a_pipe_is_told_which_files_have_changed_since(index: SampleIndex) -> None:
    (index.root / "guide" / "setup.md").unlink()
    with running_daemon(index):
        done = run_wikiq("agent", index=index)
    assert done.out.startswith("guide/setup.md:3\t")
    assert done.err == "wikiq: changed or gone since they were indexed: guide/setup.md\n"


def test_a_note_stays_short_whatever_was_pasted_into_the_question(shared_index: SampleIndex) -> None:
    words = " ".join(f"x{number}y" for number in range(200))
    done = run_wikiq(f"agent {words} {'z' * 5000}", index=shared_index)
    assert done.err.splitlines()[-1] == (
        "wikiq: too many words; not looked for: x63y x64y x65y x66y x67y x68y x69y x70y and 130 more"
    )
    done = run_wikiq(f"agent {words[: words.index(' x63y')]} {'z' * 5000}", index=shared_index)
    assert done.err.splitlines()[-1] == f"wikiq: too many words; not looked for: {'z' * 40}…"


def test_with_a_daemon_nothing_is_said_beside_the_answer(index: SampleIndex) -> None:
    with running_daemon(index):
        done = run_wikiq("agent", "--json", index=index)
        assert (done.err, done.json["stale"]) == ("", False)
        assert run_wikiq("status", index=index).status == 0


def test_a_reader_that_has_seen_enough_is_no_error(shared_index: SampleIndex) -> None:
    script = f"{' '.join(command('pages', '--ndjson'))} | head -c 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=shared_index.root,
        env=environment(shared_index.root.parent),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"{")
    assert b"Broken" not in done.stderr
    assert b"Exception" not in done.stderr


@pytest.mark.parametrize("words, status, notes", [(("show", "guide"), 0, 1), (("status",), 3, 0)])
def test_a_pipe_closed_before_anything_is_written_is_no_error_and_changes_no_answer(
    shared_index: SampleIndex, words: tuple[str, ...], status: int, notes: int
) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        command(*words),
        cwd=shared_index.root,
        env=environment(shared_index.root.parent),
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(theirs)
    assert done.returncode == status
    assert done.stderr.count(b"\n") == notes  # the daemon is not running


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-"])
def test_streams_that_the_caller_closed_are_done_without(shared_index: SampleIndex, closed: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(command('agent'))} {closed}"],
        cwd=shared_index.root,
        env=environment(shared_index.root.parent),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a device of Linux")
def test_a_full_disk_is_one_line(shared_index: SampleIndex) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("agent"),
            cwd=shared_index.root,
            env=environment(shared_index.root.parent),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == b"wikiq: the answer cannot be written; No space left on device"


def follow_changes(index: SampleIndex) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("changes", "--since", "0", "--follow", "--ndjson"),
        cwd=index.root,
        env=environment(index.root.parent),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_an_interrupt_ends_with_130_and_no_traceback(index: SampleIndex) -> None:
    with running_daemon(index):
        process = follow_changes(index)
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b'{"generation": 1')
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")


def test_a_follower_ends_when_nobody_reads_any_more_though_nothing_changes(index: SampleIndex) -> None:
    with running_daemon(index):
        process = follow_changes(index)
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"generation": 1')
        process.stdout.close()
        try:
            status = process.wait(timeout=30)
        finally:
            process.kill()
        assert (status, process.stderr.read()) == (0, b"")
        process.stderr.close()


def test_a_follower_prints_commits_and_stops_when_the_index_is_made_anew(
    index: SampleIndex,
) -> None:
    with running_daemon(index):
        process = subprocess.Popen(
            command("changes", "--since", "1", "--follow", "--ndjson"),
            cwd=index.root,
            env=environment(index.root.parent),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        index.alter("INSERT INTO commits VALUES (2, '2026-02-02T00:00:00.000Z')")
        index.alter("INSERT INTO change VALUES (2, 'paths', 'delete', 'paths.md', NULL)")
        index.alter("UPDATE meta SET value = 2 WHERE key = 'generation'")
        assert b'"op": "delete"' in process.stdout.readline()
        index.alter("UPDATE meta SET value = 'another' WHERE key = 'index_id'")
        _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert err.endswith(b"was rebuilt; start over with --since 0\n")


def test_a_folder_that_has_been_removed_is_in_no_wiki(index: SampleIndex) -> None:
    folder = index.root / "doomed"
    folder.mkdir()
    script = f"cd {folder} && rmdir {folder} && {' '.join(command('agent', '--db', str(index.db)))}"
    done = subprocess.run(
        ["bash", "-c", script], env=environment(index.root.parent), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(index.root).encode())


def test_output_that_cannot_carry_a_letter_replaces_it(index: SampleIndex) -> None:
    index.alter("UPDATE page SET title = 'Ä 日本' WHERE slug = 'guide'")
    done = run_wikiq("pages", "--path", "guide/README.md", index=index, PYTHONIOENCODING="latin-1:strict")
    assert (done.status, done.out) == (0, "guide/README.md:1\t\N{REPLACEMENT CHARACTER} ??\t\t\n")


def test_a_page_on_a_terminal_goes_through_the_pager(index: SampleIndex) -> None:
    status, shown = run_on_screen("show", "guide", index=index, PAGER="sed s/^/PAGED:/", NO_COLOR="1")
    assert status == 0
    lines = shown.decode().replace("\r\n", "\n").splitlines()
    assert "PAGED:# Guide" in lines


@pytest.mark.parametrize("pager", ["true", "false", "/no/such/pager", "", "cat"])
def test_a_pager_that_leaves_early_fails_or_is_not_there_is_no_error(index: SampleIndex, pager: str) -> None:
    big = "# Guide\n" + "word " * 50_000
    index.alter("UPDATE section SET body = ? WHERE heading = 'Guide'", big)
    status, shown = run_on_screen("show", "guide", index=index, PAGER=pager)
    assert status == 0
    assert b"Traceback" not in shown


def test_the_writer_is_not_held_up_while_a_page_is_read_in_the_pager(
    index: SampleIndex, tmp_path: Path
) -> None:
    connection = sqlite3.connect(index.db, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    reading = tmp_path / "reading"
    pager = shlex.join(["sh", "-c", f"touch {reading}; while [ -e {reading} ]; do sleep .01; done"])
    result: list[tuple[int, bytes]] = []
    reader = threading.Thread(
        target=lambda: result.append(run_on_screen("show", "guide", index=index, PAGER=pager))
    )
    reader.start()
    for _ in range(3000):
        if reading.exists():
            break
        time.sleep(0.01)
    connection.execute("UPDATE meta SET value = 2 WHERE key = 'generation'")
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    reading.unlink()
    reader.join()
    connection.close()
    assert busy == 0
    assert result[0][0] == 0
