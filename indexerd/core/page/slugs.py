"""Slugs: a page's key, made from its path alone, and who has it where paths collide (spec 1.3).

The only part of a projection that depends on neighbours, so it is kept apart from the page and
assigned in reconcile. A heading or a title never makes a slug.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from indexerd.core.model import Diagnostic

# Files that are the page of their folder, and their order where a folder holds several.
FOLDER_PAGES: Final = ("readme", "index", "_index")
_EXTENSION_ORDER: Final = ("md", "markdown")


@dataclass(frozen=True, slots=True)
class Slugged:
    """A page's slug; `winner` is the path that has the slug it would have had, None without one."""

    slug: str
    winner: str | None = None


def base_slug(path: str) -> str:
    """The slug of a path before collisions are settled; pages that share one are neighbours."""
    path = _nfc(path)
    folder, _, name = path.rpartition("/")
    stem = _stem(name)
    if folder and stem.casefold() in FOLDER_PAGES:
        return folder
    return f"{folder}/{stem}" if folder else stem


def is_folder_page(path: str) -> bool:
    """Whether a file is the page of its folder; the root's own README keeps its name."""
    folder, _, name = path.rpartition("/")
    return bool(folder) and _stem(name).casefold() in FOLDER_PAGES


def path_stem(path: str) -> str:
    """What names a page where neither front matter nor a heading does: its stem, or its folder."""
    return base_slug(path).rpartition("/")[2]


def affected_groups(path: str) -> tuple[str, ...]:
    """The base slugs whose pages may get another slug when a page comes or goes at `path`.

    The second one: a page named like this one's slug may have had it as its full path.
    """
    base = base_slug(path)
    return (base, base_slug(base)) if "." in base.rpartition("/")[2] else (base,)


def claimed_by_losers(paths: Iterable[str]) -> frozenset[str]:
    """The base slugs that must also be known to settle `paths`: what a loser among them would take."""
    return frozenset(_nfc(path) for path in paths)


def assign_slugs(paths: Iterable[str]) -> dict[str, Slugged]:
    """The slug of each path.

    `paths` holds whole groups: all pages that share a base slug with one that is to be settled, and
    the groups of `claimed_by_losers`. The result does not depend on their order.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        groups[base_slug(path)].append(path)
    result: dict[str, Slugged] = {}
    taken: set[str] = set(groups)
    for base in sorted(groups):
        winner, *losers = sorted(groups[base], key=_precedence)
        result[winner] = Slugged(base)
        for loser in losers:
            slug = _nfc(loser)
            if slug in taken:
                # Another page's own slug, or another spelling of the same name. No base slug starts
                # with a slash and no path is there twice, so this one is free.
                slug = f"/{loser}"
            taken.add(slug)
            result[loser] = Slugged(slug, winner)
    return result


def collision_diagnostic(slugged: Slugged, base: str) -> Diagnostic:
    """What a page is told whose slug went to another one."""
    message = (
        f"the slug {base!r} belongs to {slugged.winner!r}, so this page is {slugged.slug!r}; "
        "rename one of the two files"
    )
    return Diagnostic("slug_collision", message)


def _precedence(path: str) -> tuple[int, int, bytes]:
    name = _nfc(path).rpartition("/")[2]
    stem, extension = _stem(name).casefold(), name.rpartition(".")[2].casefold()
    rank = FOLDER_PAGES.index(stem) if is_folder_page(path) else len(FOLDER_PAGES)
    order = _EXTENSION_ORDER.index(extension) if extension in _EXTENSION_ORDER else len(_EXTENSION_ORDER)
    return rank, order, path.encode("utf-8", "surrogateescape")


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
