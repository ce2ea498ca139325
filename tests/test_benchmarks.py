"""The benchmarks run: every measure once, on a made wiki of a few pages. No time is asserted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks import bulk
from tests.benchmarks.__main__ import MEASURES, main
from tests.benchmarks.corpus import Vocabulary, find_pages, render_page, write_synthetic
from tests.benchmarks.ratio import Ratio, Skipped, alternate, percentile
from tests.benchmarks.report import render_json, render_markdown, render_table


def words() -> Vocabulary:
    return Vocabulary(Counter({"page": 5, "wiki": 3, "list": 2, "folder": 1}))


@pytest.mark.slow
def test_every_measure_can_be_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "QUIET_S", 0.0)
    monkeypatch.setattr(bulk, "IDLE_S", 0.2)
    wiki = write_synthetic(tmp_path / "wiki", 3, words())
    report = tmp_path / "report.json"
    arguments = [
        "--wiki",
        str(wiki),
        "--rounds",
        "1",
        "--work",
        str(tmp_path / "work"),
        "--json",
        str(report),
    ]
    table = tmp_path / "table.md"
    main([*arguments, "--markdown", str(table)])
    results = json.loads(report.read_text("utf-8"))["results"]
    assert len(results) >= len(MEASURES)
    for result in results:
        if "skipped" in result:
            assert "installed" in result["skipped"]
        else:
            assert result["ratio"] >= 0
    assert len(capsys.readouterr().out.splitlines()) == len(results) + 1
    assert sum(line.startswith("| ") for line in table.read_text().splitlines()) == len(results) + 1


@pytest.mark.slow
def test_growth_is_a_table_and_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    plot = tmp_path / "growth.png"
    main(["growth", "--sizes", "2,6", "--plot", str(plot)])
    assert "| 60 |" in capsys.readouterr().out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_a_goal_that_is_missed_says_what_stands_in_the_way() -> None:
    results = [
        Ratio("slow thing", "c", "s", (3.0,), (1.0,), 2.0),
        Ratio("quick thing", "c", "s", (1.0,), (1.0,), 2.0),
    ]
    text = render_markdown(results, {"slow": "too many steps", "quick": "none"})
    assert "- **slow**: too many steps" in text
    assert "- **quick**" not in text


def test_a_corpus_that_is_not_there_is_skipped_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["size", "--corpora", str(tmp_path / "nowhere"), "--work", str(tmp_path)])
    assert "powershell.tar.xz is absent" in capsys.readouterr().out


def test_an_unknown_measure_is_an_error_that_names_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["sise"])
    assert "size" in capsys.readouterr().err


def test_the_same_words_and_size_give_the_same_synthetic_wiki(tmp_path: Path) -> None:
    roots = [write_synthetic(tmp_path / name, 101, words()) for name in ("one", "two")]
    texts = [[path.read_text("utf-8") for path in find_pages(root)] for root in roots]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) == 101
    assert sum(line.startswith("#") for line in texts[0][100].splitlines()) == 10


def test_only_visible_markdown_counts_as_a_page(tmp_path: Path) -> None:
    for name in ("a.md", "b.MARKDOWN", ".c.md", "d.txt", ".git/e.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(render_page(0, words()), "utf-8")
    assert [path.name for path in find_pages(tmp_path)] == ["a.md", "b.MARKDOWN"]


def test_sides_take_turns_after_a_round_that_is_not_counted() -> None:
    turns: list[str] = []

    def side(name: str) -> float:
        turns.append(name)
        return float(len(turns))

    assert alternate(lambda: side("s"), lambda: side("b"), 2) == ((3.0, 5.0), (4.0, 6.0))
    assert turns == ["s", "b"] * 3


@pytest.mark.parametrize("share, expected", [(0.0, 1.0), (0.5, 2.0), (0.51, 3.0), (0.99, 4.0), (1.0, 4.0)])
def test_a_percentile_is_a_sample_that_enough_samples_do_not_exceed(share: float, expected: float) -> None:
    assert percentile((4.0, 1.0, 3.0, 2.0), share) == expected


def test_the_report_holds_ratios_goals_and_reasons() -> None:
    results: list[Ratio | Skipped] = [
        Ratio("m", "c", "s", (3.0, 2.0, 9.0), (1.0, 1.0, 1.0), 2.0),
        Ratio("n", "c", "s", (1.0,), (1.0,), 2.0, remark="two pages"),
        Skipped("o", "c", "no corpus"),
    ]
    table = render_table(results).splitlines()
    assert "3.00" in table[1]
    assert "over 2" in table[1]
    assert "<= 2" in table[2]
    assert table[2].endswith("two pages")
    assert table[3].endswith("skipped: no corpus")
    assert [entry.get("met") for entry in json.loads(render_json(results))["results"]] == [False, True, None]


def test_a_ratio_without_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        Ratio("m", "c", "s", (), (1.0,))
