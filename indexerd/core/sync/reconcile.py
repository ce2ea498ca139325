"""What a scan means for the index: stamps on disk against stamps in the index (spec 3.3).

Three states are kept apart: present, gone, could not be read. Compared by inequality, never by "newer
than". Pure: the scan, the rows and the time come in as arguments, what to do goes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from indexerd.contract.places import is_below
from indexerd.core.model import Diagnostic, Stamp
from indexerd.core.sync.model import IndexedPage

RACY_NS: Final = 2_000_000_000  # file systems with 1 s stamps hide a second edit (git's racy rule)

UNREADABLE: Final = "unreadable"  # until somebody changes its permissions
READ_FAILED: Final = "read_failed"  # the disk refused; perhaps not the next time
UNSETTLED: Final = "unsettled"
NOT_REGULAR: Final = "not_regular"
LINK_NOT_FOLLOWED: Final = "link_not_followed"
LINKED_WORKTREE: Final = "linked_worktree"
UNDECODABLE_NAME: Final = "undecodable_name"
TOO_DEEP_FOLDER: Final = "too_deep_folder"
IGNORE_INVALID: Final = "ignore_invalid"
TOPICS_INVALID: Final = "topics_invalid"
SETTINGS_INVALID: Final = "settings_invalid"
# What a scan says of a path. These come and go with a scan; what else is said of a path,
# that it lost its slug, comes and goes with its neighbours.
SCAN_KINDS: Final = frozenset(
    {
        UNREADABLE,
        READ_FAILED,
        UNSETTLED,
        NOT_REGULAR,
        LINK_NOT_FOLLOWED,
        LINKED_WORKTREE,
        UNDECODABLE_NAME,
        TOO_DEEP_FOLDER,
        IGNORE_INVALID,
        TOPICS_INVALID,
        SETTINGS_INVALID,
    }
)


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of scanning part of the tree.

    `covers`: the paths scanned, each with all below it, '' the whole tree. `stamps`: every page
    there is. `unseen`: files and folders that could not be read, `failing` those of them that are
    worth another scan soon. `root`: which folder it was, whatever its path.
    """

    covers: tuple[str, ...]
    root: str
    started_ns: int
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    diagnostics: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    failing: tuple[str, ...] = ()

    def with_diagnostics(self, more: Mapping[str, tuple[Diagnostic, ...]]) -> Scan:
        """The same scan, with more diagnostics."""
        return replace(self, diagnostics={**self.diagnostics, **more})


@dataclass(frozen=True, slots=True)
class ToRead:
    """A page whose bytes are wanted. Bytes of `known_hash` need no projection; None: project anyway.

    `size`: what the scan saw, in bytes, to share the work out by. `attempts`: how often it was given up
    under this stamp; its budget grows with them. `now_ns`: the time on its disk, at least.
    """

    path: str
    known_hash: str | None
    size: int
    attempts: int = 0
    now_ns: int = 0


@dataclass(frozen=True, slots=True)
class Work:
    """What follows from a scan: pages to read, pages that are gone, and what is now said of paths."""

    read: tuple[ToRead, ...] = ()
    gone: tuple[str, ...] = ()
    said: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)


def is_racy(stamp: Stamp, now_ns: int) -> bool:
    """Whether the file may change once more under an equal stamp; `now_ns` by the clock of its disk.

    A program can set mtime, so one far in the future proves nothing; it cannot set ctime.
    """
    young = now_ns - RACY_NS
    return stamp.ctime_ns >= young or young <= stamp.mtime_ns <= now_ns + RACY_NS


def scan_part(said: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Of what is said of a path, what a scan said."""
    return tuple(diagnostic for diagnostic in said if diagnostic.kind in SCAN_KINDS)


def plan_scan(
    scan: Scan,
    indexed: Mapping[str, IndexedPage],
    known: Mapping[str, tuple[Diagnostic, ...]],
    *,
    projection: str,
    max_page_bytes: int,
) -> Work:
    """Compare. `indexed` is what the index has in `scan.covers`, `known` what it says of any path.

    Pages come out in the byte order of their paths, so that two builds give equal rows.
    """
    stamps = scan.stamps
    read = []
    for path, stamp in stamps.items():
        page = indexed.get(path)
        if page is None or page.projection != projection:
            read.append(ToRead(path, None, stamp.size))
        elif (
            page.stamp != stamp
            or page.racy
            or (page.content_hash is None) != (stamp.size > max_page_bytes)  # the limit was moved past it
            or (path in known and scan_part(known[path]))  # it could not be read; perhaps now
        ):
            read.append(ToRead(path, page.content_hash, stamp.size))
    absent = [path for path in indexed if path not in stamps]
    return Work(
        read=tuple(sorted(read, key=lambda wanted: wanted.path.encode())),
        gone=tuple(sorted(_seen(absent, scan.unseen), key=str.encode)),
        said=_changed_diagnostics(scan, known),
    )


def _seen(paths: list[str], unseen: tuple[str, ...]) -> list[str]:
    if not unseen:
        return paths
    return [path for path in paths if not any(is_below(path, above) for above in unseen)]


def _changed_diagnostics(
    scan: Scan, known: Mapping[str, tuple[Diagnostic, ...]]
) -> dict[str, tuple[Diagnostic, ...]]:
    """What is new, different or over. Of a page that is there, reading it will tell."""
    new = {path: found for path, found in scan.diagnostics.items() if scan_part(known.get(path, ())) != found}
    over = [
        path
        for path in known
        if path not in scan.diagnostics
        and path not in scan.stamps
        and any(is_below(path, cover) for cover in scan.covers)
        and scan_part(known[path])
    ]
    return new | dict.fromkeys(_seen(over, scan.unseen), ())
