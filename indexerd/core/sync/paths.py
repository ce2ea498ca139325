"""Root-relative paths as text: below, above, outermost. `/` separates, '' is the root itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

WHOLE_TREE: Final = ("",)


def outermost(covers: Iterable[str]) -> tuple[str, ...]:
    """The covers without those that lie below another one, in order."""
    distinct = set(covers)
    if "" in distinct:
        return WHOLE_TREE
    return tuple(sorted(cover for cover in distinct if distinct.isdisjoint(_above(cover))))


def _above(path: str) -> Iterator[str]:
    """The folders that `path` lies in, without the root."""
    while path := path.rpartition("/")[0]:
        yield path


ROOT: Final = ""  # the root's own path


def parent_of(path: str) -> str:
    """The folder a path lies in, `ROOT` at the top."""
    return path.rpartition("/")[0]


def folders_above(path: str) -> Iterator[str]:
    """The folders that hold `path`, nearest first, the root last."""
    while path != ROOT:
        path = parent_of(path)
        yield path
