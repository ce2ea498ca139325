"""What the measures are held against: the same input, with the least work that could be done on it.

Standard library and apsw only: nothing of what is measured is used here.
"""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path

import apsw

from tests.benchmarks.corpus import find_pages

IN_CLOSE_WRITE = 0x8  # <sys/inotify.h>
BATCH = 500  # pages a commit


def insert_raw(root: Path, db: Path) -> int:
    """Read every page below `root` and insert it whole into one full-text table; returns the pages."""
    connection = apsw.Connection(str(db))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE VIRTUAL TABLE page USING fts5(path, text)")
    pages = list(find_pages(root))
    for start in range(0, len(pages), BATCH):
        with connection:
            for path in pages[start : start + BATCH]:
                text = path.read_bytes().decode("utf-8", "replace")
                connection.execute("INSERT INTO page VALUES (?, ?)", (str(path), text))
    connection.close()
    return len(pages)


def stat_tree(root: str) -> int:
    """`os.scandir` and `stat` of everything below `root`, nothing more; returns the entries."""
    entries = 0
    with os.scandir(root) as listing:
        for entry in listing:
            entries += 1
            if entry.is_dir(follow_symlinks=False):
                entries += stat_tree(entry.path)
            else:
                entry.stat(follow_symlinks=False)
    return entries


def update_rows(db: Path, edits: int) -> list[float]:
    """Seconds of CPU of each of `edits` commits that change one row of a table with 10,000 rows of 1 KiB."""
    connection = apsw.Connection(str(db))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    with connection:
        connection.execute("CREATE TABLE page(id INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany("INSERT INTO page VALUES (?, ?)", ((i, "x" * 1024) for i in range(10_000)))

    samples = []
    for number in range(edits):
        began = time.process_time()
        with connection:
            connection.execute("UPDATE page SET text = ? WHERE id = ?", ("y" * 1024, number * 7919 % 10_000))
        samples.append(time.process_time() - began)
    connection.close()
    return samples


def inotify_delays(folder: Path, saves: int) -> list[float]:
    """Seconds from each of `saves` finished saves in `folder` to the event that reports it. Linux."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init()
    if descriptor < 0 or libc.inotify_add_watch(descriptor, os.fsencode(folder), IN_CLOSE_WRITE) < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    try:
        delays = []
        for number in range(saves):
            (folder / "saved.md").write_text(str(number), "utf-8")
            started = time.perf_counter()
            os.read(descriptor, 4096)
            delays.append(time.perf_counter() - started)
    finally:
        os.close(descriptor)
    return delays
