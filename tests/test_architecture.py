"""What the house allows: which module may import which, what is pure, and how large things may be.

A module that is not in the tables below fails the test: whoever adds one says where it stands. The
rules themselves are explained in docs/decisions; here is only what holds.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.imports import (
    REPOSITORY,
    SOURCES,
    Module,
    find_cycle,
    imported_modules,
    imported_outside,
    parse_module,
    read_modules,
)

MODULE_LINES: Final = 400  # a file one can hold in mind; 250 is what is aimed at
FUNCTION_LINES: Final = 70  # from `def` to its last line; 40 is what is aimed at

# Lowest first. A module imports from layers below its own, and from its own only without a cycle.
LAYERS: Final = (
    {"indexerd", "indexerd.core", "indexerd.contract", "indexerd.errors"},
    {
        "indexerd.core.anchors",
        "indexerd.core.batch",
        "indexerd.core.chunks",
        "indexerd.core.decode",
        "indexerd.core.faults",
        "indexerd.core.front_matter",
        "indexerd.core.links",
        "indexerd.core.markdown",
        "indexerd.core.mentions",
        "indexerd.core.model",
        "indexerd.core.names",
        "indexerd.core.page",
        "indexerd.core.reconcile",
        "indexerd.core.sections",
        "indexerd.core.slugs",
        "indexerd.core.terms",
        "indexerd.core.topics",
    },
    {
        "indexerd.config",
        "indexerd.control",
        "indexerd.ignore",
        "indexerd.logs",
        "indexerd.opening",
        "indexerd.project",
        "indexerd.registry",
        "indexerd.store",
        "indexerd.tree",
        "indexerd.walk",
        "indexerd.watch",
    },
    {"indexerd.build"},
    {"indexerd.daemon", "indexerd.service"},
    {"indexerd.main"},
)

READER_MAY_IMPORT: Final = {"indexerd.contract", "indexerd.core.terms"}

# Distributions and what alone may import them.
ONLY_IN: Final = {
    "anyio": {"indexerd.daemon", "indexerd.watch", "indexerd.control"},
    "apsw": {"indexerd.store"},
    "click": {"indexerd.main", "wikiq.main"},
    "markdown_it": {"indexerd.core.markdown"},
    "pathspec": {"indexerd.ignore"},
    "structlog": {"indexerd.logs"},
    "watchfiles": {"indexerd.watch"},
    "yaml": {"indexerd.core.front_matter"},
}

# All of these compute; none of them looks at a clock, a disk, the environment or another process.
PURE: Final = {
    "__future__", "bisect", "collections", "dataclasses", "datetime", "difflib", "enum", "functools",
    "hashlib", "html", "itertools", "json", "math", "operator", "posixpath", "re", "string", "tomllib",
    "types", "typing", "unicodedata", "urllib",
}  # fmt: skip
IMPURE_CALLS: Final = {"open", "print", "input", "now", "today", "utcnow", "exec", "eval"}

VAGUE_NAMES: Final = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "handler"}

NOT_LOADED_BY_WIKIQ: Final = {
    "anyio", "apsw", "click", "markdown_it", "pathspec", "structlog", "watchfiles", "yaml",
    "asyncio", "multiprocessing", "concurrent.futures", "urllib.request",
}  # fmt: skip

MODULES: Final = read_modules(SOURCES)
LAYER_OF: Final = {name: height for height, layer in enumerate(LAYERS) for name in layer}


def named(prefix: str) -> list[Module]:
    return [module for name, module in MODULES.items() if name == prefix or name.startswith(f"{prefix}.")]


def impure_parts(module: Module) -> set[str]:
    """Imports and calls in `module` by which it would depend on more than its arguments."""
    calls = {
        node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }
    allowed = PURE | {name for name, users in ONLY_IN.items() if module.name in users}
    return (imported_outside(module) - allowed) | (calls & IMPURE_CALLS)


def long_functions(tree: ast.Module) -> list[tuple[str, int]]:
    """Functions past the limit, with their lengths in lines."""
    lengths = [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [(name, length) for name, length in lengths if length > FUNCTION_LINES]


def test_the_tables_and_the_files_name_the_same_modules() -> None:
    assert {module.name for module in named("indexerd")} == LAYER_OF.keys()
    assert "wikiq.main" in MODULES


@pytest.mark.parametrize("name", sorted(module.name for module in named("indexerd")))
def test_an_import_points_down_or_sideways_never_up(name: str) -> None:
    imported = imported_modules(MODULES[name], MODULES)
    assert {other for other in imported if LAYER_OF.get(other, 99) > LAYER_OF[name]} == set()


@pytest.mark.parametrize("name", sorted(module.name for module in named("wikiq")))
def test_the_reader_shares_only_the_contract_and_the_terms(name: str) -> None:
    imported = imported_modules(MODULES[name], MODULES)
    assert {other for other in imported if not other.startswith("wikiq")} <= READER_MAY_IMPORT


def test_no_import_leads_back_to_where_it_started() -> None:
    assert find_cycle({name: imported_modules(module, MODULES) for name, module in MODULES.items()}) == []


@pytest.mark.parametrize("name", sorted(module.name for module in named("indexerd.core")))
def test_the_core_depends_on_nothing_but_its_arguments(name: str) -> None:
    assert impure_parts(MODULES[name]) == set()


@pytest.mark.parametrize("name", sorted(READER_MAY_IMPORT))
def test_what_the_reader_shares_needs_only_the_standard_library(name: str) -> None:
    outside = imported_outside(MODULES[name])
    assert outside <= sys.stdlib_module_names
    assert imported_modules(MODULES[name], MODULES) <= READER_MAY_IMPORT


@pytest.mark.parametrize("library", sorted(ONLY_IN))
def test_a_library_is_used_in_one_place(library: str) -> None:
    users = {name for name, module in MODULES.items() if library in imported_outside(module)}
    assert users == ONLY_IN[library]


def test_no_other_library_is_used() -> None:
    outside = set().union(*(imported_outside(module) for module in MODULES.values()))
    assert outside <= sys.stdlib_module_names | ONLY_IN.keys()


@pytest.mark.parametrize("name", ["indexerd", "indexerd.core"])
def test_packages_of_the_writer_are_empty(name: str) -> None:
    assert MODULES[name].tree.body == []


@pytest.mark.parametrize("name", sorted(name for name, module in MODULES.items() if module.tree.body))
def test_a_module_says_what_it_is_for_and_stays_small(name: str) -> None:
    module = MODULES[name]
    assert ast.get_docstring(module.tree)
    assert module.lines <= MODULE_LINES
    assert long_functions(module.tree) == []
    assert VAGUE_NAMES.isdisjoint(name.split("."))


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(REPOSITORY))
)
def test_a_test_module_says_what_it_holds_and_keeps_functions_short(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree)
    assert long_functions(tree) == []


def test_the_command_that_searches_loads_nothing_heavy() -> None:
    script = "import wikiq.main, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=REPOSITORY)
    loaded = set(json.loads(done.stdout))
    assert "wikiq.main" in loaded
    assert loaded & NOT_LOADED_BY_WIKIQ == set()


BAD_CORE = """
import os, datetime
from . import model
from .model import Page
from ..store import Store
def stamp():
    return datetime.datetime.now()
"""


def test_the_checks_see_what_they_are_meant_to_see(tmp_path: Path) -> None:
    path = tmp_path / "links.py"
    path.write_text(BAD_CORE, "utf-8")
    module = parse_module("indexerd.core.links", path)
    known = dict.fromkeys(("indexerd.core", "indexerd.core.model", "indexerd.store"), module)
    assert imported_modules(module, known) == {"indexerd.core.model", "indexerd.store"}
    assert impure_parts(module) == {"os", "now"}
    assert long_functions(ast.parse("def f():\n" + "    pass\n" * FUNCTION_LINES)) == [("f", 71)]
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}}) == []
