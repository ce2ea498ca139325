"""A command or an error line that is pasted finds the page that holds it.

The sets of the larger corpora are asked by `python -m tests.eval --sets tests/eval/sets`.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.eval.collection import Collection, run_sets
from tests.eval.pasted import pasted_lines
from tests.shared_data import shared_folder
from tests.wikiq.built_wiki import build_wiki
from wikiq.index.database import open_database

SETS = Path(__file__).with_name("sets")
MISSES_MAX = 1  # of these 29 lines

PAGE = """# Tools

```sh
$ tar -xzf archive.tgz
git log -p --stat
```

```output
fatal: not found in archive
ok
```
"""


@pytest.mark.slow
def test_a_pasted_line_finds_the_page_that_holds_it_first(tmp_path: Path) -> None:
    folder = shared_folder("eval")
    collection = Collection(sets=SETS, corpora=folder, work=tmp_path)
    ranks = {
        number: scores["page"]["mrr@10"]
        for one in run_sets(collection, ["pasted-rfcs", "pasted-rustbook"], ["default"])
        for number, scores in one.rankings["default"].items()
    }
    assert len(ranks) == 29
    missed = {number: rank for number, rank in ranks.items() if rank < 1.0}
    assert len(missed) <= MISSES_MAX, missed


def test_lines_are_taken_from_code_without_their_prompt(tmp_path: Path) -> None:
    wiki = build_wiki(tmp_path, {"tools.md": PAGE})
    with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
        lines = pasted_lines(snapshot, 9, seed=1)
    assert {one.text for one in lines} == {
        "tar -xzf archive.tgz",
        "git log -p --stat",
        "fatal: not found in archive",
    }
    assert {one.pages for one in lines} == {("tools.md",)}
