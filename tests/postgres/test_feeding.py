"""`wikiq feed`: what PostgreSQL holds is what the index holds, whatever happened in between."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.postgres.fed import ask, differences, feed
from tests.store.wiki import bring, open_store
from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from wikiq.errors import ForeignIndexError, NoIndexError
from wikiq.feed.feeder import ANEW, CAUGHT_UP, UP_TO_DATE, Feeder
from wikiq.index.database import open_database
from wikiq.index.postgres.connect import parse_address

PAGES = {
    "index.md": "---\ntags: [howto]\naliases: [Home]\n---\n# Home\n\nSee [[setup]] and [gone](gone.md).\n",
    "setup.md": "# Setup\n\nInstall `src/app.py` first.\n\n## 日本の首都\n\n首都は東京です。\n",
    "guide/README.md": "# Guide\n\n> A\0nul and a [link](../setup.md).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "notes/short.md": "Only a line about gardens. #howto/garden\n",
}


@pytest.fixture
def wiki(tmp_path: Path) -> BuiltWiki:
    return build_wiki(tmp_path, PAGES)


def test_what_was_fed_is_the_index_row_by_row_and_word_by_word(wiki: BuiltWiki, url: str) -> None:
    fed = feed(url, wiki.index.db)
    assert (fed.how, fed.pages) == (ANEW, len(PAGES))
    assert differences(url, wiki.index.db) == []
    assert "NUL" in ask(url, "SELECT note FROM {s}.wiki")[0][0]


def test_a_second_look_writes_nothing(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    before = ask(url, "SELECT ctid, xmin::text FROM {s}.posting ORDER BY ctid")
    assert feed(url, wiki.index.db).how == UP_TO_DATE
    assert ask(url, "SELECT ctid, xmin::text FROM {s}.posting ORDER BY ctid") == before


def test_an_edit_moves_the_rows_of_its_page_alone(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    before = ask(
        url, "SELECT count(*) FROM {s}.posting p JOIN {s}.page USING (wiki_id, page_id) WHERE slug <> 'setup'"
    )
    wiki.bring(PAGES | {"setup.md": "# Setup\n\nNow something else.\n"})
    fed = feed(url, wiki.index.db)
    assert (fed.how, fed.pages, fed.gone) == (CAUGHT_UP, 1, 0)
    assert differences(url, wiki.index.db) == []
    assert before == ask(
        url, "SELECT count(*) FROM {s}.posting p JOIN {s}.page USING (wiki_id, page_id) WHERE slug <> 'setup'"
    )


def test_an_edit_leaves_the_postings_of_other_sections_where_they_are(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    kept = "SELECT ctid, xmin::text, p.* FROM {s}.posting p WHERE xmin::text = %s ORDER BY ctid"
    ((load, _),) = ask(url, "SELECT xmin::text, count(*) FROM {s}.posting GROUP BY 1")
    before = ask(url, kept, load)
    wiki.bring(PAGES | {"setup.md": PAGES["setup.md"] + "\nOne more line.\n"})
    feed(url, wiki.index.db)
    assert differences(url, wiki.index.db) == []
    ((edited,),) = ask(url, "SELECT section_rowid FROM {s}.section WHERE strpos(body, 'One more line') > 0")
    left = [row for row in before if row[5] != edited]
    assert 0 < len(left) < len(before)
    assert ask(url, kept, load) == left


def test_many_pages_that_change_their_slugs_at_once_are_fed(
    wiki: BuiltWiki, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wikiq.feed.feeder.PAGES_AT_ONCE", 1)
    wiki.bring({f"{name}.md": f"# {name}\n\nOf {name}.\n" for name in "abc"})
    feed(url, wiki.index.db)
    wiki.bring({f"{name}.md": f"# {name}\n\nNow {name}.\n" for name in "abcd"})
    fed = feed(url, wiki.index.db)
    assert (fed.how, fed.pages) == (CAUGHT_UP, 4)
    assert differences(url, wiki.index.db) == []


def test_a_page_that_comes_makes_the_links_of_others_whole(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    wiki.bring(PAGES | {"gone.md": "# Here\n"})
    assert feed(url, wiki.index.db).how == CAUGHT_UP
    assert differences(url, wiki.index.db) == []
    assert ask(url, "SELECT target_slug FROM {s}.link WHERE target = 'gone.md'") == [("gone",)]


def test_a_slug_that_moved_to_another_page_between_two_looks_is_fed(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    others = {path: text for path, text in PAGES.items() if path != "setup.md"}
    wiki.bring(others)
    wiki.bring(others | {"setup.markdown": "# Setup\n\nIn another file.\n"})
    fed = feed(url, wiki.index.db)
    assert (fed.how, fed.pages, fed.gone) == (CAUGHT_UP, 1, 1)
    assert differences(url, wiki.index.db) == []


def test_a_page_that_goes_takes_its_rows_and_words_along(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    wiki.bring({path: text for path, text in PAGES.items() if path != "setup.md"})
    assert feed(url, wiki.index.db).gone == 1
    assert differences(url, wiki.index.db) == []
    assert ask(url, "SELECT 1 FROM {s}.term WHERE term = 'tokyo' OR term = '東京'") == []


def test_a_rebuilt_index_is_fed_anew_while_readers_keep_the_old_rows(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    with open_store(wiki.index.db.parent, anew=True) as store:
        bring(store, {"only.md": "# Only\n\nThis one.\n"})
    assert feed(url, wiki.index.db).how == ANEW
    assert differences(url, wiki.index.db) == []


def test_a_follower_below_the_floor_is_fed_anew(wiki: BuiltWiki, url: str) -> None:
    feed(url, wiki.index.db)
    wiki.bring(PAGES | {"more.md": "# More\n"})
    wiki.bring(PAGES | {"more.md": "# More still\n"})
    wiki.index.alter("DELETE FROM change WHERE generation <= 2")
    wiki.index.alter("UPDATE meta SET value = 2 WHERE key = 'changes_floor'")
    assert feed(url, wiki.index.db).how == ANEW
    assert differences(url, wiki.index.db) == []


def test_an_older_copy_of_the_same_index_is_refused(wiki: BuiltWiki, url: str, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    wiki.index.alter(f"VACUUM INTO '{old}'")
    wiki.bring(PAGES | {"more.md": "# More\n"})
    feed(url, wiki.index.db)
    with pytest.raises(ForeignIndexError, match="another feeder has a newer copy"):
        feed(url, old)
    assert differences(url, wiki.index.db) == []


def test_two_wikis_of_one_schema_keep_to_themselves(wiki: BuiltWiki, url: str, tmp_path: Path) -> None:
    other = build_wiki(tmp_path / "other", {"setup.md": "# Setup\n\nOf the other one.\n", "b.md": "# B\n"})
    feed(url, wiki.index.db, wiki="first")
    feed(url, other.index.db, wiki="second")
    wiki.bring(PAGES | {"setup.md": "# Setup\n\nEdited.\n"})
    feed(url, wiki.index.db, wiki="first")
    other.bring({"b.md": "# B\n"})
    feed(url, other.index.db, wiki="second")
    assert differences(url, wiki.index.db, "first") == []
    assert differences(url, other.index.db, "second") == []


def test_consumers_that_listen_are_told_what_came(wiki: BuiltWiki, url: str) -> None:
    import psycopg

    feed(url, wiki.index.db)
    with psycopg.connect(parse_address(url).url, autocommit=True) as listener:
        listener.execute("LISTEN wikiq")
        wiki.bring(PAGES | {"more.md": "# More\n"})
        feed(url, wiki.index.db)
        told = next(listener.notifies(timeout=10, stop_after=1))
    assert '"generation": 2' in told.payload


def test_a_schema_without_tables_says_how_to_make_them(wiki: BuiltWiki, url: str) -> None:
    with pytest.raises(NoIndexError, match="run it once with --init"):
        feed(url, wiki.index.db, init=False)


def test_a_feed_that_breaks_in_the_middle_leaves_the_old_state(
    wiki: BuiltWiki, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(url, wiki.index.db)
    before = ask(url, "SELECT generation FROM {s}.wiki")
    rows = ask(url, "SELECT count(*) FROM {s}.posting")
    wiki.bring(PAGES | {"more.md": "# More\n"})
    monkeypatch.setattr("wikiq.feed.tables.Tables.count_terms", _break)
    with pytest.raises(KeyboardInterrupt):
        feed(url, wiki.index.db)
    assert ask(url, "SELECT generation FROM {s}.wiki") == before
    assert ask(url, "SELECT count(*) FROM {s}.posting") == rows
    monkeypatch.undo()
    feed(url, wiki.index.db)
    assert differences(url, wiki.index.db) == []


def _break(_: object) -> None:
    raise KeyboardInterrupt


TEXTS = st.text(
    st.one_of(st.sampled_from("ab c#[]|`\n日本語ไทย한글éßﬁ\u0301-_"), st.characters(codec="utf-8")),
    max_size=120,
)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    states=st.lists(
        st.dictionaries(st.sampled_from(["a.md", "b.md", "d/c.md"]), TEXTS), min_size=1, max_size=4
    )
)
def test_any_states_one_after_the_other_are_fed_as_the_index_has_them(
    states: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory, url: str
) -> None:
    wiki = build_wiki(tmp_path_factory.mktemp("any"), {})
    with closing(open_database(str(wiki.index.db))) as database:
        feeder = Feeder(parse_address(url), "any")
        with closing(feeder):
            feeder.make_tables()
            for state in states:
                wiki.bring(state)
                with database.snapshot() as snapshot:
                    feeder.feed(snapshot)
                assert differences(url, wiki.index.db, "any") == []
