"""The operator's page against the program: every setting, command, status and diagnostic is there."""

from __future__ import annotations

import json
import re

import click

from indexerd.command.group import cli
from indexerd.core.sync.reconcile import SCAN_KINDS
from indexerd.core.sync.retries import RETRY_AFTER_S
from indexerd.errors import IndexerdError
from indexerd.pipeline.workers import PAGE_BUDGET_S, WORKER_BYTES
from indexerd.setup.config import SETTINGS, Settings
from indexerd.tree.scanner import DEEPEST_FOLDER
from tests.imports import REPOSITORY

PAGE = (REPOSITORY / "docs" / "operations.md").read_text("utf-8")


def test_every_setting_is_a_row_with_its_flag_its_variable_and_its_default() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| `(--[\w-]+)` \| `(\w+)` \| (.+?) \|", PAGE, re.MULTILINE)
    defaults = Settings()
    for setting, (key, flag, variable, default) in zip(SETTINGS, rows, strict=True):
        assert (key, flag, variable) == (setting.key, setting.flag, f"INDEXERD_{setting.variable}")
        value = getattr(defaults, setting.field)
        if value is not None:
            assert default == f"`{json.dumps(value)}`"


def test_every_command_is_named() -> None:
    assert isinstance(cli, click.Group)
    for name in cli.commands:
        assert f"`indexerd {name}" in PAGE


def test_every_exit_status_is_explained() -> None:
    kinds = [IndexerdError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        assert f"\n| {kind.exit_status} | " in PAGE


def test_every_diagnostic_of_a_scan_is_explained() -> None:
    for kind in SCAN_KINDS:
        assert f"\n| `{kind}` | " in PAGE


def test_the_limits_are_those_of_the_program() -> None:
    assert f"more than {DEEPEST_FOLDER} folders deep" in PAGE
    assert f"more than {PAGE_BUDGET_S:.0f} s of CPU time or {WORKER_BYTES >> 20} MB" in PAGE
    assert "after {:.0f}, {:.0f} and {:.0f} s".format(*RETRY_AFTER_S) in PAGE
