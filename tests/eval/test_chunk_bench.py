"""Chunks ranked with and without their path, each taking a rank of its own."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import pytest

from tests.eval.chunk_bench import CHUNK_RANKINGS
from tests.eval.rankings import evaluate_rankings
from tests.wikiq.built_wiki import build_wiki
from tests.wikiq.sample_index import SampleIndex
from wikiq.errors import UsageError
from wikiq.eval.judged import parse_set
from wikiq.index.database import open_database

PARTS: Final = "\n\n".join(
    f"Item {number} of the stock. " + "Goods are kept dry. " * 60 for number in range(4)
)
PAGES: Final = {
    "tent.md": "# Tent\n\nSleeps four.\n\n## Cleaning\n\nUse water and a soft brush.\n",
    "stove.md": "# Stove\n\nBurns gas.\n\n## Cleaning\n\nUse water and a wire brush.\n",
    "stock.md": f"# Stock\n\n## Storage\n\n{PARTS}\n",
    "shed.md": f"# Shed\n\nFor goods. {'It has a door. ' * 40}\n",
    "ja.md": "# 日本語\n\n文章を検索する方法。\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    return build_wiki(tmp_path_factory.mktemp("wiki"), PAGES).index


def measures(index: SampleIndex, query: str, page: str, *headings: str, **more: Any) -> dict[str, Any]:
    """The measures of sections, with and without the path."""
    wanted = {"page": page, "heading_path": headings}
    questions = parse_set(json.dumps({"query": query, "relevant": [wanted], **more}), "set")
    database = open_database(str(index.db))
    try:
        found = evaluate_rankings(database, questions, CHUNK_RANKINGS).judgements
    finally:
        database.close()
    return {name: judged[0].section.measures() for name, judged in found.items()}


def test_a_word_of_the_title_tells_equal_sections_apart(index: SampleIndex) -> None:
    found = measures(index, "cleaning the stove", "stove.md", "Stove", "Cleaning")
    assert found["with-path"]["mrr@10"] == 1.0
    assert found["text-only"]["mrr@10"] == 0.0


def test_words_of_the_text_alone_find_it_either_way(index: SampleIndex) -> None:
    found = measures(index, "wire brush", "stove.md", "Stove", "Cleaning")
    assert [found[name]["recall@1"] for name in found] == [1.0, 1.0]


def test_every_chunk_of_another_section_takes_a_rank(index: SampleIndex) -> None:
    """Eight parts of one section are all about it, the section wanted names it once."""
    found = measures(index, "goods", "shed.md", "Shed")
    assert [found[name]["mrr@10"] for name in found] == [1 / 9, 1 / 9]


def test_scripts_without_blanks_are_found_by_their_pieces(index: SampleIndex) -> None:
    found = measures(index, "検索", "ja.md", "日本語")
    assert [found[name]["recall@1"] for name in found] == [1.0, 1.0]


def test_only_the_page_that_is_asked_about_is_ranked(index: SampleIndex) -> None:
    found = measures(index, "brush", "tent.md", "Tent", "Cleaning", scope_page="tent.md")
    assert [found[name]["recall@1"] for name in found] == [1.0, 1.0]
    found = measures(index, "brush", "tent.md", "Tent", "Cleaning", scope_page="stove.md")
    assert [found[name]["recall@12"] for name in found] == [0.0, 0.0]


def test_a_question_that_is_the_heading_of_its_section_is_refused(index: SampleIndex) -> None:
    with pytest.raises(UsageError, match="is the heading of its section"):
        measures(index, "Cleaning", "tent.md", "Tent", "Cleaning", blank_heading=True)


def test_the_index_stays_as_it_is(index: SampleIndex) -> None:
    before = hashlib.sha256(index.db.read_bytes()).digest()
    measures(index, "brush", "tent.md", "Tent", "Cleaning")
    assert hashlib.sha256(index.db.read_bytes()).digest() == before
