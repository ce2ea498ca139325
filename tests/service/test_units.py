"""Units and agents: what is written, what the managers are asked, and what systemd thinks of it."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from indexerd.errors import StorageError, UsageError
from indexerd.service import units
from indexerd.service.units import (
    PLIST,
    TEMPLATE,
    Answer,
    LaunchAgents,
    SystemdUser,
    escape_instance,
    fill_plist,
    fill_unit,
    find_template,
    started_by,
)

MOST_EXPOSED: Final = 10  # tenths: an exposure of 1.0
SYSTEM_TEMPLATE: Final = "indexerd-system@.service"

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed here"
)


class Manager:
    """Remembers what it is asked; answers by the first words, else with success and nothing."""

    def __init__(self, **answers: Answer) -> None:
        self.asked: list[str] = []
        self._answers = answers

    def __call__(self, words: Sequence[str]) -> Answer:
        self.asked.append(" ".join(words))
        verb = words[2] if words[:2] == ("systemctl", "--user") else words[1]
        return self._answers.get(verb.replace("-", "_"), Answer(0, ""))


@pytest.mark.parametrize(
    "root", ["/srv/wiki", "/srv/my wiki", "/srv/a-b/ü.x", "/.hidden", "notes", "/srv/100%$"]
)
@needs_systemd
def test_an_instance_is_escaped_as_systemd_does_it(root: str) -> None:
    expected = subprocess.run(["systemd-escape", "--", root], capture_output=True, text=True, check=True)
    assert escape_instance(root) == expected.stdout.rstrip("\n")


def shipped(name: str) -> str:
    return find_template(name).read_text()


def test_the_filled_unit_starts_the_given_program_and_may_write_the_given_folder() -> None:
    unit = fill_unit(shipped(TEMPLATE), ("/opt/my env/50%/python", "-m", "indexerd.main"), "/home/u/st ate")
    assert 'ExecStart="/opt/my env/50%%/python" -m indexerd.main run %I\n' in unit
    assert 'ReadWritePaths=-"/home/u/st ate"\n' in unit
    assert started_by(unit) == "/opt/my env/50%/python"
    assert unit.count("\n") == shipped(TEMPLATE).count("\n")


def test_a_unit_without_a_command_starts_nothing() -> None:
    assert started_by("[Service]\nType=notify\n") is None


def verified(name: str, folder: Path) -> Path:
    """A unit as it is installed, with a program that exists."""
    path = folder / name
    path.write_text(fill_unit(shipped(name), (sys.executable,), str(folder)))
    return path


@needs_systemd
@pytest.mark.parametrize("name, manager", [(TEMPLATE, ["--user"]), (SYSTEM_TEMPLATE, [])])
def test_systemd_has_no_complaint_about_a_unit(name: str, manager: list[str], tmp_path: Path) -> None:
    """The exit status is 0 even for an unknown key: what counts is that nothing is printed."""
    checked = subprocess.run(
        ["systemd-analyze", *manager, "verify", str(verified(name, tmp_path))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@needs_systemd
def test_an_unknown_key_in_a_unit_would_be_noticed(tmp_path: Path) -> None:
    path = verified(SYSTEM_TEMPLATE, tmp_path)
    path.write_text(path.read_text().replace("RestartSec=", "RestartSecs="))
    checked = subprocess.run(
        ["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False
    )
    assert "RestartSecs" in checked.stderr


@needs_systemd
@pytest.mark.parametrize("name", [TEMPLATE, SYSTEM_TEMPLATE])
def test_a_unit_exposes_little(name: str, tmp_path: Path) -> None:
    words = ["systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED}", "--no-pager"]
    checked = subprocess.run(
        [*words, str(verified(name, tmp_path))], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout[-200:]


@pytest.mark.parametrize("name", [TEMPLATE, SYSTEM_TEMPLATE])
def test_a_unit_says_what_the_daemon_relies_on(name: str) -> None:
    lines = shipped(name).splitlines()
    for line in (
        "Type=notify",
        "ExecReload=/bin/kill -HUP $MAINPID",
        "Restart=on-failure",
        "RestartPreventExitStatus=64 75 78",
        "WatchdogSec=60",
        "MemoryMax=2G",
        "OOMPolicy=continue",
        "UMask=0077",
        "SystemCallFilter=@chown",
        "ProtectSystem=strict",
    ):
        assert line in lines


def systemd_user(tmp_path: Path, manager: Manager) -> SystemdUser:
    return SystemdUser({"XDG_CONFIG_HOME": str(tmp_path)}, str(tmp_path / "state"), run=manager)


def test_an_installed_unit_is_enabled_started_and_its_state_folder_is_there(tmp_path: Path) -> None:
    manager = Manager(show_user=Answer(0, "no"))
    service = systemd_user(tmp_path, manager)
    report = service.install("/srv/wiki")
    assert service.unit_path == tmp_path / "systemd" / "user" / TEMPLATE
    assert started_by(service.unit_path.read_text()) is not None
    assert (tmp_path / "state").is_dir()
    assert manager.asked[:3] == [
        "systemctl --user daemon-reload",
        "systemctl --user enable indexerd@-srv-wiki.service",
        "systemctl --user restart --no-block indexerd@-srv-wiki.service",
    ]
    assert "loginctl enable-linger" in report.lines[-1]


@pytest.mark.parametrize(
    "shown, healthy, told",
    [
        ("ActiveState=active\nStatusText=watching, 2 pages", True, "and running; it says: watching, 2 pages"),
        (
            "ActiveState=activating\nSubState=start\nNRestarts=0",
            True,
            "and starting; `indexerd service status`",
        ),
        ("ActiveState=activating\nSubState=auto-restart", False, "but it ends at its start; `journalctl"),
        (
            "ActiveState=failed\nNRestarts=0",
            False,
            "ends at its start; `journalctl --user -u ",
        ),
    ],
)
def test_an_install_tells_whether_the_service_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: str, healthy: bool, told: str
) -> None:
    monkeypatch.setattr(units, "LIVES_S", 0.0)
    report = systemd_user(tmp_path, Manager(show=Answer(0, shown))).install("/srv/wiki")
    assert report.healthy is healthy
    assert told in report.lines[0]


def test_a_service_that_waits_to_be_restarted_is_settled(tmp_path: Path) -> None:
    manager = Manager(show=Answer(0, "ActiveState=activating\nSubState=auto-restart"))
    systemd_user(tmp_path, manager).install("/srv/wiki")
    assert sum(" show " in asked for asked in manager.asked) == 1


def test_a_manager_that_refuses_is_an_error_with_its_words(tmp_path: Path) -> None:
    manager = Manager(enable=Answer(1, "first line\nUnit is masked."))
    with pytest.raises(StorageError, match=r"systemctl enable failed: Unit is masked\.; see `journalctl"):
        systemd_user(tmp_path, manager).install("/srv/wiki")


@pytest.mark.parametrize("root", ["/tmp", "/tmp/wiki", "/var/tmp/a/b"])
def test_a_wiki_that_the_service_cannot_see_is_refused_before_anything_is_written(
    root: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="move the wiki elsewhere"):
        systemd_user(tmp_path, Manager()).install(root)
    assert list(tmp_path.iterdir()) == []


def test_the_last_instance_takes_the_unit_with_it_and_an_earlier_one_does_not(tmp_path: Path) -> None:
    other = Manager(list_units=Answer(0, "indexerd@-srv-other.service loaded active running"))
    service = systemd_user(tmp_path, other)
    service.install("/srv/wiki")
    service.uninstall("/srv/wiki")
    assert service.unit_path.exists()
    last = systemd_user(tmp_path, Manager())
    report = last.uninstall("/srv/other")
    assert not last.unit_path.exists()
    assert report.lines[-1] == f"{last.unit_path}: removed"


RUNNING: Final = """ActiveState=active
SubState=running
StatusText=watching, 3112 pages
Result=success
NRestarts=2
UnitFileState=enabled"""


def test_the_status_tells_what_the_manager_knows(tmp_path: Path) -> None:
    service = systemd_user(tmp_path, Manager(show=Answer(0, RUNNING)))
    service.install("/srv/wiki")
    assert service.status("/srv/wiki") == units.Report(
        healthy=True,
        lines=(
            "indexerd@-srv-wiki.service: active (running) restarted 2 times",
            "at login: enabled",
            "says: watching, 3112 pages",
        ),
    )


def test_the_status_of_a_service_that_fails_says_where_to_look(tmp_path: Path) -> None:
    failing = "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nUnitFileState=enabled"
    service = systemd_user(tmp_path, Manager(show=Answer(0, failing)))
    service.install("/srv/wiki")
    report = service.status("/srv/wiki")
    assert not report.healthy
    assert report.lines[-1] == "why: `journalctl --user -u indexerd@-srv-wiki.service`"


def test_the_status_tells_when_the_interpreter_has_moved(tmp_path: Path) -> None:
    service = systemd_user(tmp_path, Manager(show=Answer(0, RUNNING)))
    service.install("/srv/wiki")
    service.unit_path.write_text(fill_unit(shipped(TEMPLATE), ("/gone/python",), "/state"))
    report = service.status("/srv/wiki")
    assert not report.healthy
    assert report.lines[-1] == f"{service.unit_path}: /gone/python has moved; run `indexerd service install`"


def test_the_status_of_what_was_never_installed_says_so(tmp_path: Path) -> None:
    report = systemd_user(tmp_path, Manager(show=Answer(127, "systemctl: not found"))).status("/srv/wiki")
    assert not report.healthy
    assert report.lines[-1].endswith("missing; run `indexerd service install`")


def test_an_agent_of_launchd_is_a_property_list_that_runs_the_wiki() -> None:
    agent = plistlib.loads(
        fill_plist(
            find_template(PLIST).read_bytes(), ("/p/indexerd",), "/w/ü & <x>", "indexerd.x-1", "/l.log"
        )
    )
    assert agent["ProgramArguments"] == ["/p/indexerd", "run", "/w/ü & <x>"]
    assert (agent["Label"], agent["StandardErrorPath"]) == ("indexerd.x-1", "/l.log")
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["Umask"] == 0o077


def test_an_agent_is_loaded_looked_at_and_removed(tmp_path: Path) -> None:
    manager = Manager(print=Answer(0, "\tstate = running\n"))
    agents = LaunchAgents(str(tmp_path), run=manager)
    assert not agents.status("/srv/My Wiki").healthy
    agents.install("/srv/My Wiki")
    (path,) = (tmp_path / "Library" / "LaunchAgents").iterdir()
    assert path.name.startswith("indexerd.My-Wiki-")
    assert f"launchctl bootstrap gui/{os.getuid()} {path}" in manager.asked
    assert agents.status("/srv/My Wiki").healthy
    agents.uninstall("/srv/My Wiki")
    assert not path.exists()


def test_a_command_that_is_missing_is_an_answer_and_no_exception() -> None:
    answer = units.run_command(["/nonexistent/systemctl", "--user"])
    assert answer.status != 0
    assert "/nonexistent/systemctl" in answer.output
