"""Played inside a real `systemd --user`: installs the unit and does everything to it that can happen.

Prints one JSON object of what it saw; test_user_service.py judges. Its namespaces are its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

PATIENCE_S: Final = 60.0
PAGES: Final = 400

# What a service manager inside namespaces may not do: the options are tested by systemd-analyze.
NESTED: Final = """[Service]
ProtectControlGroups=no
ProtectKernelTunables=no
ProtectKernelLogs=no
StandardError=append:/run/stderr
WatchdogSec=3
RestartSec=100ms
"""

Facts = dict[str, Any]

HOME: Final = Path(os.environ["HOME"])
WIKI: Final = HOME / "wiki"
INDEXERD: Final = str(Path(sys.executable).with_name("indexerd"))


def run(*words: str) -> str:
    """A command's output, whatever its status."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip()


def unit() -> str:
    """The instance of the wiki."""
    return "indexerd@" + run("systemd-escape", str(WIKI)) + ".service"


def properties(*names: str) -> dict[str, str]:
    """What the manager says of the unit."""
    shown = run("systemctl", "--user", "show", unit(), *(f"--property={name}" for name in names))
    return dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)


def until(condition: Callable[[], object]) -> float | None:
    """Seconds until the condition holds, None when it does not."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > PATIENCE_S:
            return None
        time.sleep(0.02)
    return time.monotonic() - began


def is_active() -> bool:
    """Whether READY was said."""
    return properties("ActiveState")["ActiveState"] == "active"


def main_pid() -> int:
    """The daemon's process."""
    return int(properties("MainPID")["MainPID"])


def state() -> dict[str, Any]:
    """The live state of the daemon."""
    path = next((HOME / ".local" / "state" / "indexerd").glob("*/state.json"))
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def ask_fresh() -> str:
    """The answer of the barrier's socket."""
    code = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        's.sendall(b\'{"protocol": 1, "ask": "fresh"}\\n\'); print(s.makefile().readline())'
    )
    return run(sys.executable, "-c", code, str(state()["control"]))


def is_failed() -> bool:
    """Whether the manager has given up."""
    return properties("ActiveState")["ActiveState"] == "failed"


def start_over() -> None:
    """Starts it as if it had never been started before."""
    run("systemctl", "--user", "reset-failed", unit())
    run("systemctl", "--user", "start", unit())


def stop_timed() -> float:
    """Seconds that `systemctl stop` takes."""
    began = time.monotonic()
    run("systemctl", "--user", "stop", unit())
    return time.monotonic() - began


def install() -> Facts:
    """From nothing to a service that answers, in a wiki that it cannot write."""
    WIKI.mkdir()
    for nth in range(PAGES):
        (WIKI / f"{nth}.md").write_text(f"# Page {nth}\n\n" + f"words of page {nth}\n\n" * 200)
    drop_in = HOME / ".config" / "systemd" / "user" / "indexerd@.service.d"
    drop_in.mkdir(parents=True)
    (drop_in / "nested.conf").write_text(NESTED)
    seen: Facts = {"install": run(INDEXERD, "service", "install", str(WIKI))}
    seen["ready_s"] = until(is_active)
    seen["status_text"] = properties("StatusText")["StatusText"]
    until(lambda: state()["mode"] == "watching")
    seen["status"] = run(INDEXERD, "service", "status", str(WIKI))
    seen["enabled"] = properties("UnitFileState")["UnitFileState"]
    seen["fresh"] = ask_fresh()
    touched = run("nsenter", "-t", str(main_pid()), "-m", "touch", str(WIKI / "by-the-service.md"))
    return {**seen, "wiki_is_read_only": "Read-only" in touched}


def reload_and_stop() -> Facts:
    """SIGHUP, then a stop at rest."""
    pid = main_pid()
    run("systemctl", "--user", "reload", unit())
    return {
        "reloaded_s": until(lambda: state()["counters"].get("scans_reload")),
        "same_process_after_reload": main_pid() == pid,
        "stop_idle_s": stop_timed(),
        "result_of_stop": properties("Result")["Result"],
    }


def die_and_hang() -> Facts:
    """A kill, then a process that stands still so that nothing feeds the watchdog."""
    run("systemctl", "--user", "start", unit())
    killed = main_pid()
    os.kill(killed, signal.SIGKILL)
    seen: Facts = {"restarted_after_kill_s": until(lambda: main_pid() not in (0, killed) and is_active())}
    held = main_pid()
    os.kill(held, signal.SIGSTOP)
    results: set[str] = set()

    def is_replaced() -> bool:
        results.add(properties("Result")["Result"])
        return main_pid() not in (0, held) and is_active()

    seen["restarted_by_watchdog_s"] = until(is_replaced)
    seen["restarts"] = int(properties("NRestarts")["NRestarts"])
    return {**seen, "results": sorted(results)}


def stop_while_building() -> Facts:
    """A stop in the middle of a first build."""
    run("systemctl", "--user", "stop", unit())
    for path in (HOME / ".local" / "state" / "indexerd").glob("*/index.db*"):
        path.unlink()
    run("systemctl", "--user", "start", "--no-block", unit())
    until(lambda: " of " in properties("StatusText")["StatusText"])
    busy = properties("StatusText")["StatusText"]
    return {
        "busy_status": busy,
        "stop_busy_s": stop_timed(),
        "result_of_busy_stop": properties("Result")["Result"],
    }


def fail() -> Facts:
    """Settings that starting again would not mend, then a daemon that dies again and again."""
    config = HOME / ".config" / "indexerd" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[wiki]\nextension = 1\n")
    start_over()  # the starts above count towards the limit
    until(is_failed)
    seen: Facts = {"bad_settings": properties("ActiveState", "Result", "ExecMainStatus", "NRestarts")}
    seen["install_of_bad_settings"] = run(INDEXERD, "service", "install", str(WIKI))
    config.unlink()

    def is_given_up() -> bool:
        run("systemctl", "--user", "kill", "--signal=SIGKILL", unit())
        return is_failed()

    start_over()
    return {**seen, "given_up_s": until(is_given_up)}


def uninstall() -> Facts:
    """Back to nothing."""
    said = run(INDEXERD, "service", "uninstall", str(WIKI))
    left = (HOME / ".config" / "systemd" / "user" / "indexerd@.service").exists()
    return {"uninstall": said, "unit_is_left": left, "stderr": Path("/run/stderr").read_text()[-3000:]}


if __name__ == "__main__":
    facts: Facts = {}
    for act in (install, reload_and_stop, die_and_hang, stop_while_building, fail, uninstall):
        facts |= act()
    print(json.dumps(facts))
