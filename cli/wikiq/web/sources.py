"""What of the disk the viewer shows: pictures that lie in the wiki, and nothing else.

The text of a page comes from the index, never from the disk.
"""

from __future__ import annotations

import os

from indexerd.contract.places import is_below
from indexerd.contract.record import Record
from wikiq.errors import UnknownPageError
from wikiq.index.page_status import read_regular

LARGEST_PICTURE = 64 * 2**20  # bytes
TYPES = {
    ".avif": "image/avif",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
}


class Picture(Record):
    """A picture as it is sent."""

    media_type: str
    content: bytes


def is_picture(path: str) -> bool:
    """Tell whether a path is one that the viewer shows as a picture."""
    parts = path.split("/")
    return os.path.splitext(path)[1].lower() in TYPES and not any(part.startswith(".") for part in parts)


def read_picture(root: str, path: str) -> Picture:
    """Read the picture at `path` below `root`; UnknownPageError for what is none, or lies elsewhere.

    Links are followed first: what they lead to must lie in the root and be a picture itself.
    """
    absent = UnknownPageError(path, "there is no such picture", "see the links of its page")
    if not is_picture(path) or "\0" in path:
        raise absent
    real_root = os.path.realpath(root)
    real = os.path.realpath(os.path.join(real_root, path))
    if not is_below(real, real_root) or not is_picture(os.path.relpath(real, real_root)):
        raise absent
    try:
        content = read_regular(real, LARGEST_PICTURE + 1)
    except OSError as error:
        raise absent from error
    if len(content) > LARGEST_PICTURE:
        raise absent
    return Picture(media_type=TYPES[os.path.splitext(real)[1].lower()], content=content)
