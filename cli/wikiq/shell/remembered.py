"""What `wikiq` keeps from one command to the next: the last hits of a terminal, the day of the last advice.

It lies in one private folder. Nothing depends on it: what cannot be written or read was never there.
"""

from __future__ import annotations

import json
import os
from datetime import datetime

from indexerd.contract.places import NoHomeError, make_private_folders, reader_home
from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

LARGEST_FILE = 1024 * 1024  # bytes; a thousand hits with long paths
_ADVICE = "advice.json"


class ShownHit(Record):
    """A hit by its number: the index it is from, and the name that `show` and `open` take.

    `wiki` is the root of an index of the state folder, `db` the file of any.
    """

    db: str | None
    wiki: str | None
    name: str


def remember_hits(environ: Mapping[str, str], hits: Sequence[ShownHit]) -> None:
    """Keep the hits that this terminal shows, in the place of those before."""
    name = _name_of_terminal()
    if name is not None:
        rows = [[hit.db, hit.wiki, hit.name] for hit in hits]
        _write(environ, name, {"session": os.getsid(0), "hits": rows})


def recall_hits(environ: Mapping[str, str]) -> tuple[ShownHit, ...]:
    """Give the hits that this terminal showed last, in its present session."""
    name = _name_of_terminal()
    kept = _read(environ, name) if name is not None else {}
    if kept.get("session") != os.getsid(0):  # a terminal that was closed gives its name to the next one
        return ()
    try:
        return tuple(ShownHit(db=db, wiki=wiki, name=name) for db, wiki, name in kept["hits"])
    except (KeyError, TypeError, ValueError):
        return ()


def is_advice_due(environ: Mapping[str, str], root: str) -> bool:
    """Tell whether the advice about the wiki at `root` was not given today, and count it as given."""
    today = datetime.now().astimezone().date().isoformat()
    kept = _read(environ, _ADVICE)
    if kept.get(root) == today:
        return False
    _write(environ, _ADVICE, {about: day for about, day in kept.items() if day == today} | {root: today})
    return True


def _name_of_terminal() -> str | None:
    for stream in (1, 2, 0):
        try:
            return "hits" + os.ttyname(stream).removeprefix("/dev").replace("/", "-") + ".json"
        except OSError:
            continue
    return None


def _read(environ: Mapping[str, str], name: str) -> dict[str, Any]:
    try:
        path = os.path.join(reader_home(environ), name)
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8") as file:
            kept = json.loads(file.read(LARGEST_FILE))
    except (NoHomeError, OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(environ: Mapping[str, str], name: str, value: object) -> None:
    """Write beside and rename, so that no reader finds half of it."""
    try:
        folder = reader_home(environ)
        make_private_folders(folder)
        path = os.path.join(folder, name)
        new = f"{path}.{os.getpid()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with open(os.open(new, flags, 0o600), "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(new, path)
    except (NoHomeError, OSError):
        return
