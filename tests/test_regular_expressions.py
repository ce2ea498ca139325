"""Every regular expression of both programs matches the same on every Python that they run on.

CPython before 3.11.5 loses its place where a possessive quantifier repeats more than one character
(gh-100061): `re.match(r"(?:xy*+a)*+", "xyb").span()` is (0, 1) there. Debian 12 ships such a 3.11.2.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from re import _constants, _parser  # type: ignore[attr-defined]  # where Python keeps its own reading of a pattern
from typing import Any, Final

import pytest

from tests.imports import SOURCES, Module, read_modules

MODULES: Final = read_modules(SOURCES)
SINGLE: Final = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN}
MAY_BE_POSSESSIVE: Final = re.compile(r"[*+?}]\+")


def possessive_bodies(parsed: Iterable[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
    """What each possessive quantifier of a parsed pattern repeats, at any depth."""
    for operator, argument in parsed:
        if operator is _constants.POSSESSIVE_REPEAT:
            yield list(argument[2])
        yield from possessive_bodies(_inside(argument))


def _inside(argument: Any) -> Iterator[tuple[Any, Any]]:
    """The parsed items below an operator, wherever its argument keeps them."""
    if isinstance(argument, _parser.SubPattern):
        yield from argument
    elif isinstance(argument, (tuple, list)):
        for each in argument:
            yield from _inside(each)


def repeats_a_group_possessively(pattern: str, flags: int = 0) -> bool:
    return any(
        len(body) != 1 or body[0][0] not in SINGLE
        for body in possessive_bodies(_parser.parse(pattern, flags))
    )


def patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from patterns_in(list(value.values()))
    elif isinstance(value, (tuple, list, frozenset, set)):
        for each in value:
            yield from patterns_in(each)


def patterns_made_late(module: Module) -> Iterator[str]:
    """The source of each pattern that a function hands to `re`."""
    functions = [node for node in ast.walk(module.tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    for node in (inner for function in functions for inner in ast.walk(function)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
            yield ast.unparse(node.args[0])


@pytest.mark.parametrize(
    "pattern", [r"(?:xy*+a)*+", r"(?:ab?c)?+", r"x(y|(?:ab){1,3}+)", r"(?=(?:ab)++)", r"(a)?(?(1)(?:bc)*+|d)"]
)
def test_a_group_that_is_repeated_possessively_is_seen(pattern: str) -> None:
    assert repeats_a_group_possessively(pattern)


@pytest.mark.parametrize("pattern", [r"a*+", r"[^\n]*+", r"(?:[^\n]++\n)*", r".?+", r"\s{1,3}+"])
def test_a_character_may_be_repeated_possessively(pattern: str) -> None:
    assert not repeats_a_group_possessively(pattern)


def test_no_pattern_repeats_a_group_possessively() -> None:
    found = 0
    for name in MODULES:
        if name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(name)).values():
            for pattern in patterns_in(value):
                found += 1
                assert not repeats_a_group_possessively(pattern.pattern, pattern.flags), (name, pattern)
    assert found > 50


def test_a_pattern_that_a_function_makes_has_no_possessive_quantifier() -> None:
    """Such a pattern is known only when the function runs, so the whole kind is refused."""
    for module in MODULES.values():
        for source in patterns_made_late(module):
            assert not MAY_BE_POSSESSIVE.search(source), (module.name, source)
