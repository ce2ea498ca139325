"""What a fed database holds against the index it was fed from: every public row, every posting."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

from indexerd.contract.file import COLUMNS
from wikiq.feed.feeder import Fed, Feeder
from wikiq.index.database import open_database
from wikiq.index.postgres.connect import connect, parse_address
from wikiq.index.postgres.database import open_postgres

NOT_FED: Final = {"v1_scans"}
WEIGHTS: Final = {"title": 5, "ancestors": 1, "heading": 8, "body": 1}
LOAD_S: Final = 3600.0


def feed(url: str, db: Path, *, init: bool = True, anew: bool = False, wiki: str | None = None) -> Fed:
    """Feed once, as the command does."""
    with (
        closing(open_database(str(db))) as database,
        database.snapshot(LOAD_S) as snapshot,
        closing(Feeder(parse_address(url), wiki or snapshot.wiki)) as feeder,
    ):
        if init:
            feeder.make_tables()
        return feeder.feed(snapshot, anew=anew)


def differences(url: str, db: Path, wiki: str | None = None) -> list[str]:
    """Where the database differs from the index; nothing where they are equal."""
    found = []
    with ExitStack() as opened:
        ours = opened.enter_context(opened.enter_context(closing(open_database(str(db)))).snapshot(LOAD_S))
        theirs = opened.enter_context(
            opened.enter_context(closing(open_postgres(url, wiki=wiki))).snapshot(LOAD_S)
        )
        name = theirs.wiki
        if (ours.index_id, ours.generation) != (theirs.index_id, theirs.generation):
            found.append(f"cursor: {ours.generation} {theirs.generation}")
        for view in COLUMNS.keys() - NOT_FED:
            select = f"SELECT {', '.join(COLUMNS[view])} FROM {view}"
            found += _difference(view, _rows(ours.rows(select)), _rows(theirs.rows(select)))
    found += _difference("postings", _instances(db), _postings(url, name))
    found += _difference("totals", _totals(db), _kept_totals(url, name))
    return found


def ask(url: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement on the server; `{s}` in it is the schema."""
    address = parse_address(url)
    with closing(connect(address)) as connection:
        cursor = connection.execute(statement.replace("{s}", address.schema), values or None)
        return cursor.fetchall() if cursor.description else []


def _rows(rows: Iterable[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows in a form of both: SQLite has 0 and 1 for truths, and keeps NUL."""
    return Counter(
        tuple(
            int(value)
            if isinstance(value, bool)
            else value.replace("\0", "\ufffd")
            if isinstance(value, str)
            else value
            for value in row
        )
        for row in rows
    )


def _difference(name: str, ours: Counter[Any], theirs: Counter[Any]) -> list[str]:
    missing, extra = ours - theirs, theirs - ours
    told = []
    if missing:
        told.append(f"{name}: {missing.total()} missing, as {next(iter(missing))!r:.300}")
    if extra:
        told.append(f"{name}: {extra.total()} too many, as {next(iter(extra))!r:.300}")
    return told


def _instances(db: Path) -> Counter[Any]:
    """Every posting as FTS5 itself has it: (bigram, term, section) as often as it counts, and the dfs."""
    found: Counter[Any] = Counter()
    with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as index:
        for is_piece, table in ((False, "sections_fts"), (True, "sections_grams")):
            index.execute(f"CREATE VIRTUAL TABLE temp.seen USING fts5vocab('main', '{table}', 'instance')")
            for term, rowid, column in index.execute("SELECT term, doc, col FROM temp.seen"):
                found[is_piece, term, rowid] += WEIGHTS[column]
            index.execute("DROP TABLE temp.seen")
    dfs = Counter((is_piece, term) for is_piece, term, _ in found)
    return found + dfs


def _postings(url: str, wiki: str) -> Counter[Any]:
    wiki_id = ask(url, "SELECT wiki_id FROM {s}.wiki WHERE name = %s", wiki)[0][0]
    found = Counter({
        (is_piece, term, rowid): f
        for is_piece, term, rowid, f in ask(
            url,
            "SELECT is_piece, term, section_rowid, f FROM {s}.posting JOIN {s}.term USING (wiki_id, term_id)"
            " WHERE wiki_id = %s",
            wiki_id,
        )
    })  # fmt: skip
    dfs = ask(url, "SELECT is_piece, term, df FROM {s}.term WHERE wiki_id = %s", wiki_id)
    return found + Counter({(is_piece, term): df for is_piece, term, df in dfs})


def _totals(db: Path) -> Counter[Any]:
    """What bm25 divides by: rows and words of each full text."""
    with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as index:
        told = {"sections": index.execute("SELECT count(*) FROM v1_sections").fetchone()[0]}
        for name, table in (
            ("words", "sections_fts"),
            ("piece_words", "sections_grams"),
            ("name_words", "names_fts"),
        ):
            index.execute(f"CREATE VIRTUAL TABLE temp.seen USING fts5vocab('main', '{table}', 'row')")
            told[name] = index.execute("SELECT coalesce(sum(cnt), 0) FROM temp.seen").fetchone()[0]
            index.execute("DROP TABLE temp.seen")
        index.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab('main', 'sections_grams', 'instance')")
        told["piece_sections"] = index.execute("SELECT count(DISTINCT doc) FROM temp.seen").fetchone()[0]
    return Counter(told)


def _kept_totals(url: str, wiki: str) -> Counter[Any]:
    names = ("sections", "words", "piece_sections", "piece_words", "name_words")
    row = ask(url, f"SELECT {', '.join(names)} FROM {{s}}.wiki WHERE name = %s", wiki)[0]
    return Counter(dict(zip(names, row, strict=True)))
