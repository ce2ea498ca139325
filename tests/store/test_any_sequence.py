"""However an index came to be, it holds what one made from nothing holds; and its full text agrees."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexerd.core.model import TopicDeclaration
from indexerd.store import Store
from tests.store.wiki import bring, build, open_store, rows_of

PATHS = (
    "README.md", "index.md", "a.md", "a.markdown", "A.md", "a/README.md", "a/index.md", "a.md.md",
    "b/c.md", "b/a.md", "日本/語.md", "é.md", "e\u0301.md",
)  # fmt: skip
LINES = (
    "# One", "## Two", "## Two", '### Three "quoted" \\ path', "text about cats", "[a](a.md) [b](b/c)",
    "[[a]] [[Two words]] ![[pic.png]]", "[up](/) [x](nope.md#frag)", "#tag #tag/sub and `src/app/main.py`",
    "日本語の文章", "ｆｕｌｌ ｗｉｄｔｈ", "| a | b |\n|---|---|\n| 1 | 2 |", "```\ncode\n```", "",
)  # fmt: skip
FRONT_MATTER = (
    "", "---\ntitle: Two words\n---\n", "---\naliases: [b, Nope, A]\ntopics: [x/y, z]\n---\n",
    "---\ntitle: 日本語\nupdated: 2024-05-06\ntags: a\n---\n", "---\ntitle: [broken\n---\n",
)  # fmt: skip
TEXTS = st.builds(
    lambda front, lines: front + "\n".join(lines),
    st.sampled_from(FRONT_MATTER),
    st.lists(st.sampled_from(LINES)),
)
WIKIS = st.dictionaries(st.sampled_from(PATHS), TEXTS, max_size=7)
TOPICS = st.sampled_from(
    (
        None,
        (),
        (TopicDeclaration("z", "Zed", None, ("x",)), TopicDeclaration("x", None, "first", ())),
        (TopicDeclaration("x/y", "Why", None, ("other/one",)),),
    )
)


def pages(store: Store) -> set[tuple[object, ...]]:
    statement = "SELECT slug, path, content_hash, generation FROM v1_pages"
    return set(store._connection.execute(statement).fetchall())


def followed(store: Store) -> set[tuple[object, ...]]:
    """The pages as one knows them who has read nothing but the change feed, from its beginning."""
    known: dict[object, tuple[object, ...]] = {}
    statement = "SELECT slug, path, content_hash, generation, op FROM v1_changes ORDER BY generation"
    for slug, *rest, op in store._connection.execute(statement).fetchall():
        known.pop(slug, None)
        if op == "upsert":
            known[slug] = (slug, *rest)
    return set(known.values())


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(WIKIS, TOPICS), min_size=2, max_size=5))
def test_any_sequence_of_plans_gives_the_rows_of_the_last_state(
    steps: list[tuple[dict[str, str], tuple[TopicDeclaration, ...] | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        declared: tuple[TopicDeclaration, ...] | None = None
        with open_store(Path(folder, "one")) as store:
            for wiki, topics in steps:
                declared = declared if topics is None else topics
                generation = store.generation
                applied = bring(store, wiki, topics=topics)
                assert store.check_integrity() == ()
                assert bring(store, wiki).committed is False
                assert generation <= applied.generation <= generation + 1
                assert store.generation == applied.generation
                assert followed(store) == pages(store)
        assert rows_of(Path(folder, "one")) == build(Path(folder, "two"), steps[-1][0], topics=declared)
