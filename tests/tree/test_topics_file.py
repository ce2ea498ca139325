"""What `topics.yaml` may be, and what becomes of the topics when it is something else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indexerd.tree.tree import GOVERNING_FILE_BYTES
from tests.building import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def _be_folder(path: Path) -> None:
    path.mkdir()


def _be_link(path: Path) -> None:
    path.symlink_to("a.md")


def _be_large(path: Path) -> None:
    path.write_bytes(b"#" * (GOVERNING_FILE_BYTES + 1))


@pytest.mark.parametrize(
    "become, kind",
    [(_be_folder, "not_regular"), (_be_link, "link_not_followed"), (_be_large, "topics_invalid")],
)
def test_what_is_no_file_of_topics_declares_none_and_is_said(
    bench: Bench, become: Callable[[Path], None], kind: str
) -> None:
    bench.write(a="---\ntopics: [inner]\n---\n# A\n")
    declared = bench.root / "topics.yaml"
    declared.write_text("- {slug: inner, title: Inner, parents: [outer]}\n")
    bench.build()
    declared.unlink()
    become(declared)
    bench.build()
    assert bench.fetch("SELECT slug, title FROM v1_topics") == [("inner", None)]
    assert bench.kinds() == {"topics.yaml": [kind]}
    assert bench.public_rows() == bench.fresh_rows()


def test_a_file_of_topics_that_alone_was_saved_is_read(bench: Bench) -> None:
    bench.write(a="---\ntopics: [inner]\n---\n# A\n")
    bench.build()
    (bench.root / "topics.yaml").write_text("- {slug: inner, title: Inner}\n")
    with bench.opened() as (indexer, _):
        indexer.apply(indexer.scan(("topics.yaml",)))
    assert bench.fetch("SELECT slug, title FROM v1_topics") == [("inner", "Inner")]


def test_topics_are_declared_and_a_bad_file_is_ignored_with_a_diagnostic(bench: Bench) -> None:
    bench.write(a="---\ntopics: [inner]\n---\n# A\n")
    declared = bench.root / "topics.yaml"
    declared.write_text("outer:\n  title: Outer\ninner:\n  parents: [outer]\n")
    bench.build()
    assert bench.fetch("SELECT under FROM v1_topic_tree WHERE topic = 'inner' ORDER BY under") == [
        ("inner",),
        ("outer",),
    ]
    assert bench.build().commits == 0
    declared.write_text("outer:\n  parents: [inner]\ninner:\n  parents: [outer]\n")
    bench.build()
    assert bench.kinds() == {"topics.yaml": ["topics_invalid"]}
    assert bench.fetch("SELECT slug FROM v1_topics") == [("inner",)]
    assert bench.build().commits == 0
    declared.unlink()
    bench.build()
    assert bench.kinds() == {}
