"""What a user can cause: one line with the remedy, exit status 2, and no half-written rows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres.fed import ask, differences, feed
from tests.postgres_server import Server
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import Done, environment, run_wikiq
from wikiq.errors import ForeignIndexError, UnreadableIndexError, UsageError, WikiqError
from wikiq.index.postgres import connect as connecting
from wikiq.index.postgres.connect import connect, parse_address

PAGES = {"a.md": "# A\n\nWorkers are cancelled here.\n"}


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> BuiltWiki:
    return build_wiki(tmp_path_factory.mktemp("errors"), PAGES)


def refused(done: Done, *words: str) -> None:
    assert done.status == 2, done
    assert done.err.count("\n") == 1, done.err
    for word in words:
        assert word in done.err


def both(url: str, wiki: BuiltWiki) -> list[Done]:
    """The same address, fed and asked."""
    return [
        run_wikiq("feed", url, "--init", "--db", str(wiki.index.db), index=wiki.index),
        run_wikiq("search", "workers", "--db", url, index=wiki.index),
    ]


def test_nobody_at_the_address(wiki: BuiltWiki, tmp_path: Path) -> None:
    for done in both(f"postgresql:///wikis?host={tmp_path}", wiki):
        refused(done, "cannot be reached", "check that the server runs")


def test_a_wrong_password_is_told_and_not_shown(server: Server, wiki: BuiltWiki) -> None:
    ask(server.url(), "DROP ROLE IF EXISTS locked")
    ask(server.url(), "CREATE ROLE locked LOGIN PASSWORD 'right'")
    for done in both(server.url(user="locked", password="guessed"), wiki):
        refused(done, "lets nobody in", "~/.pgpass")
        assert "guessed" not in done.err


def test_a_schema_that_was_never_fed(server: Server, wiki: BuiltWiki) -> None:
    url = server.url(schema="never_fed")
    refused(run_wikiq("search", "workers", "--db", url, index=wiki.index), "feed it: `wikiq feed")
    refused(run_wikiq("feed", url, "--db", str(wiki.index.db), index=wiki.index), "--init")


def test_tables_without_a_wiki(server: Server, wiki: BuiltWiki) -> None:
    url = server.url(schema="emptied")
    feed(url, wiki.index.db)
    ask(url, "DELETE FROM {s}.wiki")
    refused(
        run_wikiq("search", "workers", "--db", url, index=wiki.index), "there is no wiki in this schema yet"
    )


def test_rows_of_another_format_are_refused_by_readers_and_fed_anew(server: Server, wiki: BuiltWiki) -> None:
    url = server.url(schema="another_format")
    feed(url, wiki.index.db)
    ask(url, "UPDATE {s}.wiki SET format = 999")
    refused(run_wikiq("search", "workers", "--db", url, index=wiki.index), "format 999")
    feed(url, wiki.index.db)
    assert differences(url, wiki.index.db) == []


def test_a_role_that_may_not_make_tables(server: Server, wiki: BuiltWiki) -> None:
    ask(server.url(), "DROP ROLE IF EXISTS guest")
    ask(server.url(), "CREATE ROLE guest LOGIN")
    url = server.url(user="guest", schema="of_guest")
    done = run_wikiq("feed", url, "--init", "--db", str(wiki.index.db), index=wiki.index)
    refused(done, "the role may not do this", "grant it")


def test_a_database_that_may_only_be_read(server: Server, wiki: BuiltWiki) -> None:
    url = server.url(schema="read_only")
    feed(url, wiki.index.db)
    ask(server.url(), "DROP ROLE IF EXISTS standby")
    ask(server.url(), "CREATE ROLE standby SUPERUSER LOGIN")
    ask(server.url(), "ALTER ROLE standby SET default_transaction_read_only = on")
    standby = server.url(user="standby", schema="read_only")
    done = run_wikiq("feed", standby, "--anew", "--db", str(wiki.index.db), index=wiki.index)
    refused(done, "may only be read", "feed the server that takes writes")
    assert run_wikiq("search", "workers", "--db", standby, index=wiki.index).status == 0


def test_an_older_server_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "OLDEST_SERVER", 990_000)
    with pytest.raises(ForeignIndexError, match="use version 99 or newer"):
        connect(parse_address(server.url()))


@pytest.mark.parametrize(
    "state, words",
    [
        ("53100", "no room .* free disk"),
        ("57P01", "went away .* try again"),
        ("57014", "took too long"),
        ("XX001", "refuses .* --anew"),
    ],
)
def test_what_a_server_says_has_a_remedy(server: Server, state: str, words: str) -> None:
    import psycopg

    error = psycopg.errors.lookup(state)("could not\nextend file")
    told: WikiqError = connecting.explained(error, parse_address(server.url()))
    assert "\n" not in str(told)
    assert re.search(words, str(told))


@pytest.mark.parametrize(
    "url, words",
    [
        ("mysql://h/db", "is no address of a database"),
        ("postgresql://h/d?schema=A-b", "is no name of a schema"),
    ],
)
def test_an_address_that_is_none(url: str, words: str, wiki: BuiltWiki) -> None:
    refused(run_wikiq("feed", url, "--db", str(wiki.index.db), index=wiki.index), words)


def test_a_second_feeder_is_told_of_the_first(
    server: Server, wiki: BuiltWiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wikiq.feed import feeder as feeding

    monkeypatch.setattr(feeding, "LOCK_PATIENCE_S", 0.2)
    address = parse_address(server.url(schema="locked_once"))
    first = feeding.Feeder(address, "wiki")
    with pytest.raises(UnreadableIndexError, match="another feeder keeps wiki"):
        feeding.Feeder(address, "wiki")
    feeding.Feeder(address, "another").close()
    first.close()
    feeding.Feeder(address, "wiki").close()


def test_without_the_extra_it_is_said_how_to_install_it(wiki: BuiltWiki, tmp_path: Path) -> None:
    (tmp_path / "psycopg").mkdir()
    (tmp_path / "psycopg" / "__init__.py").write_text("raise ImportError('not installed')\n")
    path = os.pathsep.join((str(tmp_path), os.environ.get("PYTHONPATH", "")))
    for words in (("feed", "postgresql://h/d"), ("search", "workers", "--db", "postgresql://h/d")):
        feeds = ("--db", str(wiki.index.db)) if words[0] == "feed" else ()
        done = run_wikiq(*words, *feeds, index=wiki.index, PYTHONPATH=path)
        refused(done, "pip install 'indexerd[postgres]'")


def test_a_search_of_a_file_never_loads_the_client(wiki: BuiltWiki) -> None:
    script = (
        "import sys, wikiq.main\n"
        "sys.argv = ['wikiq', 'search', 'workers']\n"
        "assert wikiq.main.run_process() == 0\n"
        "assert not [name for name in sys.modules if name.startswith(('psycopg', 'wikiq.feed'))]\n"
        "assert not [name for name in sys.modules if name.startswith('wikiq.index.postgres.')]\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=wiki.index.root, env=environment(wiki.index.root.parent),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_password_is_shown_nowhere() -> None:
    address = parse_address("postgresql://ann:s:e@h/db?password=tell&host=/tmp&schema=x")
    assert address.shown == "postgresql://ann@h/db?host=/tmp"
    assert address.url == "postgresql://ann:s:e@h/db?password=tell&host=/tmp"
    assert address.schema == "x"
    with pytest.raises(UsageError):
        parse_address("postgresql://h/db", "no;good")
