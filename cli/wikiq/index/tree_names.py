"""Whether a path or a file name exists in the tree of a wiki. Lists folders, opens no file."""

from __future__ import annotations

import os
from functools import cached_property
from itertools import takewhile

from indexerd.contract.terms import fold_path

PAGE_ENDINGS = (".md", ".markdown")
REPOSITORY_MARK = ".git"
MOST_FOLDERS = 100_000  # walked for names; a wiki of 100,000 pages has about a tenth of that


def find_repository(root: str) -> str:
    """Find the nearest folder at or above `root` with `.git`, else the root itself."""
    folder = root
    while True:
        if os.path.exists(os.path.join(folder, REPOSITORY_MARK)):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return root
        folder = above


class TreeNames:
    """The tree below `root`; a folder is listed when first asked about."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._folders: dict[str, dict[str, str]] = {}

    def has_path(self, path: str) -> bool:
        """Tell whether a file or folder stands at a path from the root."""
        if path.startswith("/") or ".." in path.split("/") or "\0" in path:
            return False
        return os.path.exists(os.path.join(self._root, path))

    def has_beside(self, path: str) -> bool:
        """Tell whether something stands at a path from the root that leaves it, within its repository."""
        if "\0" in path:
            return False
        place = os.path.normpath(os.path.join(self._root, path))
        return place.startswith(os.path.join(self._repository, "")) and os.path.exists(place)

    def has_folded_path(self, path: str) -> bool:
        """Tell whether something stands at a path that was folded, whatever the case of its names."""
        return self.spelled(path) is not None

    def spelled(self, path: str) -> str | None:
        """Give a path from the root as the disk spells it, whatever its case; None where nothing stands."""
        names: list[str] = []
        for part in fold_path(path).split("/"):
            name = self._names_in(os.path.join(self._root, *names)).get(part)
            if name is None:
                return None
            names.append(name)
        return "/".join(names)

    def find_name(self, name: str, beside: str) -> str | None:
        """Give the path of the file of this name, whatever its case; hidden folders are left out.

        Folders in `name` are the last ones above the file, as Obsidian takes them; the ending of a
        page may be missing. Of several the one nearest to the folder `beside`, then the shortest path.
        """
        above, _, last = fold_path(name).rpartition("/")
        paths = [
            f"{folder}/{last}{end}".lstrip("/")
            for end in ("", *PAGE_ENDINGS)
            for folder in self._files.get(last + end, ())
            if f"/{folder}".endswith(f"/{above}" if above else "")
        ]
        home = fold_path(beside).split("/")

        def distance(path: str) -> tuple[int, int, str]:
            pairs = zip(path.split("/")[:-1], home, strict=False)
            return -sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)), len(path), path

        return self.spelled(min(paths, key=distance)) if paths else None

    def _names_in(self, folder: str) -> dict[str, str]:
        """The names in a folder by their folded form; none where it cannot be listed."""
        if folder not in self._folders:
            try:
                names = os.listdir(folder)
            except OSError:
                names = []
            self._folders[folder] = {fold_path(name): name for name in names}
        return self._folders[folder]

    @cached_property
    def _repository(self) -> str:
        return find_repository(self._root)

    @cached_property
    def _files(self) -> dict[str, list[str]]:
        """The folders, as folded paths from the root, in which a file of each folded name lies."""
        found: dict[str, list[str]] = {}
        for number, (folder, folders, files) in enumerate(os.walk(self._root)):
            if number == MOST_FOLDERS:
                break
            folders[:] = [name for name in folders if not name.startswith(".")]
            place = fold_path(os.path.relpath(folder, self._root)) if folder != self._root else ""
            for file in files:
                found.setdefault(fold_path(file), []).append(place)
        return found
