"""Datagrams to a service manager, received by a socket that stands for it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexerd.service.notify import LOG_BYTES, PINGS_PER_PERIOD, STATUS_LENGTH, STDERR, ServiceManager


class Manager:
    """The receiving end, at a path or in the abstract namespace."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self._socket.setblocking(False)

    def received(self) -> list[dict[str, str]]:
        messages: list[dict[str, str]] = []
        while True:
            try:
                text = self._socket.recv(4096).decode()
            except BlockingIOError:
                return messages
            messages.append(dict(line.split("=", 1) for line in text.splitlines()))

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    name = f"indexerd-test-{os.getpid()}-{tmp_path.name}"
    address = f"@{name}" if request.param == "abstract" else str(tmp_path / "notify")
    manager = Manager(address)
    yield manager
    manager.close()


def test_a_service_says_that_it_is_ready_with_its_status(manager: Manager) -> None:
    assert ServiceManager(manager.address).ready("watching, 12 pages")
    assert manager.received() == [{"READY": "1", "STATUS": "watching, 12 pages"}]


def test_a_reload_and_a_stop_are_announced(manager: Manager) -> None:
    service = ServiceManager(manager.address)
    service.reloading(1.5)
    service.stopping()
    assert manager.received() == [
        {"RELOADING": "1", "MONOTONIC_USEC": "1500000"},
        {"STOPPING": "1", "STATUS": "stopping"},
    ]


def test_a_status_is_one_short_line_whatever_a_path_holds(manager: Manager) -> None:
    ServiceManager(manager.address).status("a\nREADY=1\x1b[2J" + "x" * 1000)
    (message,) = manager.received()
    assert message.keys() == {"STATUS"}
    assert message["STATUS"].startswith("a READY=1 [2J")
    assert len(message["STATUS"]) == STATUS_LENGTH


def test_the_watchdog_is_fed_by_progress_and_not_more_often_than_needed(manager: Manager) -> None:
    service = ServiceManager(manager.address, watchdog_s=8.0)
    interval = 8.0 / PINGS_PER_PERIOD
    assert service.ping_interval_s == interval
    sent = [
        service.progressed(now) for now in (0.0, interval - 0.1, interval, 2 * interval - 0.1, 2 * interval)
    ]
    assert sent == [True, False, True, False, True]
    assert manager.received() == [{"WATCHDOG": "1"}] * 3


def test_a_long_start_asks_for_more_time_as_long_as_it_gets_on(manager: Manager) -> None:
    service = ServiceManager(manager.address)
    service.progressed(0.0, starting=True)
    service.progressed(100.0, starting=True)
    assert [message["EXTEND_TIMEOUT_USEC"] for message in manager.received()] == ["30000000"] * 2


def test_nothing_is_said_and_nothing_fails_without_a_manager(tmp_path: Path) -> None:
    assert not ServiceManager().ready("x")
    assert not ServiceManager(str(tmp_path / "gone")).ready("x")


@pytest.mark.parametrize(
    "environ, address, watchdog_s",
    [
        ({}, None, None),
        ({"NOTIFY_SOCKET": ""}, None, None),
        ({"NOTIFY_SOCKET": "/run/n"}, "/run/n", None),
        ({"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "30000000"}, "@n", 30.0),
        ({"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, "@n", None),
        ({"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "500000", "WATCHDOG_PID": str(os.getpid())}, "@n", 0.5),
        ({"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "0"}, "@n", None),
        ({"NOTIFY_SOCKET": "@n", "WATCHDOG_USEC": "soon"}, "@n", None),
    ],
)
def test_the_environment_says_where_and_how_often_and_is_not_passed_on(
    environ: dict[str, str], address: str | None, watchdog_s: float | None
) -> None:
    environ["HOME"] = "/h"
    service = ServiceManager.from_environment(environ)
    assert (service.address, service.watchdog_s) == (address, watchdog_s)
    assert environ == {"HOME": "/h"}


def test_only_the_log_file_of_launchd_is_bounded() -> None:
    assert ServiceManager.from_environment({"XPC_SERVICE_NAME": "indexerd.x-1"}).log == STDERR
    assert ServiceManager.from_environment({"XPC_SERVICE_NAME": "0"}).log is None
    assert ServiceManager.from_environment({}).log is None


@pytest.mark.parametrize("size, left", [(LOG_BYTES, LOG_BYTES), (LOG_BYTES + 1, 0)])
def test_a_log_file_past_its_limit_starts_over(tmp_path: Path, size: int, left: int) -> None:
    with (tmp_path / "log").open("wb") as log:
        os.truncate(tmp_path / "log", size)
        os.lseek(log.fileno(), size, os.SEEK_SET)
        ServiceManager(log=log.fileno()).bound_log()
        assert (tmp_path / "log").stat().st_size == left
        os.write(log.fileno(), b"next")
    assert (tmp_path / "log").stat().st_size == left + len(b"next")


def test_a_log_that_is_no_file_is_left_alone() -> None:
    read_end, write_end = os.pipe()
    ServiceManager(log=write_end).bound_log()
    os.close(read_end)
    os.close(write_end)
    ServiceManager(log=write_end).bound_log()
