"""Units of the service managers: written from the shipped templates, enabled, removed, inspected.

Says what a person must still do (lingering, a moved interpreter). Talks to the managers through
their commands only and never edits a unit that it did not write.
"""

from __future__ import annotations

import hashlib
import os
import plistlib
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from indexerd.contract.places import config_home, make_private_folders
from indexerd.errors import StorageError, UsageError

TEMPLATE: Final = "indexerd@.service"
PLIST: Final = "indexerd.plist"
COMMAND_PATIENCE_S: Final = 30  # none of the commands waits for a service
LIVES_S: Final = 2.0  # after which a service that fails at its start has failed
PAUSE_S: Final = 0.1  # between two looks at it
HIDDEN_FOLDERS: Final = ("/tmp", "/var/tmp")  # noqa: S108 - the unit has a /tmp of its own


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a command of the service manager."""

    status: int
    output: str


Run = Callable[[Sequence[str]], Answer]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Report:
    """What was done or found, one fact a line. `healthy`: nothing is left to do."""

    healthy: bool
    lines: tuple[str, ...]


def run_command(words: Sequence[str]) -> Answer:
    """Runs a service manager's command; a missing or hanging one gives an answer too, and no exception."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=COMMAND_PATIENCE_S, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Answer(127, f"{words[0]}: {error}")
    return Answer(done.returncode, (done.stdout or done.stderr).strip())


def find_template(name: str) -> Path:
    """A shipped file: below the prefix of an installation, or beside the packages in a checkout."""
    shipped = Path(sys.prefix) / "share" / "indexerd" / "systemd" / name
    return shipped if shipped.exists() else Path(__file__).resolve().parent.parent / "systemd" / name


def find_command() -> tuple[str, ...]:
    """How this installation is started, by absolute paths."""
    script = Path(sys.executable).parent / "indexerd"
    return (str(script),) if script.exists() else (sys.executable, "-m", "indexerd.main")


def escape_instance(text: str) -> str:
    """The instance name that `%I` gives back as `text` (systemd.unit(5), string escaping)."""
    kept = re.compile(rb"[A-Za-z0-9:_.]")
    escaped = []
    for position, byte in enumerate(os.fsencode(text)):
        one = bytes([byte])
        if one == b"/":
            escaped.append("-")
        elif kept.match(one) and not (position == 0 and one == b"."):
            escaped.append(one.decode())
        else:
            escaped.append(f"\\x{byte:02x}")
    return "".join(escaped)


def fill_unit(template: str, command: Sequence[str], state_folder: str) -> str:
    """The user unit that starts `command` and may write `state_folder`, both absolute."""
    start = " ".join([*(_quote(word) for word in command), "run", "%I"])
    text = re.sub(r"(?m)^ExecStart=.*$", lambda _: f"ExecStart={start}", template)
    return re.sub(r"(?m)^ReadWritePaths=.*$", lambda _: f"ReadWritePaths=-{_quote(state_folder)}", text)


def fill_plist(template: bytes, command: Sequence[str], root: str, label: str, log: str) -> bytes:
    """The LaunchAgent that runs `command` for `root`."""
    agent = plistlib.loads(template)
    agent |= {"Label": label, "ProgramArguments": [*command, "run", root], "StandardErrorPath": log}
    return plistlib.dumps(agent)


def started_by(unit: str) -> str | None:
    """The program that a unit's text starts, None when it starts none."""
    found = re.search(r"(?m)^ExecStart=(.*)$", unit)
    words = shlex.split(found[1].replace("%%", "%").replace("$$", "$")) if found else []
    return words[0] if words else None


def _quote(word: str) -> str:
    """One word of a unit file: `%` and `$` mean something there, and blanks separate."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return word if re.fullmatch(r"[\w@%$+,./:=-]+", word, re.ASCII) else f'"{word}"'


class SystemdUser:
    """The user's own systemd: one template unit, an instance a wiki."""

    def __init__(self, environ: Mapping[str, str], state_folder: str, *, run: Run = run_command) -> None:
        self.unit_path = Path(config_home(environ)) / "systemd" / "user" / TEMPLATE
        self._state_folder = state_folder
        self._run = run

    def install(self, root: str) -> Report:
        """Writes the unit, enables and starts the instance. Raises StorageError, UsageError."""
        hidden = next((folder for folder in HIDDEN_FOLDERS if f"{root}/".startswith(f"{folder}/")), None)
        if hidden is not None:
            raise UsageError(root, f"the service has a {hidden} of its own", "move the wiki elsewhere")
        unit = fill_unit(find_template(TEMPLATE).read_text(), find_command(), self._state_folder)
        make_private_folders(self._state_folder)
        make_private_folders(str(self.unit_path.parent))
        self.unit_path.write_text(unit)
        name = instance_name(root)
        for words in (("daemon-reload",), ("enable", name), ("restart", "--no-block", name)):
            answer = self._systemctl(*words)
            if answer.status:
                problem = f"systemctl {words[0]} failed: {_last_line(answer.output)}"
                raise StorageError(name, problem, f"see `journalctl --user -u {shlex.quote(name)}`")
        found = _settled(lambda: self._properties(name), _is_up_or_down)
        healthy, lines = self._started(name, found)
        return Report(healthy=healthy, lines=(*lines, *self._lingering()))

    def _started(self, name: str, found: Mapping[str, str]) -> tuple[bool, list[str]]:
        """Whether a service that was just started lives, and what to say of it."""
        if found.get("ActiveState") == "active":
            says = f"; it says: {found['StatusText']}" if found.get("StatusText") else ""
            return True, [f"{name}: enabled and running{says}"]
        restarts = found.get("NRestarts", "0") not in ("", "0") or found.get("SubState") == "auto-restart"
        if found.get("ActiveState") == "failed" or restarts:
            why = f"`journalctl --user -u {shlex.quote(name)}` says why"
            return False, [f"{name}: enabled, but it ends at its start; {why}"]
        return True, [f"{name}: enabled and starting; `indexerd service status` says how far it is"]

    def uninstall(self, root: str) -> Report:
        """Stops and disables the instance; with the last one, the unit goes too."""
        name = instance_name(root)
        self._systemctl("disable", "--now", name)
        self._systemctl("reset-failed", name)  # a failed unit stays in the list
        lines = [f"{name}: stopped and disabled"]
        left = self._systemctl("list-units", "--all", "--plain", "--no-legend", "indexerd@*.service")
        enabled = list(self.unit_path.parent.glob("*.wants/indexerd@*.service"))
        if not left.output.strip() and not enabled and self.unit_path.exists():
            self.unit_path.unlink()
            lines.append(f"{self.unit_path}: removed")
        self._systemctl("daemon-reload")
        return Report(healthy=True, lines=tuple(lines))

    def status(self, root: str) -> Report:
        """What the manager says of the instance, and what is wrong with the unit."""
        name = instance_name(root)
        found = self._properties(name)
        running = found.get("ActiveState") == "active"
        words = [found.get("ActiveState") or "unknown", f"({found.get('SubState') or 'unknown'})"]
        if found.get("Result", "success") != "success":
            words.append(f"last result {found['Result']}")
        if found.get("NRestarts", "0") not in ("", "0"):
            words.append(f"restarted {found['NRestarts']} times")
        lines = [f"{name}: {' '.join(words)}", f"at login: {found.get('UnitFileState') or 'not enabled'}"]
        if found.get("StatusText"):
            lines.append(f"says: {found['StatusText']}")
        if not running and found.get("Result", "success") != "success":
            lines.append(f"why: `journalctl --user -u {shlex.quote(name)}`")
        wrong = self._wrong_with_unit()
        return Report(healthy=running and not wrong, lines=(*lines, *wrong, *self._lingering()))

    def _properties(self, name: str) -> dict[str, str]:
        fields = ("ActiveState", "SubState", "StatusText", "Result", "NRestarts", "UnitFileState")
        shown = self._systemctl("show", name, *(f"--property={field}" for field in fields))
        return dict(line.split("=", 1) for line in shown.output.splitlines() if "=" in line)

    def _wrong_with_unit(self) -> list[str]:
        try:
            program = started_by(self.unit_path.read_text())
        except OSError:
            return [f"{self.unit_path}: missing; run `indexerd service install`"]
        if program is None or not os.access(program, os.X_OK):
            return [f"{self.unit_path}: {program} has moved; run `indexerd service install`"]
        return []

    def _lingering(self) -> list[str]:
        answer = self._run(("loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value"))
        if answer.status == 0 and answer.output == "no":
            return [
                "lingering is off, so the service ends when you log out; `loginctl enable-linger` keeps it"
            ]
        return []

    def _systemctl(self, *words: str) -> Answer:
        return self._run(("systemctl", "--user", *words))


class LaunchAgents:
    """The user's own launchd: an agent a wiki."""

    def __init__(self, home: str, *, run: Run = run_command) -> None:
        self._home = Path(home)
        self._run = run
        self._domain = f"gui/{os.getuid()}"

    def install(self, root: str) -> Report:
        """Writes the agent and starts it. Raises StorageError."""
        label, path = self._agent(root)
        log = self._home / "Library" / "Logs" / f"{label}.log"
        agent = fill_plist(find_template(PLIST).read_bytes(), find_command(), root, label, str(log))
        for folder in (path.parent, log.parent):
            make_private_folders(str(folder))
        path.write_bytes(agent)
        self._run(("launchctl", "bootout", f"{self._domain}/{label}"))
        answer = self._run(("launchctl", "bootstrap", self._domain, str(path)))
        if answer.status:
            raise StorageError(str(path), f"launchctl failed: {_last_line(answer.output)}", f"see {log}")
        if _settled(lambda: self._is_running(label), lambda running: running):
            return Report(healthy=True, lines=(f"{label}: loaded and running", f"log: {log}"))
        return Report(healthy=False, lines=(f"{label}: loaded, but it does not run", f"why: {log}"))

    def uninstall(self, root: str) -> Report:
        """Stops the agent and removes its file."""
        label, path = self._agent(root)
        self._run(("launchctl", "bootout", f"{self._domain}/{label}"))
        path.unlink(missing_ok=True)
        return Report(healthy=True, lines=(f"{label}: stopped and removed",))

    def status(self, root: str) -> Report:
        """Whether the agent is loaded and running, and whether its program is still there."""
        label, path = self._agent(root)
        if not path.exists():
            return Report(healthy=False, lines=(f"{label}: not installed",))
        agent: dict[str, Any] = plistlib.loads(path.read_bytes())
        program = agent["ProgramArguments"][0]
        running = self._is_running(label)
        lines = [f"{label}: {'running' if running else 'not running'}"]
        if not os.access(program, os.X_OK):
            lines.append(f"{path}: {program} has moved; run `indexerd service install`")
        return Report(healthy=running and len(lines) == 1, lines=tuple(lines))

    def _is_running(self, label: str) -> bool:
        shown = self._run(("launchctl", "print", f"{self._domain}/{label}"))
        return shown.status == 0 and "state = running" in shown.output

    def _agent(self, root: str) -> tuple[str, Path]:
        digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
        plain = re.sub(r"[^A-Za-z0-9]+", "-", os.path.basename(root)).strip("-") or "root"
        label = f"indexerd.{plain}-{digest}"
        return label, self._home / "Library" / "LaunchAgents" / f"{label}.plist"


def _settled(look: Callable[[], T], is_settled: Callable[[T], bool]) -> T:
    """What `look` finds once it is settled, or LIVES_S after the first look."""
    give_up_at = time.monotonic() + LIVES_S
    while not is_settled(found := look()) and time.monotonic() < give_up_at:
        time.sleep(PAUSE_S)
    return found


def _is_up_or_down(found: Mapping[str, str]) -> bool:
    """Whether a unit is through with its start, well or not; one that waits to be restarted has failed."""
    return found.get("ActiveState") != "activating" or found.get("SubState") == "auto-restart"


def instance_name(root: str) -> str:
    """The unit of the wiki at `root`, an absolute path."""
    return f"indexerd@{escape_instance(root)}.service"


def _last_line(output: str) -> str:
    return output.splitlines()[-1] if output else "no message"
