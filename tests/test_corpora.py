"""A part of two real wikis against its index; `python -m tests.corpora FOLDER…` takes whole ones."""

from __future__ import annotations

import tarfile
from collections.abc import Callable

import pytest

from tests.building import Bench
from tests.corpora import CHECKS
from tests.shared_data import shared_folder

SHARE = 16  # every sixteenth page: all scripts and all kinds of pages, in a few seconds


@pytest.fixture(scope="module", params=["powershell", "obsidian-help"])
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    archive = shared_folder("corpora") / f"{request.param}.tar.xz"
    bench = Bench(tmp_path_factory.mktemp("corpus"))
    with tarfile.open(archive) as packed:
        files = [member for member in packed if member.isfile()]
        packed.extractall(bench.root, members=files[::SHARE], filter="data")
    bench.build()
    return bench


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_an_index_of_real_pages_holds(corpus: Bench, check: Callable[[Bench], dict[str, int]]) -> None:
    assert all(name != "differences" or count == 0 for name, count in check(corpus).items())
