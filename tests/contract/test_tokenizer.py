"""The Python tokenizer against the one SQLite runs: every code point, then any text."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.file import TOKENIZER
from indexerd.contract.tokenizer import spans, tokens

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
WORDS = st.text(
    st.sampled_from("aÉ éе́й ß.İi͏ͅ\u0301\u0306\u0323ａＺ漢ー゙\u20e3🦀\u2066\x00\n_-'²½"), max_size=30
)


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    """A full-text table with the tokenizer of the contract, and its vocabulary by instance."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f'CREATE VIRTUAL TABLE text USING fts5(body, tokenize="{TOKENIZER}")')
    connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab('text', 'instance')")
    yield connection
    connection.close()


def sqlite_tokens(connection: sqlite3.Connection, text: str) -> list[str]:
    connection.execute("BEGIN")
    connection.execute("INSERT INTO text(rowid, body) VALUES (1, ?)", (text,))
    rows = connection.execute("SELECT term FROM vocabulary ORDER BY offset").fetchall()
    connection.execute("ROLLBACK")
    # A mark that vanishes leaves an empty term behind when it stands alone; nothing can ask for it.
    return [term for (term,) in rows if term]


@pytest.mark.slow
def test_every_code_point_is_kept_folded_or_a_separator_as_sqlite_has_it(
    database: sqlite3.Connection,
) -> None:
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    database.execute("BEGIN")
    database.executemany("INSERT INTO text(rowid, body) VALUES (?, ?)", ((code, chr(code)) for code in codes))
    known = dict(database.execute("SELECT doc, term FROM vocabulary WHERE term <> ''"))
    database.execute("ROLLBACK")
    differing = [hex(code) for code in codes if tokens(chr(code)) != known.get(code, "").split()]
    assert differing == []


@given(text=TEXT | WORDS)
def test_any_text_has_the_terms_that_sqlite_finds(database: sqlite3.Connection, text: str) -> None:
    assert tokens(text) == sqlite_tokens(database, text)


@given(text=TEXT | WORDS)
def test_spans_are_the_same_terms_with_their_places(text: str) -> None:
    found = spans(text)
    assert [term for term, _, _ in found] == tokens(text)
    assert [tokens(text[start:end]) for _, start, end in found] == [[term] for term, _, _ in found]


def test_a_lone_surrogate_separates() -> None:
    assert tokens("a\udc80b") == ["a", "b"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Don't panic: it's FINE", ["don", "t", "panic", "it", "s", "fine"]),
        ("cancellation_requested_at v1.2.3", ["cancellation", "requested", "at", "v1", "2", "3"]),
        ("re\u0301sume\u0301 résumé", ["resume", "resume"]),
        ("Straße STRASSE", ["straße", "strasse"]),
        ("हिन्दी", ["हिन्दी"]),
        ("Οδυσσέας ΟΔΥΣΣΈΑΣ", ["οδυσσέασ", "οδυσσέασ"]),
        ("İstanbul", ["istanbul"]),
    ],
)
def test_words_are_found_and_folded(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected
