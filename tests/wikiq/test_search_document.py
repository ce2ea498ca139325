"""docs/search.md: its SQL gives the pages that the command gives, in the same order."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from random import Random

import pytest

from tests.eval.ablations import ABLATIONS
from tests.imports import REPOSITORY
from tests.wikiq.answers.test_search import PAGES
from tests.wikiq.asking import answer
from tests.wikiq.sample_index import SampleIndex, SamplePage, write_sample
from wikiq.answers.search import search
from wikiq.index.database import open_database
from wikiq.model.request import SearchRequest

DOCUMENT = REPOSITORY / "docs" / "search.md"
RECIPES = dict(re.findall(r"```sql\n-- ([^\n]*)\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL))
NO_FIELD_LENGTHS = ABLATIONS["no-field-lengths"]  # SQL does not count the words of a field


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SampleIndex:
    random = Random(7)
    words = (
        "path",
        "normalization",
        "paths",
        "agent",
        "ends the agent",
        "the end",
        "数据库",
        "索引",
        "数据库索引。",
    )
    crowd = [
        SamplePage(
            f"crowd/{number}.md",
            "".join(
                f"## {random.choice(words)}\n\n{' '.join(random.choices(words, k=9))}\n\n"
                for _ in range(number % 5 + 1)
            ),
            updated_at=f"2026-01-{number % 3 + 1:02}T00:00:00.000Z",
        )
        for number in range(24)
    ]
    return write_sample(tmp_path_factory.mktemp("document"), [*PAGES, *crowd])


def wikiq_order(index: SampleIndex, question: str) -> list[str]:
    database = open_database(str(index.db))
    try:
        request = SearchRequest(query=question, limit=10)
        return [hit.path for hit in answer(database, search, request, policy=NO_FIELD_LENGTHS).hits]
    finally:
        database.close()


def test_there_is_a_recipe_for_words_for_a_phrase_and_for_chinese() -> None:
    assert list(RECIPES) == ["paths agent", '"ends the agent"', "数据库索引"]


@pytest.mark.parametrize("question", RECIPES)
def test_sqlite_of_the_standard_library_gives_the_order_of_the_command(
    index: SampleIndex, question: str
) -> None:
    connection = sqlite3.connect(f"file:{index.db}?mode=ro", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    paths = [row[0] for row in connection.execute(RECIPES[question])]
    connection.close()
    assert len(paths) == 10
    assert paths == wikiq_order(index, question)


@pytest.mark.parametrize("question", RECIPES)
def test_the_sqlite3_shell_gives_the_order_of_the_command(index: SampleIndex, question: str) -> None:
    shell = shutil.which("sqlite3")
    if shell is None:
        pytest.skip("the sqlite3 shell is not installed")
    done = subprocess.run(
        [shell, "-readonly", str(index.db), RECIPES[question]], capture_output=True, check=True, text=True
    )
    assert [line.partition("|")[0] for line in done.stdout.splitlines()] == wikiq_order(index, question)
