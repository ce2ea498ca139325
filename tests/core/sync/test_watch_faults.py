"""What an error of the watcher means, and which mounts report no changes."""

from __future__ import annotations

import pytest

from indexerd.core.sync.watch_faults import EVENT_FREE, FaultKind, describe_fault, find_event_free_mount


@pytest.mark.parametrize(
    "error, kind, reason, remedy",
    [
        (
            FileNotFoundError("No path was found."),
            FaultKind.ROOT_GONE,
            "/wiki is gone",
            "put the folder back",
        ),
        (
            RuntimeError('Unable to decode path "/wiki/b\\xFF.md" to string'),
            FaultKind.UNDECODABLE_NAME,
            "b\\xFF.md",
            "rename",
        ),
        (RuntimeError("OS file watch limit reached."), FaultKind.WATCH_LIMIT, "limit", "max_user_watches"),
        (OSError(28, "No space left on device"), FaultKind.WATCH_LIMIT, "limit", "max_user_watches"),
        (
            RuntimeError("error creating recommended watcher: Too many open files (os error 24)"),
            FaultKind.INSTANCE_LIMIT,
            "too many",
            "max_user_instances",
        ),
        (PermissionError(13, "Permission denied", "/wiki/d"), FaultKind.NOT_PERMITTED, "/wiki/d", "readable"),
        (
            RuntimeError("Permission denied (os error 13)"),
            FaultKind.NOT_PERMITTED,
            "may not be read",
            "readable",
        ),
        (RuntimeError("something new"), FaultKind.UNKNOWN, "RuntimeError: something new", None),
    ],
)
def test_every_error_has_a_kind_a_reason_and_where_there_is_one_a_remedy(
    error: Exception, kind: FaultKind, reason: str, remedy: str | None
) -> None:
    fault = describe_fault(error, "/wiki")
    assert fault.kind is kind
    assert reason in fault.reason
    assert (fault.remedy is None) if remedy is None else (remedy in (fault.remedy or ""))


PLAIN = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"


def mount(point: str, kind: str) -> str:
    return f"40 22 0:40 / {point} rw shared:2 - {kind} source rw\n"


@pytest.mark.parametrize(
    "table, root, reason",
    [
        (PLAIN, "/home/u/wiki", None),
        ("", "/home/u/wiki", None),
        ("nonsense\n\n- - -\n", "/home/u/wiki", None),
        (PLAIN + mount("/home/u/wiki", "nfs4"), "/home/u/wiki", "/home/u/wiki is a nfs4"),
        (PLAIN + mount("/home/u", "fuse.sshfs"), "/home/u/wiki", "/home/u is a fuse.sshfs"),
        (PLAIN + mount("/home/u", "fuseblk"), "/home/u/wiki", None),
        (PLAIN + mount("/home/uwe", "nfs"), "/home/u/wiki", None),
        (PLAIN + mount("/home", "nfs") + mount("/home/u", "ext4"), "/home/u/wiki", None),
        (PLAIN + mount("/home", "ext4") + mount("/home", "cifs"), "/home/u/wiki", "/home is a cifs"),
        (PLAIN + mount("/home", "cifs") + mount("/home", "ext4"), "/home/u/wiki", None),
        (PLAIN + mount("/home/u/wiki/far", "9p"), "/home/u/wiki", "/home/u/wiki/far is a 9p"),
        (PLAIN + mount("/home/u/my\\040wiki", "nfs"), "/home/u/my wiki", "/home/u/my wiki is a nfs"),
        (PLAIN + mount("/mnt", "nfs"), "/", "/mnt is a nfs"),
    ],
)
def test_the_nearest_mount_at_or_below_the_root_decides_whether_events_come(
    table: str, root: str, reason: str | None
) -> None:
    fault = find_event_free_mount(table, root)
    if reason is None:
        assert fault is None
    else:
        assert fault is not None
        assert fault.kind is FaultKind.NO_EVENTS
        assert fault.reason.startswith(reason)


@pytest.mark.parametrize("kind", sorted(EVENT_FREE))
def test_every_file_system_of_the_list_is_scanned(kind: str) -> None:
    assert find_event_free_mount(PLAIN + mount("/w", kind), "/w/wiki") is not None
