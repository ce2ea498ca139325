"""Notifies the service manager: ready, status, watchdog, stopping (sd_notify(3), in ten lines).

The watchdog is fed when work has progressed, never by a timer, so that a hanging loop is restarted. Says
nothing where no service manager listens, and never fails because of it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Final

STDERR: Final = 2
STATUS_LENGTH: Final = 200  # characters; `systemctl status` shows one line
START_EXTENSION_S: Final = 30.0  # asked for again with every sign of progress of a first build
LOG_BYTES: Final = 8 << 20  # launchd appends to one file for ever; systemd's journal bounds itself
PINGS_PER_PERIOD: Final = 4  # of the watchdog; more would wake the manager for nothing


@dataclass(slots=True)
class ServiceManager:
    """`address`: the datagram socket, None without a manager. `watchdog_s`: its period, None if off.

    `log`: the descriptor of a log file that launchd opened and nobody rotates, None without one.
    """

    address: str | None = None
    watchdog_s: float | None = None
    log: int | None = None
    _pinged: float = field(default=float("-inf"), init=False)

    @classmethod
    def from_environment(cls, environ: MutableMapping[str, str]) -> ServiceManager:
        """Read and remove the variables of sd_notify, so that worker processes do not notify in our place."""
        address = environ.pop("NOTIFY_SOCKET", None)
        period = environ.pop("WATCHDOG_USEC", "")
        meant_for = environ.pop("WATCHDOG_PID", "")
        ours = meant_for in ("", str(os.getpid()))
        watchdog_s = int(period) / 1e6 if period.isascii() and period.isdigit() and ours else None
        by_launchd = environ.get("XPC_SERVICE_NAME", "0") != "0"
        return cls(address or None, watchdog_s or None, STDERR if by_launchd else None)

    @property
    def is_present(self) -> bool:
        """Whether a service manager started this process: then SIGHUP comes from it, not from a terminal."""
        return self.address is not None or self.log is not None

    @property
    def ping_interval_s(self) -> float | None:
        """The longest time between two pings of a healthy loop; None without a watchdog."""
        return None if self.watchdog_s is None else self.watchdog_s / PINGS_PER_PERIOD

    def ready(self, status: str) -> bool:
        """The first reconcile, or a reload, is done."""
        return self._tell(READY="1", STATUS=_one_line(status))

    def status(self, status: str) -> bool:
        """One line for `systemctl status`."""
        return self._tell(STATUS=_one_line(status))

    def reloading(self, now: float) -> bool:
        """The configuration is read again; `ready` follows. `now` is monotonic."""
        return self._tell(RELOADING="1", MONOTONIC_USEC=str(int(now * 1e6)))

    def stopping(self) -> bool:
        """The stop has begun."""
        return self._tell(STOPPING="1", STATUS="stopping")

    def progressed(self, now: float, *, starting: bool = False) -> bool:
        """Work has progressed. Feeds the watchdog and, while `starting`, asks for more time to start."""
        interval = self.ping_interval_s or START_EXTENSION_S / PINGS_PER_PERIOD
        if now - self._pinged < interval:
            return False
        self._pinged = now
        extension = {"EXTEND_TIMEOUT_USEC": str(int(START_EXTENSION_S * 1e6))} if starting else {}
        return self._tell(WATCHDOG="1", **extension)

    def bound_log(self) -> None:
        """Starts the log file over once it is too long."""
        if self.log is None:
            return
        with contextlib.suppress(OSError):
            facts = os.fstat(self.log)
            if stat.S_ISREG(facts.st_mode) and facts.st_size > LOG_BYTES:
                os.ftruncate(self.log, 0)
                os.lseek(self.log, 0, os.SEEK_SET)

    def _tell(self, **fields: str) -> bool:
        if self.address is None:
            return False
        message = "".join(f"{key}={value}\n" for key, value in fields.items())
        address = "\0" + self.address[1:] if self.address.startswith("@") else self.address
        # A manager that has gone away, or is slow, must not stop the daemon.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.settimeout(0)
            out.sendto(message.encode(), address)
            return True
        return False


def _one_line(text: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable[:STATUS_LENGTH]
