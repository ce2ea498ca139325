"""What the house allows: which module may import which, what is pure, and how large things may be.

A module that is not in the tables below fails the test: whoever adds one says where it stands. The
rules themselves are explained in docs/decisions; here is only what holds.
"""

from __future__ import annotations

import ast
import json
import re
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

# The rooms of both programs and what each may import besides itself (docs/CONTRIBUTING.md). A room stands
# for all modules below it that no longer entry names. `errors` is open to its own program.
BELOW_CORE: Final = {"indexerd.core.model", "indexerd.contract"}
CORE: Final = {
    "indexerd.core", "indexerd.core.markdown", "indexerd.core.page", "indexerd.core.chunks",
    "indexerd.core.sync", *BELOW_CORE,
}  # fmt: skip
# What the index keeps of the core: records, names of pages, plans; nothing that reads Markdown.
BELOW_STORE: Final = {"indexerd.core.page", "indexerd.core.sync", *BELOW_CORE}
STORE: Final = {"indexerd.store", "indexerd.store.file", "indexerd.store.read"}
BELOW_DAEMON: Final = {
    "indexerd.setup", "indexerd.service", "indexerd.pipeline", "indexerd.tree", *STORE, *CORE,
}  # fmt: skip
SHARED: Final = {"indexerd.contract"}
INDEX_ROOMS: Final = {"wikiq.index", "wikiq.model"}
BELOW_ANSWERS: Final = {"wikiq.snippet", "wikiq.ranking", "wikiq.query", *INDEX_ROOMS}
ROOMS: Final[dict[str, set[str]]] = {
    "indexerd": set(),
    "indexerd.errors": set(),
    "indexerd.contract": set(),
    "indexerd.core.model": set(),
    "indexerd.core": {"indexerd.core.chunks", "indexerd.core.page", "indexerd.core.markdown", *BELOW_CORE},
    "indexerd.core.markdown": BELOW_CORE,
    "indexerd.core.page": {"indexerd.core.markdown", *BELOW_CORE},
    "indexerd.core.chunks": {"indexerd.core.markdown", "indexerd.core.page", *BELOW_CORE},
    "indexerd.core.sync": {"indexerd.core.page", *BELOW_CORE},
    "indexerd.tree": BELOW_STORE,
    "indexerd.store": {"indexerd.store.file", "indexerd.store.read", "indexerd.store.write", *BELOW_STORE},
    "indexerd.store.file": SHARED,
    "indexerd.store.read": {"indexerd.store.file", *BELOW_STORE},
    "indexerd.store.write": {"indexerd.store.file", "indexerd.store.read", *BELOW_STORE},
    "indexerd.pipeline": {"indexerd.tree", *STORE, *CORE},
    "indexerd.service": {"indexerd.contract"},
    "indexerd.setup": {"indexerd.pipeline", "indexerd.service", "indexerd.tree", *STORE, *CORE},
    "indexerd.daemon": BELOW_DAEMON,
    "indexerd.command": {"indexerd.daemon", *BELOW_DAEMON},
    "indexerd.main": {"indexerd.command"},
    "wikiq": INDEX_ROOMS,
    "wikiq.errors": set(),
    "wikiq.model": SHARED,
    "wikiq.index": {"wikiq.model", *SHARED},
    "wikiq.query": {*INDEX_ROOMS, *SHARED},
    "wikiq.ranking": {"wikiq.query", *INDEX_ROOMS, *SHARED},
    "wikiq.snippet": {"wikiq.ranking", "wikiq.query", *SHARED},
    "wikiq.answers": {*BELOW_ANSWERS, *SHARED},
    "wikiq.output": {"wikiq.model", *SHARED},
    "wikiq.eval": {"wikiq.ranking", "wikiq.query", *INDEX_ROOMS, *SHARED},
    "wikiq.shell": {"wikiq.answers", "wikiq.output", "wikiq.query", *INDEX_ROOMS, *SHARED},
    "wikiq.mcp": {"wikiq.answers", "wikiq.query", *INDEX_ROOMS, *SHARED},
    "wikiq.web": {
        "wikiq.web.rendering",
        "wikiq.shell",
        "wikiq.answers",
        "wikiq.output",
        "wikiq.query",
        *INDEX_ROOMS,
        *SHARED,
    },
    "wikiq.web.rendering": {"wikiq.answers", "indexerd.core.markdown", *SHARED},
    "wikiq.feed": {"wikiq.index", "wikiq.model", *SHARED},
    "wikiq.commands": {
        "wikiq.feed",
        "wikiq.shell",
        "wikiq.answers",
        "wikiq.output",
        "wikiq.eval",
        "wikiq.mcp",
        "wikiq.web",
        "wikiq.query",
        *INDEX_ROOMS,
        *SHARED,
    },
    "wikiq.main": {"wikiq.commands", "wikiq.shell", "wikiq.output", "wikiq.mcp"},
}

# What of the writer the reader may load: it must agree with it, and pays for every module at its start.
READER_MAY_IMPORT: Final = {"indexerd.contract"}
# The viewer's renderer reads Markdown as the index does, so that anchors and links agree.
RENDERER_MAY_IMPORT: Final = {"indexerd.core.markdown", *READER_MAY_IMPORT}

# Distributions and what alone may import them.
ONLY_IN: Final = {
    "anyio": {"indexerd.daemon", "indexerd.tree.watcher"},
    "apsw": {"indexerd.store"},
    "click": {"indexerd.main", "indexerd.command", "wikiq.commands"},
    "markdown_it": {"indexerd.core.markdown.parser", "indexerd.core.markdown.rules", "wikiq.web.rendering"},
    "latex2mathml": {"wikiq.web.rendering.regions"},
    "mdit_py_plugins": {"wikiq.web.rendering.reading"},
    "nh3": {"wikiq.web.rendering.safety"},
    "pygments": {"wikiq.web.rendering.code"},
    "psycopg": {"wikiq.index.postgres", "wikiq.feed"},
    "jinja2": {"wikiq.web.frame"},
    "starlette": {"wikiq.web.app", "wikiq.web.guarded"},
    "uvicorn": {"wikiq.web.serve"},
    "structlog": {"indexerd.command.logs"},
    "watchfiles": {"indexerd.tree.watcher"},
    "yaml": {"indexerd.core.page.yaml_subset"},
}

# Where statements stand; PRAGMAs of a connection are its own business.
SQL_IN: Final = {
    "indexerd.store",
    "wikiq.index.sql",
    "wikiq.index.postgres",
    "wikiq.feed.sql",
    "wikiq.feed.schema",
}
STATEMENT: Final = re.compile(r"\s*(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE|DROP|WITH \w+)\b")

# All of these compute; none of them looks at a clock, a disk, the environment or another process.
PURE: Final = {
    "__future__", "bisect", "codecs", "collections", "dataclasses", "datetime", "difflib", "enum", "errno",
    "functools", "graphlib", "hashlib", "hmac", "html", "itertools", "json", "math", "operator", "posixpath",
    "re", "string", "tomllib", "types", "typing", "unicodedata", "urllib",
    "zlib",
}  # fmt: skip
# Rooms whose modules compute; what query, ranking and snippet fetch, their snapshot fetches for them.
PURE_ROOMS: Final = {"indexerd.core", "wikiq.query", "wikiq.ranking", "wikiq.snippet", "wikiq.web.rendering"}
# What the viewer decides on the head of a request, and the addresses it makes and reads.
PURE_MODULES: Final = {"wikiq.web.addresses", "wikiq.web.guard", "wikiq.web.parameters"}
IMPURE_CALLS: Final = {"open", "print", "input", "now", "today", "utcnow", "exec", "eval"}

VAGUE_NAMES: Final = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "handler"}

NOT_LOADED_BY_WIKIQ: Final = {
    "anyio", "apsw", "click", "jinja2", "markdown_it", "nh3", "psycopg", "pygments", "starlette", "structlog",
    "uvicorn", "watchfiles", "yaml",
    "asyncio", "multiprocessing", "concurrent.futures", "urllib.request",
}  # fmt: skip

PROGRAMS: Final = {"indexerd", "wikiq"}

MODULES: Final = read_modules(SOURCES)


def stands_for(name: str, listed: str) -> bool:
    """Whether the table entry `listed` is about the module `name`."""
    return name == listed or (listed not in PROGRAMS and name.startswith(f"{listed}."))


def room_of(name: str) -> str:
    """The room a module stands in: the longest entry about it. Fails for one that has no place."""
    rooms = [listed for listed in ROOMS if stands_for(name, listed)]
    assert rooms, f"{name} has no place in the table of rooms"
    return max(rooms, key=len)


def may_import(importer: str, imported: str) -> bool:
    """Whether an arrow from one module to another is allowed."""
    here, there = room_of(importer), room_of(imported)
    own_errors = f"{importer.partition('.')[0]}.errors"
    return there in {here, own_errors} or there in ROOMS[here]


def is_listed(name: str, listed: set[str]) -> bool:
    return any(stands_for(name, entry) for entry in listed)


def named(prefix: str) -> list[Module]:
    return [module for name, module in MODULES.items() if name == prefix or name.startswith(f"{prefix}.")]


def impure_parts(module: Module) -> set[str]:
    """Imports and calls in `module` by which it would depend on more than its arguments."""
    calls = {
        node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    }
    allowed = PURE | {library for library, users in ONLY_IN.items() if is_listed(module.name, users)}
    return (imported_outside(module) - allowed) | (calls & IMPURE_CALLS)


def long_functions(tree: ast.Module) -> list[tuple[str, int]]:
    """Functions past the limit, with their lengths in lines."""
    lengths = [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return [(name, length) for name, length in lengths if length > FUNCTION_LINES]


def foreign_assignments(tree: ast.Module) -> list[str]:
    """The attributes and items of other objects that a module assigns, as it writes them."""
    stored = [node for node in ast.walk(tree) if isinstance(getattr(node, "ctx", None), ast.Store)]
    targets = [node.value if isinstance(node, ast.Subscript) else node for node in stored]
    return [
        ast.unparse(target)
        for target in targets
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) != "self"
    ]


def statements(module: Module) -> list[str]:
    """String constants of `module` that are SQL."""
    constants = (node.value for node in ast.walk(module.tree) if isinstance(node, ast.Constant))
    return [text for text in constants if isinstance(text, str) and STATEMENT.match(text)]


def test_every_entry_of_the_table_is_a_module_that_exists() -> None:
    assert [listed for listed in ROOMS if listed not in MODULES] == []
    named_there = set().union(*ROOMS.values())
    assert named_there <= ROOMS.keys()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_an_import_stays_in_its_room_or_follows_the_table(name: str) -> None:
    imported = imported_modules(MODULES[name], MODULES)
    assert [other for other in sorted(imported) if not may_import(name, other)] == []


def test_the_table_of_rooms_has_no_way_back() -> None:
    assert find_cycle(ROOMS) == []


@pytest.mark.parametrize("name", sorted(module.name for module in named("wikiq")))
def test_the_reader_loads_of_the_writer_only_the_contract(name: str) -> None:
    imported = imported_modules(MODULES[name], MODULES)
    is_renderer = room_of(name) == "wikiq.web.rendering"
    allowed = RENDERER_MAY_IMPORT if is_renderer else READER_MAY_IMPORT
    assert [
        other for other in imported if not other.startswith("wikiq") and not is_listed(other, allowed)
    ] == []


def test_no_import_leads_back_to_where_it_started() -> None:
    assert find_cycle({name: imported_modules(module, MODULES) for name, module in MODULES.items()}) == []


@pytest.mark.parametrize(
    "name", sorted(name for name in MODULES if is_listed(name, PURE_ROOMS | PURE_MODULES))
)
def test_a_pure_room_depends_on_nothing_but_its_arguments(name: str) -> None:
    assert impure_parts(MODULES[name]) == set()


@pytest.mark.parametrize("name", sorted(name for name in MODULES if is_listed(name, READER_MAY_IMPORT)))
def test_the_contract_needs_only_the_standard_library(name: str) -> None:
    assert imported_outside(MODULES[name]) <= sys.stdlib_module_names


@pytest.mark.parametrize("library", sorted(ONLY_IN))
def test_a_library_is_used_in_one_place(library: str) -> None:
    users = {name for name, module in MODULES.items() if library in imported_outside(module)}
    assert users
    assert [name for name in users if not is_listed(name, ONLY_IN[library])] == []


@pytest.mark.parametrize("name", sorted(name for name in MODULES if not is_listed(name, SQL_IN)))
def test_statements_stand_in_one_place_on_either_side(name: str) -> None:
    assert statements(MODULES[name]) == []


def test_only_the_command_that_serves_imports_the_viewer() -> None:
    importers = {
        name
        for name, module in MODULES.items()
        if any(other.startswith("wikiq.web") for other in imported_modules(module, MODULES))
    }
    assert {name for name in importers if not name.startswith("wikiq.web")} == {"wikiq.commands.serve"}


def test_no_other_library_is_used() -> None:
    outside = set().union(*(imported_outside(module) for module in MODULES.values()))
    assert outside <= sys.stdlib_module_names | ONLY_IN.keys()


@pytest.mark.parametrize(
    "name",
    [
        "indexerd",
        *(
            name
            for name, module in MODULES.items()
            if is_listed(name, {"indexerd.core"}) and module.is_package
        ),
    ],
)
def test_packages_of_the_writer_are_empty(name: str) -> None:
    assert MODULES[name].tree.body == []


@pytest.mark.parametrize("name", sorted(name for name, module in MODULES.items() if module.tree.body))
def test_a_module_says_what_it_is_for_and_stays_small(name: str) -> None:
    module = MODULES[name]
    assert ast.get_docstring(module.tree)
    assert module.lines <= MODULE_LINES
    assert long_functions(module.tree) == []
    assert VAGUE_NAMES.isdisjoint(name.split("."))


@pytest.mark.parametrize("name", sorted(module.name for module in named("indexerd.daemon")))
def test_the_daemon_tells_its_objects_what_happened_and_assigns_them_nothing(name: str) -> None:
    assert foreign_assignments(MODULES[name].tree) == []


@pytest.mark.parametrize(
    "path", sorted((REPOSITORY / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(REPOSITORY))
)
def test_a_test_module_says_what_it_holds_and_keeps_functions_short(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree) or not tree.body
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
    return datetime.datetime.now(), "DELETE FROM page"
"""


@pytest.mark.parametrize("room", sorted(room for room in ROOMS if is_listed(room, PURE_ROOMS)))
@pytest.mark.parametrize(
    "planted, part",
    [("import subprocess", "subprocess"), ("from time import monotonic", "time"), ("datetime.now()", "now")],
)
def test_a_process_or_a_clock_planted_in_a_pure_room_is_seen(
    tmp_path: Path, room: str, planted: str, part: str
) -> None:
    name = next(name for name, module in MODULES.items() if room_of(name) == room and module.tree.body)
    path = tmp_path / "planted.py"
    path.write_text(f"{MODULES[name].path.read_text('utf-8')}\n{planted}\n", "utf-8")
    assert impure_parts(parse_module(name, path)) == {part}


@pytest.mark.parametrize(
    "importer, imported",
    [
        ("indexerd.contract.places", "indexerd.core.model"),
        ("indexerd.contract.terms", "wikiq.errors"),
        ("indexerd.core.model", "indexerd.core.project"),
        ("indexerd.core.page.links", "indexerd.core.chunks.chunks"),
        ("indexerd.tree.scanner", "indexerd.store.store"),
        ("indexerd.store.file.schema", "indexerd.store.read.rows"),
        ("indexerd.store.read.rows", "indexerd.core.markdown.parser"),
        ("indexerd.pipeline.indexer", "indexerd.daemon.loop"),
        ("indexerd.service.units", "indexerd.setup.config"),
        ("indexerd.daemon.loop", "indexerd.command.options"),
        ("wikiq.model.results", "wikiq.index.database"),
        ("wikiq.index.database", "wikiq.query.names"),
        ("wikiq.query.names", "wikiq.ranking.score"),
        ("wikiq.ranking.score", "wikiq.snippet.excerpt"),
        ("wikiq.snippet.excerpt", "wikiq.answers.search"),
        ("wikiq.answers.search", "wikiq.output.hits"),
        ("wikiq.output.hits", "wikiq.index.sql"),
        ("wikiq.eval.evaluate", "wikiq.output.terminal"),
        ("wikiq.shell.session", "wikiq.commands.group"),
        ("wikiq.shell.session", "wikiq.ranking.score"),
        ("wikiq.mcp.calls", "wikiq.shell.session"),
        ("wikiq.mcp.calls", "indexerd.core.markdown.parser"),
    ],
)
def test_an_import_planted_against_the_table_is_seen(tmp_path: Path, importer: str, imported: str) -> None:
    path = tmp_path / "planted.py"
    path.write_text(f"{MODULES[importer].path.read_text('utf-8')}\nimport {imported}\n", "utf-8")
    found = imported_modules(parse_module(importer, path), MODULES)
    assert [other for other in sorted(found) if not may_import(importer, other)] == [imported]


def test_an_assignment_to_another_object_is_seen() -> None:
    tree = ast.parse("self.a = 1\nself.a.b, c = 1, 2\nself.d.e['f'] += 1\ng['h'] = 2\ni.j = 3")
    assert sorted(foreign_assignments(tree)) == ["i.j", "self.a.b", "self.d.e"]


def test_the_checks_see_what_they_are_meant_to_see(tmp_path: Path) -> None:
    path = tmp_path / "links.py"
    path.write_text(BAD_CORE, "utf-8")
    module = parse_module("indexerd.core.links", path)
    known = dict.fromkeys(("indexerd.core", "indexerd.core.model", "indexerd.store"), module)
    assert imported_modules(module, known) == {"indexerd.core.model", "indexerd.store"}
    assert impure_parts(module) == {"os", "now"}
    assert long_functions(ast.parse("def f():\n" + "    pass\n" * FUNCTION_LINES)) == [("f", 71)]
    assert not may_import("indexerd.core.page.links", "indexerd.store.read.rows")
    assert not may_import("indexerd.core.markdown.parser", "indexerd.core.page.links")
    assert not may_import("indexerd.store.read.rows", "indexerd.tree.tree")
    assert not may_import("wikiq.ranking.score", "wikiq.output.hits")
    assert not may_import("wikiq.query.parse", "wikiq.ranking.score")
    assert not may_import("wikiq.index.locate", "indexerd.core.page.names")
    assert may_import("indexerd.store.read.rows", "indexerd.store.read.fetch")
    assert may_import("indexerd.tree.tree", "indexerd.errors")
    assert statements(module) == ["DELETE FROM page"]
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}}) == []
