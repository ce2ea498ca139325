"""One server for all tests of PostgreSQL, a schema for each; skipped where it is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres_server import Server, find_programs, running_server, schema_named


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    programs = find_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: make strangers")
    pytest.importorskip("psycopg", reason="the extra [postgres] is not installed")
    with running_server(programs) as started:
        yield started


@pytest.fixture
def url(server: Server, request: pytest.FixtureRequest) -> str:
    """The address of a schema that is this test's own."""
    return server.url(schema=schema_named(request.node.name))
