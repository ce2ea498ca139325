"""Whether one path lies below another: one rule for absolute paths and for those from the root."""

from __future__ import annotations

import pytest

from indexerd.contract.places import is_below


@pytest.mark.parametrize(
    "path, above, below",
    [
        ("a/b", "a", True),
        ("a", "a", True),
        ("ab", "a", False),
        ("a", "a/b", False),
        ("a", "", True),
        ("", "", True),
        ("", "a", False),
        ("/a", "/", True),
        ("/", "/", True),
        ("/a/b", "/a/", True),
        ("/ab", "/a", False),
    ],
)
def test_a_folder_holds_itself_and_what_lies_below_it(path: str, above: str, below: bool) -> None:
    assert is_below(path, above) is below
