"""Which index a word means, for both programs: a name, a folder, or a refusal that lists the roots."""

from __future__ import annotations

import pytest

from indexerd.contract.places import index_folder
from indexerd.contract.which_index import AmbiguousNameError, KnownIndex, find_around, find_meant


def known(root: str, wiki: str | None = None, label: str | None = None) -> KnownIndex:
    name = wiki or root.rpartition("/")[2]
    return KnownIndex(path=f"/state/{label or index_folder(root)}/index.db", root=root, wiki=name)


HERE, FAR, OTHER = known("/here/notes"), known("/far/notes"), known("/far/recipes", wiki="food")


@pytest.mark.parametrize(
    "wanted, folder, found",
    [
        ("food", "/", OTHER),
        ("recipes", "/far", OTHER),
        ("recipes", "/", None),
        ("/far/recipes", "/here", OTHER),
        ("/far/recipes/", "/here", OTHER),
        ("./notes", "/far", FAR),
        ("../here/notes", "/far", HERE),
        (".", "/far/notes", FAR),
        ("./food", "/", None),
        (index_folder("/far/notes"), "/", FAR),
        ("", "/", None),
    ],
)
def test_a_word_is_a_name_or_a_folder_as_it_is_reached(wanted: str, folder: str, found: KnownIndex) -> None:
    assert find_meant([HERE, FAR, OTHER], wanted, folder) == found


@pytest.mark.parametrize("folder", ["/", "/here", "/far"])
def test_a_name_that_two_have_is_refused_wherever_one_stands(folder: str) -> None:
    with pytest.raises(AmbiguousNameError, match=r"^name one of them: /here/notes or /far/notes$"):
        find_meant([HERE, FAR, OTHER], "notes", folder)


def test_a_name_and_a_folder_that_mean_two_indexes_are_refused() -> None:
    journal = known("/here/food", wiki="journal")
    with pytest.raises(AmbiguousNameError, match=r"^name one of them: /far/recipes or /here/food$"):
        find_meant([OTHER, journal], "food", "/here")
    assert find_meant([OTHER, journal], "food", "/") == OTHER


def test_two_indexes_of_one_root_are_told_apart_by_their_folders() -> None:
    twins = [known("/notes", label="a b"), known("/notes", label="c")]
    with pytest.raises(AmbiguousNameError, match=r"^name one of them: 'a b' or c$"):
        find_meant(twins, "/notes", "/")
    assert find_meant(twins, "c", "/") == twins[1]


@pytest.mark.parametrize("dot", ["", "."])
def test_an_index_that_cannot_be_read_is_known_by_its_place(dot: str) -> None:
    folder = index_folder("/gone")
    damaged = KnownIndex(path=f"/state/{dot}{folder}/index.db", root="", wiki=folder)
    assert find_meant([damaged], "/gone", "/") == damaged
    assert find_meant([damaged], folder, "/") == damaged
    assert find_around([damaged], "/gone") is None


def test_the_deepest_root_around_a_folder_is_meant() -> None:
    inner = known("/here/notes/deep")
    assert find_around([HERE, inner], "/here/notes/deep/er") == inner
    assert find_around([inner, HERE], "/here/notes/other") == HERE
    assert find_around([HERE], "/here/notes2") is None
