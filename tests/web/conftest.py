"""A server that all tests of a module ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.served import Served, serving, write_wiki


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_wiki(tmp_path_factory.mktemp("viewer"))) as server:
        yield server
