"""Which page a link means: the steps of spec 1.6, over the pages that share a name with its target.

Pure: what is looked up comes in as `Sought`, the pages as `Namesakes` by key, and nothing is fetched.
Which keys decide is told before, so a store knows which links to look at again when a name comes or goes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

from indexerd.contract.terms import fold_path
from indexerd.core.model import Link, LinkKind
from indexerd.core.page.links import NAME_KINDS, resolve_path
from indexerd.core.page.page_names import ADDRESS_MARK, NameRank, fold_separators, published_path
from indexerd.core.page.slugs import FOLDER_PAGES

_NAMESPACE: Final = "___"  # what Logseq makes of a slash in the name of a page
_OTHER_ENDING: Final = re.compile(r"\.(?!(?:md|markdown)$)[A-Za-z][A-Za-z0-9]{0,5}$", re.IGNORECASE)


_FIXED: Final = ("", ".", "/")  # how a path begins that says itself from where it counts


class Way(IntEnum):
    """How a target is looked up: as a Markdown path, as a wikilink's name, or as one path and no other."""

    PATH = 0
    NAME = 1
    EXACT = 2


class How(StrEnum):
    """By which step a link was resolved (spec 1.6)."""

    ROOT = "root"
    OWN = "own"
    SUFFIX = "suffix"
    FOLDER = "folder"
    LABEL = "label"
    ALIAS = "alias"
    TITLE = "title"
    SEPARATOR = "separator"
    RELATIVE = "relative"
    PUBLISHED = "published"
    ADDRESS = "address"
    SITE = "site"
    NAME = "name"


class Sought(NamedTuple):
    """What a link looks up.

    `folder`: of the page it stands on, where that decides. `path`: the name, or the path from the root.
    `written`: the path as it is spelled (`Link.written`). `whole` and `label`: of a wikilink, since a
    name may hold a `#` and what is right of the bar may be the page; empty for none.
    """

    way: int
    folder: str
    path: str
    written: str = ""
    whole: str = ""
    label: str = ""


class Meaning(NamedTuple):
    """The page that is meant. `is_ambiguous`: others were as near. `is_whole`: its name holds the `#`."""

    page_id: int
    how: How
    is_ambiguous: bool = False
    is_whole: bool = False


class Named(NamedTuple):
    """A page with one of its names. `name`: an alias or an address as written."""

    rank: int
    page_id: int
    path: str
    slug: str
    name: str | None


class Namesakes:
    """The pages that share a key, asked for by path. Sorted once, however many links ask."""

    def __init__(self, rows: Iterable[Named] = ()) -> None:
        self.rows = tuple(rows)
        self._files: dict[str, list[Named]] = {}
        self._folders: dict[str, list[Named]] = {}
        self._chosen: dict[tuple[object, ...], _Nearest | None] = {}
        for row in {row.page_id: row for row in self.rows}.values():
            stem = row.path.rpartition(".")[0] or row.path
            for path in {fold_path(row.path), fold_path(stem)}:
                self._files.setdefault(path, []).append(row)
            folder = row.path.rpartition("/")[0]
            if folder and row.slug == _nfc(folder):
                self._folders.setdefault(fold_path(row.slug), []).append(row)
            elif not folder and stem.casefold() in FOLDER_PAGES:
                self._folders.setdefault("", []).append(row)
        of_root = self._folders.get("", [])
        of_root.sort(key=lambda row: FOLDER_PAGES.index(row.path.rpartition(".")[0].casefold()))
        del of_root[1:]

    def file_at(self, path: str, how: How) -> Meaning | None:
        """The page at a path from the root, with or without its ending."""
        return self._told(("file", path), lambda: self._files.get(fold_path(path), ()), path, "", how)

    def folder_at(self, path: str, how: How = How.FOLDER) -> Meaning | None:
        """The page of a folder."""
        return self._told(("folder", path), lambda: self._folders.get(fold_path(path), ()), path, "", how)

    def file_ending(self, path: str, folder: str, how: How) -> Meaning | None:
        """The page whose path ends in this one, the nearest to `folder`."""
        found = self._ending(self._files, path)
        return self._told(("files", path), lambda: found, path, folder, how)

    def folder_ending(self, path: str, folder: str, how: How = How.FOLDER) -> Meaning | None:
        """The page of the nearest folder whose path ends in this one."""
        found = self._ending(self._folders, path)
        return self._told(("folders", path), lambda: found, path, folder, how)

    def called(self, name: str, folder: str, rank: NameRank, how: How) -> Meaning | None:
        """The nearest page with this alias, title or address."""
        found = [row for row in self.rows if row.rank == rank]
        return self._told((rank, name), lambda: found, name, folder, how)

    def separated_otherwise(self, path: str, folder: str) -> Meaning | None:
        """The nearest page whose path ends in this one, blanks, `-` and `_` taken for one."""
        wanted = f"/{fold_separators(path)}"

        def fitting() -> list[Named]:
            places = (*self._files.items(), *self._folders.items())
            return [
                row for own, rows in places if f"/{fold_separators(own)}".endswith(wanted) for row in rows
            ]

        return self._told(("separated", path), fitting, path, folder, How.SEPARATOR)

    def _ending(self, places: dict[str, list[Named]], path: str) -> Iterator[Named]:
        ending = f"/{fold_path(path)}"
        return (row for own, rows in places.items() if f"/{own}".endswith(ending) for row in rows)

    def _told(
        self,
        asked: tuple[object, ...],
        find: Callable[[], Iterable[Named]],
        written: str,
        folder: str,
        how: How,
    ) -> Meaning | None:
        if asked not in self._chosen:
            found = tuple({row.page_id: row for row in find()}.values())
            exact = tuple(row for row in found if _is_spelled(row, written))
            self._chosen[asked] = _Nearest(exact or found) if found else None
        nearest = self._chosen[asked]
        return nearest.to(folder, how) if nearest else None


class _Nearest:
    """Of several pages the nearest to a folder: most leading folders shared, shortest path, bytes."""

    def __init__(self, rows: Iterable[Named]) -> None:
        self._best: dict[str, Named] = {}
        self._several: set[str] = set()
        for row in sorted(rows, key=lambda row: (len(row.path), row.path.encode())):
            place = row.path
            while place:
                place = place.rpartition("/")[0]
                if self._best.setdefault(place, row) is not row:
                    self._several.add(place)

    def to(self, folder: str, how: How) -> Meaning:
        while folder not in self._best:
            folder = folder.rpartition("/")[0]
        return Meaning(self._best[folder].page_id, how, is_ambiguous=folder in self._several)


def sought_by(link: Link, folder: str) -> Sought | None:
    """What a link on a page in `folder` looks up; None where there is nothing."""
    if link.path is None:
        return None
    if link.kind not in NAME_KINDS:
        return Sought(Way.PATH, "" if link.written[:1] in _FIXED else folder, link.path, link.written)
    if link.written:
        return Sought(Way.EXACT, "", link.path, link.written)
    whole = link.whole or ""
    label = link.label if link.kind is LinkKind.WIKILINK and link.label != link.target else ""
    return Sought(Way.NAME, folder, link.path, "", whole, "" if _OTHER_ENDING.search(link.path) else label)


def first_key(sought: Sought) -> str:
    """The key whose names decide alone where the first steps find a page."""
    return fold_path(sought.path.rstrip("/"))


def further_keys(sought: Sought) -> frozenset[str]:
    """All other keys whose names may decide where the first steps find none."""
    if sought.way == Way.EXACT:
        return frozenset()
    if sought.way == Way.NAME:
        names = [name for name in (sought.path, sought.whole, _right_name(sought)) if name]
        names += [name.replace("/", _NAMESPACE) for name in names if "/" in name]
        keys = {fold_path(key) for name in names for key in (name, _last(name))}
        keys |= {fold_separators(_last(name)) for name in names}
    else:
        paths = [sought.path, published_path(sought.path)]
        if (from_root := _path_from_root(sought)) is not None:
            paths += [from_root, published_path(from_root)]
        keys = {fold_path(key) for path in paths for key in (path.rstrip("/"), _last(path))}
        keys |= {ADDRESS_MARK + fold_path(published_path(path)) for path in paths}
    return frozenset(keys - {first_key(sought)})


def meaning_at_first(sought: Sought, namesakes: Namesakes) -> Meaning | None:
    """The page that the first steps find, with the names of the first key alone."""
    path = sought.path.rstrip("/")
    if sought.way != Way.NAME:
        return _at_path(sought, namesakes)
    return (
        namesakes.file_at(path, How.ROOT)
        if "/" in path
        else _by_place(path, sought.folder, lambda _: namesakes)
    )


def meaning(sought: Sought, namesakes: Callable[[str], Namesakes]) -> Meaning | None:
    """The page that all steps find, with the names of all keys."""
    if sought.way == Way.NAME:
        found = _by_name(sought, sought.path.rstrip("/"), namesakes)
        if found is None and sought.whole:
            found = _by_name(sought, sought.whole, namesakes)
            return found and found._replace(is_whole=True)
        return found
    found = _at_path(sought, namesakes(first_key(sought)))
    return found if found or sought.way == Way.EXACT else _beyond_path(sought, namesakes)


def _at_path(sought: Sought, namesakes: Namesakes) -> Meaning | None:
    """The page at the path that a target spells, or of the folder that is there."""
    path = sought.path.rstrip("/")
    how = How.ROOT if sought.written.startswith("/") else How.RELATIVE
    if sought.written.endswith("/"):
        return namesakes.folder_at(path) or namesakes.file_at(path, How.PUBLISHED)
    return namesakes.file_at(path, how) or namesakes.folder_at(path)


def _beyond_path(sought: Sought, namesakes: Callable[[str], Namesakes]) -> Meaning | None:
    """What a Markdown target means that is no path of a page (1.6, from "then, where that is no page")."""
    from_root = _path_from_root(sought)
    paths = [sought.path] if from_root is None else [sought.path, from_root]
    if from_root is not None:
        there = namesakes(fold_path(from_root.rstrip("/")))
        if found := there.file_at(from_root.rstrip("/"), How.ROOT) or there.folder_at(from_root.rstrip("/")):
            return found
    for path in paths:
        known = published_path(path)
        there = namesakes(fold_path(known))
        if found := there.file_at(known, How.PUBLISHED) or there.folder_at(known, How.PUBLISHED):
            return found
    for path in paths:
        address = published_path(path)
        there = namesakes(ADDRESS_MARK + fold_path(address))
        if found := there.called(address, sought.folder, NameRank.ADDRESS, How.ADDRESS):
            return found
    if sought.written.startswith("/"):
        return _of_site(sought, namesakes)
    if from_root is None:
        return None
    return namesakes(fold_path(_last(from_root))).file_ending(from_root, sought.folder, How.NAME)


def _of_site(sought: Sought, namesakes: Callable[[str], Namesakes]) -> Meaning | None:
    """The only page whose path ends as an address from the root of a site; a lone word means too much."""
    path = published_path(sought.path)
    if not path or ("/" not in path and not sought.written.endswith("/")):
        return None
    there = namesakes(fold_path(_last(path)))
    found = [there.file_ending(path, "", How.SITE), there.folder_ending(path, "", How.SITE)]
    known = [each for each in found if each is not None]
    return known[0] if len(known) == 1 and not known[0].is_ambiguous else None


def _by_name(sought: Sought, name: str, namesakes: Callable[[str], Namesakes]) -> Meaning | None:
    """Steps 2 to 9 for one spelling of a wikilink's name."""
    folder = sought.folder
    found = _by_place(name, folder, namesakes)
    if found is None and "/" in name:
        found = _by_place(name.replace("/", _NAMESPACE), folder, namesakes)
    if found is None and (right := _right_name(sought)):
        found = _by_place(right, folder, namesakes)
        found = found and found._replace(how=How.LABEL)
    if found is None:
        same = namesakes(fold_path(name))
        found = same.called(name, folder, NameRank.ALIAS, How.ALIAS) or same.called(
            name, folder, NameRank.TITLE, How.TITLE
        )
    return found or namesakes(fold_separators(_last(name))).separated_otherwise(name, folder)


def _by_place(name: str, folder: str, namesakes: Callable[[str], Namesakes]) -> Meaning | None:
    """Steps 2 to 5: from the root, from the own folder, the nearest that ends so, the page of a folder."""
    at_root = namesakes(fold_path(name))
    own = f"{folder}/{name}" if folder else name
    if found := at_root.file_at(name, How.ROOT):
        return found
    last = _last(name)
    there = namesakes(fold_path(last))
    inside = f"{name}/{last}"  # a note that bears the name of its folder
    return (
        there.file_at(own, How.OWN)
        or there.file_ending(name, folder, How.SUFFIX)
        or there.folder_at(name)
        or there.file_at(inside, How.FOLDER)
        or there.folder_at(own)
        or there.file_at(f"{own}/{last}", How.FOLDER)
        or there.folder_ending(name, folder)
        or there.file_ending(inside, folder, How.FOLDER)
    )


def _right_name(sought: Sought) -> str:
    """What stands right of the bar, which may be the page: GitHub wikis and Dendron write the label first."""
    return sought.label.partition("#")[0].strip().strip("/")


def _path_from_root(sought: Sought) -> str | None:
    """A Markdown target read from the root; None where it says from where it counts."""
    return None if sought.written[:1] in _FIXED else resolve_path("", sought.written)


def _is_spelled(row: Named, written: str) -> bool:
    """Whether a page, or its alias, is spelled as the target is, case and all."""
    written = _nfc(written)
    spellings = row.path, row.path.rpartition(".")[0], row.slug, row.name or ""
    return any(f"/{_nfc(spelling)}".endswith(f"/{written}") for spelling in spellings)


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
