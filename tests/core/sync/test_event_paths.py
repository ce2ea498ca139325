"""Which reported paths matter, and what they ask for."""

from __future__ import annotations

import pytest

from indexerd.core.sync.event_paths import cover_of


@pytest.mark.parametrize(
    "path, cover",
    [
        ("", ""),
        ("a.md", "a.md"),
        ("d/e", "d/e"),
        ("d/picture.png", "d/picture.png"),
        ("topics.yaml", "topics.yaml"),
        (".wikiq.toml", ""),
        ("d/.wikiq.toml", None),
        (".gitignore", ""),
        ("d/e/.wikiignore", "d/e"),
        (".git", None),
        (".git/objects/ab/cdef", None),
        ("d/.git/index.lock", None),
        ("node_modules", None),
        ("node_modules/x/readme.md", None),
        ("d/.a.md.swp", None),
        (".obsidian/.gitignore", None),
    ],
)
def test_a_reported_path_asks_for_what_it_governs_or_for_nothing(path: str, cover: str | None) -> None:
    assert cover_of(path) == cover
