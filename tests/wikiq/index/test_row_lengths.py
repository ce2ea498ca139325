"""What FTS5 keeps of the lengths of rows, against the words that are in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexerd.contract.terms import grams, tokens
from tests.wikiq.sample_index import SamplePage, write_sample
from wikiq.index.database import open_database
from wikiq.index.row_lengths import WORD_PIECES, average_lengths

TEXT = "one two three four five six seven eight nine ten " * 40


def test_the_average_lengths_are_those_of_the_words_in_the_index(tmp_path: Path) -> None:
    pages = [
        SamplePage("a.md", f"# Garden tools\n\n{TEXT}\n\n## Rakes and hoes\n\nThey rake.\n"),
        SamplePage("b.md", "# 工具\n\n园艺工具很多。\n"),
    ]
    database = open_database(str(write_sample(tmp_path, pages).db))
    with database.snapshot() as snapshot:
        average = snapshot.average_lengths()
        texts = snapshot.rows("SELECT title, ancestors, heading, body FROM sections_fts")
    database.close()

    def length(text: str) -> float:
        return len(tokens(text)) + len(grams(text).split()) / WORD_PIECES

    assert len(texts) == 3
    assert average.headings == pytest.approx(sum(length(text) for row in texts for text in row[:3]) / 3)
    assert average.body == pytest.approx(sum(length(row[3]) for row in texts) / 3)


def test_a_wiki_without_sections_divides_by_nothing(tmp_path: Path) -> None:
    database = open_database(str(write_sample(tmp_path, []).db))
    with database.snapshot() as snapshot:
        assert snapshot.average_lengths() == average_lengths(None, None)
        assert snapshot.average_lengths().body == 1.0
    database.close()
