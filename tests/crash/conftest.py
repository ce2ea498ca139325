"""The short forms have no time for the interval that people need."""

from __future__ import annotations

import pytest

from tests.crash.process import SCANS_OFTEN


@pytest.fixture(autouse=True)
def scans_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost is looked for twice a second."""
    for name, value in SCANS_OFTEN.items():
        monkeypatch.setenv(name, value)
