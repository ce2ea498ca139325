"""The command's words, output and exit statuses: one line for every mistake, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from indexerd.contract.live_state import LiveState, Mode
from indexerd.main import main
from indexerd.service.status_file import StateFile
from indexerd.setup.registry import index_path
from indexerd.store.file.lock import WriterLock
from indexerd.tree import mounts


@pytest.fixture
def wiki(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wiki of two pages in a home of its own, and nothing set."""
    for name in [name for name in os.environ if name.startswith("INDEXERD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    root = tmp_path / "home" / "notes"
    root.mkdir(parents=True)
    (root / "a.md").write_text("# A\n")
    (root / "b.md").write_text("# B\n")
    return root


class Command:
    """Runs the command in this process and keeps what it printed."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd

    def __call__(self, *words: str) -> tuple[int, str, str]:
        status = main(words)
        out, err = self._capfd.readouterr()
        return status, out, err


@pytest.fixture
def indexerd(capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(capfd)


def test_a_build_says_what_it_did_and_where_the_index_is(wiki: Path, indexerd: Command) -> None:
    status, out, err = indexerd("build", str(wiki))
    place = index_path(str(wiki), os.environ)
    assert (status, err) == (0, "")
    assert out.startswith("2 pages, 2 changed, generation 1, ")
    assert out.endswith(f" s: {place}\n")
    assert oct(place.parent.stat().st_mode & 0o777) == "0o700"
    assert oct(place.stat().st_mode & 0o777) == "0o600"
    assert indexerd("build", str(wiki))[1].startswith("2 pages, 0 changed, generation 1, ")


def test_a_build_leaves_nothing_of_what_a_killed_daemon_said_last(wiki: Path, indexerd: Command) -> None:
    """Readers would take the builder, which holds the lock, for the daemon that watches."""
    indexerd("build", str(wiki))
    state = index_path(str(wiki), os.environ).with_name("state.json")
    StateFile(str(state)).write_now(LiveState(mode=Mode.WATCHING), 0.0, "2026-11-30T00:00:00.000Z")
    assert indexerd("build", str(wiki))[0] == 0
    assert not state.exists()
    state.write_text("words of another program")
    assert indexerd("build", str(wiki))[0] == 0
    assert state.read_text() == "words of another program"


@pytest.mark.parametrize("words", [("build",), ("verify",)])
def test_a_closed_stderr_is_nothing_to_fail_of(wiki: Path, words: tuple[str, ...]) -> None:
    command = [str(Path(sys.executable).with_name("indexerd")), *words, str(wiki)]
    subprocess.run([command[0], "build", str(wiki)], check=True, capture_output=True)
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("command", ["build", "verify", "run"])
def test_a_pipe_named_as_the_index_is_refused_and_not_waited_for(
    wiki: Path, indexerd: Command, tmp_path: Path, command: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, _, err = indexerd(command, str(wiki), "--db", str(tmp_path / "pipe"))
    assert (status, err.count("\n")) == (74, 1)
    assert "is not a file" in err


@pytest.mark.parametrize("name", ["index.lock", "state.json", "state.json.new"])
def test_an_index_cannot_be_named_like_a_file_beside_it(
    wiki: Path, indexerd: Command, tmp_path: Path, name: str
) -> None:
    status, _, err = indexerd("build", str(wiki), "--db", str(tmp_path / name))
    assert (status, err.count("\n")) == (64, 1)
    assert not (tmp_path / name).exists()


def test_what_a_wiki_brings_along_reaches_the_terminal_escaped(wiki: Path, indexerd: Command) -> None:
    (wiki / ".wikiq.toml").write_text('[wiki]\nignore = ["\\u009b31m\\u202e"]\n')
    status, out, _ = indexerd("config", str(wiki))
    assert status == 0
    assert "ignore" in out
    assert not {"\x9b", "\u202e"} & set(out)


def test_a_pattern_that_python_warns_of_is_taken_as_git_takes_it(wiki: Path, indexerd: Command) -> None:
    (wiki / ".gitignore").write_text("x[[a].md\n")
    (wiki / "xa.md").write_text("# Left out\n")
    status, out, err = indexerd("build", str(wiki))
    assert (status, err) == (0, "")
    assert out.startswith("2 pages")


def test_a_current_folder_that_is_gone_is_named_so(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    words = f'cd "{gone}" && rmdir "{gone}" && exec "{Path(sys.executable).with_name("indexerd")}" build'
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert done.stderr.startswith("indexerd: the current folder: ")
    assert done.stderr.count("\n") == 1


def test_the_current_folder_is_the_root_when_none_is_named(
    wiki: Path, indexerd: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(wiki)
    assert indexerd("build")[0] == 0
    monkeypatch.chdir(wiki.parent)
    status, _, err = indexerd("build")
    assert status == 64
    assert err.startswith(f"indexerd: {wiki.parent}: is everything you have;")
    assert err.count("\n") == 1


def test_db_puts_the_index_elsewhere_by_flag_and_by_variable(
    wiki: Path, indexerd: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert indexerd("build", str(wiki), "--db", str(tmp_path / "x.db"))[0] == 0
    monkeypatch.setenv("INDEXERD_DB", str(tmp_path / "folder"))
    (tmp_path / "folder").mkdir()
    assert indexerd("build", str(wiki))[0] == 0
    assert (tmp_path / "x.db").is_file()
    assert (tmp_path / "folder" / "index.db").is_file()
    assert indexerd("list")[1] == ""


def test_verify_is_silent_when_all_is_well_and_exits_1_with_a_line_a_difference(
    wiki: Path, indexerd: Command
) -> None:
    indexerd("build", str(wiki))
    assert indexerd("verify", str(wiki)) == (0, "", "")
    (wiki / "c.md").write_text("# C\n")
    status, out, err = indexerd("verify", str(wiki))
    assert (status, err) == (1, "")
    assert "v1_pages c.md: in the tree, not in the index\n" in out


def test_verify_without_an_index_says_how_to_make_one(wiki: Path, indexerd: Command) -> None:
    status, out, err = indexerd("verify", str(wiki))
    assert (status, out) == (74, "")
    assert "there is no index; run `indexerd build`" in err
    assert not index_path(str(wiki), os.environ).parent.exists()


def test_config_shows_what_is_in_force_and_from_where(wiki: Path, indexerd: Command) -> None:
    (wiki / ".wikiq.toml").write_text('[wiki]\nignore = ["drafts/"]\n')
    status, out, _ = indexerd("config", str(wiki), "--watch", "scan", "--no-gitignore")
    assert status == 0
    assert f'wiki.ignore = ["drafts/"]    # {wiki}/.wikiq.toml\n' in out
    assert 'wiki.watch = "scan"    # --watch\n' in out
    assert "wiki.gitignore = false    # --gitignore\n" in out
    assert "wiki.max_page_bytes = 16777216    # default\n" in out
    shown = json.loads(indexerd("config", str(wiki), "--json")[1])
    assert shown["format"] == 1
    assert shown["index"] == str(index_path(str(wiki), os.environ))
    assert shown["settings"]["wiki.ignore"] == {"value": ["drafts/"], "from": f"{wiki}/.wikiq.toml"}


def test_list_forget_and_move(wiki: Path, indexerd: Command) -> None:
    assert indexerd("list") == (0, "", "")
    indexerd("build", str(wiki))
    assert indexerd("list")[1] == f"notes\t{wiki}\t2 pages\tok\n"
    moved = wiki.with_name("moved")
    wiki.rename(moved)
    assert "its folder is gone; indexerd move" in indexerd("list")[1]
    assert indexerd("move", str(wiki), str(moved))[0] == 0
    assert indexerd("verify", str(moved)) == (0, "", "")
    shown = json.loads(indexerd("list", "--json")[1])
    assert (shown["format"], [index["root"] for index in shown["indexes"]]) == (1, [str(moved)])
    assert indexerd("forget", "moved", "--purge")[0] == 0
    assert indexerd("list")[1] == ""
    assert indexerd("forget", "moved")[0] == 64


def test_a_name_that_was_given_stays_until_another_is(wiki: Path, indexerd: Command) -> None:
    indexerd("build", str(wiki), "--name", "mine")
    indexerd("build", str(wiki))
    assert indexerd("list")[1].startswith("mine\t")


@pytest.mark.parametrize(
    "words, status, message",
    [
        ((), 64, "Usage: indexerd"),
        (("bild",), 64, "indexerd: No such command 'bild'"),
        (("build", "--gitignor"), 64, "indexerd: No such option '--gitignor'"),
        (("build", "a", "b"), 64, "indexerd: "),
        (("build", "/no/such/folder"), 66, "indexerd: /no/such/folder: does not exist; name the folder"),
        (("build", "{wiki}/a.md"), 66, "is not a folder"),
        (
            ("build", "{wiki}", "--max-page-bytes", "many"),
            78,
            "--max-page-bytes: wiki.max_page_bytes cannot be",
        ),
        (("build", "{wiki}", "--share-group", "no-such-group"), 78, "there is no group 'no-such-group'"),
        (("build", "{wiki}", "--ignore", "!"), 78, "wiki.ignore: the pattern"),
        (("build", "{wiki}", "--db", "{wiki}/a.md"), 74, "is not an index of this program"),
        (("forget", "nothing"), 64, "indexerd: nothing: no wiki has this name or folder"),
        (("move", "nothing", "{wiki}"), 64, "no wiki has this name or folder"),
        (("move", "nothing", "/no/such/folder"), 66, "does not exist"),
    ],
)
def test_a_mistake_is_one_line_with_the_remedy(
    wiki: Path, indexerd: Command, words: tuple[str, ...], status: int, message: str
) -> None:
    found, out, err = indexerd(*(word.format(wiki=wiki) for word in words))
    assert (found, out) == (status, "")
    assert message in err
    assert words == () or err.count("\n") == 1
    assert (wiki / "a.md").read_text() == "# A\n"


@pytest.fixture
def own_settings(wiki: Path) -> Path:
    path = wiki.parent / ".config" / "indexerd" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_bad_settings_are_78_with_the_line_and_the_nearest_known_key(
    wiki: Path, own_settings: Path, indexerd: Command
) -> None:
    own_settings.write_text("[wiki]\nextension = ['md']\n")
    status, _, err = indexerd("build", str(wiki))
    assert (status, "did you mean wiki.extensions?" in err) == (78, True)
    own_settings.write_text("[wiki]\nextensions = [\n")
    status, _, err = indexerd("build", str(wiki))
    assert (status, "line" in err, err.count("\n")) == (78, True, 1)


def test_bad_settings_that_came_with_the_wiki_are_told_and_left_out(wiki: Path, indexerd: Command) -> None:
    (wiki / ".wikiq.toml").write_text("[wiki]\nignore = ['a.md']\nextension = ['md']\n")
    status, out, err = indexerd("build", str(wiki))
    assert (status, out.startswith("2 pages, 2 changed")) == (0, True)
    assert (f"{wiki}/.wikiq.toml: wiki.extension is no setting" in err, err.count("\n")) == (True, 1)
    with closing(sqlite3.connect(index_path(str(wiki), os.environ))) as index:
        found = index.execute("SELECT path, kind, message FROM v1_diagnostics").fetchall()
    message = "it is left out as a whole: wiki.extension is no setting; did you mean wiki.extensions?"
    assert found == [(".wikiq.toml", "settings_invalid", message)]
    assert indexerd("verify", str(wiki))[:2] == (0, "")
    (wiki / ".wikiq.toml").write_text("[wiki]\nignore = ['a.md']\n")
    assert indexerd("build", str(wiki))[1].startswith("1 page, 1 changed")
    with closing(sqlite3.connect(index_path(str(wiki), os.environ))) as index:
        assert index.execute("SELECT count(*) FROM v1_diagnostics").fetchone() == (0,)


@pytest.mark.parametrize("words", [("build", "."), ("run", "."), ("list",), ("forget", "notes")])
def test_without_a_home_it_is_78_and_nothing_is_made_in_the_wiki(
    wiki: Path, indexerd: Command, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(wiki)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # of a user whom the system does not list
    status, out, err = indexerd(*words)
    assert (status, out, err.count("\n")) == (78, "", 1)
    assert "set HOME or XDG_STATE_HOME, or name a file with --db" in err
    assert sorted(os.listdir(wiki)) == ["a.md", "b.md"]


def test_without_a_home_an_index_that_is_named_is_built(
    wiki: Path, indexerd: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert indexerd("build", str(wiki), "--db", str(tmp_path / "x.db"))[0] == 0


def test_an_index_on_a_disk_that_machines_share_is_refused(
    wiki: Path, indexerd: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = wiki.parent / "mountinfo"
    table.write_text(f"1 0 0:1 / {wiki.parent} rw - nfs4 server:/home rw\n")
    found = partial(mounts.find_event_free, mount_table=str(table))
    monkeypatch.setattr("indexerd.setup.compose.find_event_free", found)
    status, out, err = indexerd("build", str(wiki))
    assert (status, out, err.count("\n")) == (78, "", 1)
    assert f"since {wiki.parent} is a nfs4 file system, which other machines may write; name a file" in err
    assert not (wiki.parent / ".local").exists()


def test_folders_that_are_made_are_private_under_any_umask(wiki: Path, indexerd: Command) -> None:
    before = os.umask(0)
    try:
        assert indexerd("build", str(wiki))[0] == 0
    finally:
        os.umask(before)
    folder = index_path(str(wiki), os.environ).parent
    made = [folder, *(above for above in folder.parents if above.is_relative_to(wiki.parent / ".local"))]
    assert len(made) == 4
    assert [above.stat().st_mode & 0o777 for above in made] == [0o700] * 4


def test_a_program_that_was_removed_while_it_runs_is_what_is_told(
    wiki: Path, indexerd: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(wiki / "venv" / "bin" / "python"))

    def fail(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", str(wiki / "venv"))

    monkeypatch.setattr("indexerd.pipeline.whole_build.build_whole", fail)
    status, _, err = indexerd("build", str(wiki))
    assert status == 74
    assert "bin/python: the program that runs here has been removed; install it again" in err


@pytest.mark.slow
def test_a_second_writer_is_75_and_names_the_first(wiki: Path, indexerd: Command) -> None:
    indexerd("build", str(wiki))
    lock = WriterLock.acquire(index_path(str(wiki), os.environ).with_name("index.lock"))
    try:
        status, _, err = indexerd("build", str(wiki))
    finally:
        lock.release()
    assert (status, f"process {os.getpid()}" in err) == (75, True)


def test_a_damaged_index_is_moved_aside_and_said_so(wiki: Path, indexerd: Command) -> None:
    indexerd("build", str(wiki))
    place = index_path(str(wiki), os.environ)
    place.write_bytes(b"not a database" * 1000)
    status, out, err = indexerd("build", str(wiki))
    assert (status, out.split(",")[0]) == (0, "2 pages")
    assert "was damaged; it was moved to" in err


def test_damage_that_a_build_runs_into_is_healed_by_the_same_build(wiki: Path, indexerd: Command) -> None:
    """No check at opening sees it: the pages of the file are sound, what FTS5 keeps in them is not."""
    indexerd("build", str(wiki))
    place = index_path(str(wiki), os.environ)
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE sections_fts_data SET block = zeroblob(3) WHERE id = 10")
    (wiki / "c.md").write_text("# C\n")
    status, out, err = indexerd("build", str(wiki))
    assert (status, out.split(",")[0]) == (0, "3 pages")
    assert err == f"indexerd: the index was damaged; it was moved to {place}.damaged\n"
    assert indexerd("verify", str(wiki)) == (0, "", "")


def test_an_interrupted_build_is_130_without_a_traceback(wiki: Path) -> None:
    for number in range(3000):
        (wiki / f"{number}.md").write_text(f"# {number}\n\n" + "Some words of text. " * 100)
    command = [sys.executable, "-c", "import sys; from indexerd.main import main; sys.exit(main())"]
    process = subprocess.Popen(
        [*command, "build", str(wiki)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lock = index_path(str(wiki), os.environ).with_name("index.lock")
    while not lock.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, "", "")


@pytest.mark.parametrize(
    "module, program, words",
    [
        ("click", "indexerd", ("build",)),
        ("structlog", "indexerd", ("build",)),
        ("click", "wikiq", ("status",)),
        ("sqlite3", "wikiq", ("some", "words")),
    ],
)
def test_an_interrupt_while_a_program_starts_is_no_traceback(
    wiki: Path, tmp_path: Path, module: str, program: str, words: tuple[str, ...]
) -> None:
    assert main(["build", str(wiki)]) == 0
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))}
    command = [sys.executable, "-m", f"{program}.main", *words]
    done = subprocess.run(command, cwd=wiki, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


def test_windows_is_refused_in_one_line(
    wiki: Path, indexerd: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "name", "nt")
    status = main(("build", str(wiki)))
    monkeypatch.undo()
    assert status == 64


def test_a_closed_pipe_is_no_error(wiki: Path) -> None:
    command = f"{sys.executable} -c 'from indexerd.main import main; main()' config {wiki} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""


def test_help_names_every_command_and_setting(wiki: Path, indexerd: Command) -> None:
    _, out, _ = indexerd("--help")
    for command in ("build", "verify", "config", "list", "forget", "move"):
        assert f"\n  {command} " in out
    _, out, _ = indexerd("build", "-h")
    for flag in ("--extensions", "--ignore", "--no-gitignore", "--share-group", "--identity-names", "--db"):
        assert flag in out
