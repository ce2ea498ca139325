"""Settings for every test: what may not reach it from the machine, or from the test before it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import structlog
from hypothesis import settings

from tests.strangers import put_on_path

# Hypothesis measures no time, since a busy machine is no fault of the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")

put_on_path()  # some tests look for them as they are collected

# A shell starts what runs in its background with interrupts ignored, and that is inherited.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS: Final = Path(__file__).parent
# What runs whole daemons, kills them, or asks other programs: left out of `make quick`.
SLOW_FOLDERS: Final = ("crash", "daemon", "eval", "postgres", "readers", "service")

OWN_VARIABLES: Final = (
    "INDEXERD_",
    "WIKIQ_",
    "XDG_",
    "NOTIFY_SOCKET",
    "WATCHDOG_",
    "NO_COLOR",
    "COLUMNS",
    "PAGER",
)


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what lies in the slow folders, and put the files with slow tests first.

    Two processes take the files in this order, so that neither has a long one left at the end.
    """
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session", autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An empty home folder, and none of the variables that the commands obey."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(OWN_VARIABLES):
                patch.delenv(name)
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(autouse=True)
def fresh_logs() -> Iterator[None]:
    """No logger outlives its test, for the stream it was given does not."""
    yield
    structlog.reset_defaults()
