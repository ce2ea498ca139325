"""What the modules of this project import, read from their syntax trees; nothing is executed.

Used by the tests of the architecture. Knows nothing about what is allowed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = {"indexerd": REPOSITORY / "indexerd", "wikiq": REPOSITORY / "cli" / "wikiq"}


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: its dotted name, where it lies, and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def lines(self) -> int:
        return len(self.path.read_text("utf-8").splitlines())


def parse_module(name: str, path: Path) -> Module:
    """The module `name` as it stands in the file at `path`."""
    return Module(name, path, ast.parse(path.read_text("utf-8"), str(path)))


def read_modules(sources: Mapping[str, Path]) -> dict[str, Module]:
    """Every module below the folders in `sources` (package name -> folder), by dotted name."""
    modules = {}
    for package, folder in sources.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *(part for part in parts if part != "__init__")))
            modules[name] = parse_module(name, path)
    return modules


def imported_names(module: Module) -> Iterator[str]:
    """Dotted names that `module` imports, at any depth; `from a import b` gives `a.b`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.package.split(".")[: len(module.package.split(".")) - node.level + 1]
                base = ".".join((*above, base) if base else above)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def imported_modules(module: Module, known: Mapping[str, Module]) -> set[str]:
    """The modules of this project that `module` imports; `from package import module` counts once."""
    found = set()
    for name in imported_names(module):
        if name in known:
            found.add(name)
        elif (parent := name.rpartition(".")[0]) in known:
            found.add(parent)
    return found - {module.name}


def imported_outside(module: Module) -> set[str]:
    """Top-level names from outside this project that `module` imports."""
    return {name.partition(".")[0] for name in imported_names(module)} - SOURCES.keys()


def find_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """One path of `graph` that comes back to where it began, or an empty list."""
    done: set[str] = set()

    def follow(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for target in sorted(graph.get(node, ())):
            if cycle := follow(target, [*path, node]):
                return cycle
        done.add(node)
        return []

    return next((cycle for node in sorted(graph) if (cycle := follow(node, []))), [])
