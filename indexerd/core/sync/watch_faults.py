"""Why a watcher gives no events: the words of an error or of the mount table, as kind, reason, remedy.

Pure: texts come in. It judges only; what is done about a fault is the daemon's business.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from indexerd.contract.places import is_below

# Changes made elsewhere give no event here. `fuseblk` is a local disk and does give them.
_NETWORK = ("acfs", "afs", "beegfs", "ceph", "cifs", "coda", "glusterfs", "gpfs", "gfs2", "lustre", "ncpfs")
_SHARED = ("nfs", "nfs4", "ocfs2", "smb2", "smb3", "smbfs", "fuse")
_HOST_OF_A_MACHINE = ("9p", "drvfs", "grpcfuse", "osxfs", "prl_fs", "vboxsf", "virtiofs", "vmhgfs")
EVENT_FREE: Final = frozenset((*_NETWORK, *_SHARED, *_HOST_OF_A_MACHINE))


class FaultKind(StrEnum):
    """Why no events come."""

    CONFIGURED = "configured"
    NO_EVENTS = "no_events"
    WATCH_LIMIT = "watch_limit"
    INSTANCE_LIMIT = "instance_limit"
    UNDECODABLE_NAME = "undecodable_name"
    NOT_PERMITTED = "not_permitted"
    ROOT_GONE = "root_gone"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Fault:
    """A watcher that cannot start or has died: what happened, and what a person can do about it."""

    kind: FaultKind
    reason: str
    remedy: str | None


def root_gone(root: str) -> Fault:
    """The root was deleted, renamed, or was never there."""
    return Fault(FaultKind.ROOT_GONE, f"{root} is gone", "put the folder back")


def describe_fault(error: Exception, root: str) -> Fault:
    """What an error of the watcher means. watchfiles gives the kind in words only."""
    text = str(error)
    number = re.search(r"\(os error (\d+)\)", text)
    code = int(number[1]) if number else getattr(error, "errno", None)
    if isinstance(error, FileNotFoundError):
        return root_gone(root)
    if "decode path" in text or isinstance(error, UnicodeError):
        name = re.search(r'"(.*)"', text)
        return Fault(
            FaultKind.UNDECODABLE_NAME,
            f"a file name is not UTF-8: {name[1] if name else text}",
            "rename the file",
        )
    if code == errno.ENOSPC or "limit" in text.lower():  # inotify says ENOSPC for it
        return Fault(
            FaultKind.WATCH_LIMIT,
            "the limit of watched folders is reached",
            "raise it: sysctl fs.inotify.max_user_watches=524288",
        )
    if code in (errno.ENFILE, errno.EMFILE):
        return Fault(
            FaultKind.INSTANCE_LIMIT,
            "too many watchers or open files",
            "raise the limit: sysctl fs.inotify.max_user_instances=1024 (or LimitNOFILE= of the service)",
        )
    if isinstance(error, PermissionError) or code == errno.EACCES:
        return Fault(
            FaultKind.NOT_PERMITTED,
            f"a folder may not be read: {text}",
            "make it readable, or leave it out with .wikiignore and restart",
        )
    return Fault(FaultKind.UNKNOWN, f"the watcher failed: {type(error).__name__}: {text}", None)


def find_event_free_mount(mount_table: str, root: str) -> Fault | None:
    """A file system at or below `root` (a real path) that reports no changes, from the text of mountinfo."""
    at_root: tuple[str, str] | None = None
    for line in mount_table.split("\n"):
        head, _, tail = line.partition(" - ")
        fields = head.split()
        if len(fields) < 5 or not tail:
            continue
        point, kind = _unescape(fields[4]), tail.split()[0]
        if is_below(root, point):
            # A later line covers an earlier one at the same point; a longer point is nearer.
            if at_root is None or len(point) >= len(at_root[0]):
                at_root = point, kind
        elif is_below(point, root) and _gives_no_events(kind):
            return _no_events(point, kind)
    if at_root is not None and _gives_no_events(at_root[1]):
        return _no_events(*at_root)
    return None


def _gives_no_events(kind: str) -> bool:
    return kind.partition(".")[0] in EVENT_FREE


def _no_events(point: str, kind: str) -> Fault:
    return Fault(FaultKind.NO_EVENTS, f"{point} is a {kind} file system, which reports no changes", None)


def _unescape(field: str) -> str:
    """Blanks, tabs, newlines and backslashes stand in mountinfo as octal (proc(5))."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)
