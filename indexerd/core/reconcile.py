"""What a scan means for the index: stamps on disk against stamps in the index (spec 3.3).

Three states are kept apart: present, gone, could not look. Compared by inequality, never by "newer
than". Pure: the scan, the rows and the time come in as arguments, what to do goes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from indexerd.core.model import Diagnostic, IndexedPage, PathDiagnostics, Stamp

RACY_NS: Final = 2_000_000_000  # file systems with 1 s stamps hide a second edit (git's racy rule)
GUARDED_DELETIONS: Final = 20  # fewer are an afternoon's tidying up, not a vanished mount

UNREADABLE: Final = "unreadable"
UNSETTLED: Final = "unsettled"
NOT_REGULAR: Final = "not_regular"
LINK_NOT_FOLLOWED: Final = "link_not_followed"
UNDECODABLE_NAME: Final = "undecodable_name"
TOO_DEEP_FOLDER: Final = "too_deep_folder"
IGNORE_INVALID: Final = "ignore_invalid"
# What a look at the tree says, as against what the text of a page says: these come and go with a
# scan, whatever is known of the page at the same path.
SCAN_KINDS: Final = frozenset(
    {
        UNREADABLE,
        UNSETTLED,
        NOT_REGULAR,
        LINK_NOT_FOLLOWED,
        UNDECODABLE_NAME,
        TOO_DEEP_FOLDER,
        IGNORE_INVALID,
    }
)

WHOLE_TREE: Final = ("",)


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look at part of the tree found.

    `covers`: the paths looked at, each with all below it, '' the whole tree. `stamps`: every page
    there is. `unseen`: files and folders that could not be looked at. `root`: device and inode.
    """

    covers: tuple[str, ...]
    root: tuple[int, int]
    started_ns: int
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    diagnostics: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToRead:
    """A page whose bytes are wanted. Bytes of this hash need no projection; None: project anyway."""

    path: str
    known_hash: str | None


@dataclass(frozen=True, slots=True)
class Work:
    """What follows from a scan: pages to read, pages that are gone, diagnostics that changed."""

    read: tuple[ToRead, ...] = ()
    gone: tuple[str, ...] = ()
    diagnostics: tuple[PathDiagnostics, ...] = ()


def is_racy(stamp: Stamp, now_ns: int) -> bool:
    """Whether the file may change once more under an equal stamp.

    A program can set mtime, so one far in the future proves nothing; it cannot set ctime.
    """
    young = now_ns - RACY_NS
    return stamp.ctime_ns >= young or young <= stamp.mtime_ns <= now_ns + RACY_NS


def is_below(path: str, above: str) -> bool:
    """Whether `path` is `above` or lies below it; '' is above everything."""
    return not above or path == above or path.startswith(f"{above}/")


def plan_scan(
    scan: Scan,
    indexed: Mapping[str, IndexedPage],
    known: Mapping[str, tuple[Diagnostic, ...]],
    *,
    projection: str,
    max_page_bytes: int,
) -> Work:
    """Compare. `indexed` and `known` (diagnostics of SCAN_KINDS) hold what the index has in `covers`.

    Everything comes out in the byte order of the path, so that two builds give equal rows.
    """
    read = []
    for path, stamp in scan.stamps.items():
        page = indexed.get(path)
        if page is None or page.projection != projection or path in known:
            read.append(ToRead(path, None))
        elif page.stamp != stamp or page.racy or _passed_limit(page, stamp, max_page_bytes):
            read.append(ToRead(path, page.content_hash))
    absent = [path for path in indexed if path not in scan.stamps]
    return Work(
        read=tuple(sorted(read, key=lambda wanted: wanted.path.encode())),
        gone=tuple(sorted(_seen(absent, scan.unseen), key=str.encode)),
        diagnostics=_changed_diagnostics(scan, known),
    )


def _passed_limit(page: IndexedPage, stamp: Stamp, max_page_bytes: int) -> bool:
    """Whether the page was read and is too large now, or the other way round."""
    return (page.content_hash is None) != (stamp.size > max_page_bytes)


def _seen(paths: list[str], unseen: tuple[str, ...]) -> Iterable[str]:
    if not unseen:
        return paths
    return [path for path in paths if not any(is_below(path, above) for above in unseen)]


def _changed_diagnostics(
    scan: Scan, known: Mapping[str, tuple[Diagnostic, ...]]
) -> tuple[PathDiagnostics, ...]:
    """What is new or different, and what is over; a page that is read anew replaces its own."""
    found = scan.diagnostics
    over = [
        path
        for path in _seen([path for path in known if path not in found], scan.unseen)
        if path not in scan.stamps
    ]
    changed = [(path, found[path]) for path in found if known.get(path) != found[path]]
    changed += [(path, ()) for path in over]
    return tuple(PathDiagnostics(path, what) for path, what in sorted(changed))


def needs_confirmation(total: int, gone: int) -> bool:
    """Whether so many pages are gone at once that a second scan must agree (spec 3.3).

    More than half and at least 20, or all of them: an unmounted disk looks just like that.
    """
    return 0 < total == gone or (gone >= GUARDED_DELETIONS and gone * 2 > total)
