"""The table of faults names tests that are there, and every fault once."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PAGE = (TESTS.parent / "docs" / "internals" / "faults.md").read_text("utf-8")
ALWAYS_HELD = range(1, 45)
IN_THE_WILD = range(45, 77)  # found by strangers; each row comes with what mends it


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.py)::", PAGE))))
def test_every_test_that_is_named_is_there(name: str) -> None:
    named = set(re.findall(rf"`{re.escape(name)}::(\w+)`", PAGE))
    assert named <= functions_of(TESTS / name)


def test_every_long_form_that_is_named_is_there() -> None:
    for name in set(re.findall(r"`(crash\.\w+)`", PAGE)):
        assert importlib.util.find_spec(f"tests.{name}") is not None, name


def test_every_fault_has_its_row() -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)]
    assert len(numbers) == len(set(numbers))
    assert set(ALWAYS_HELD) <= set(numbers) <= {*ALWAYS_HELD, *IN_THE_WILD}
