"""A wiki on the disk with the index that the writer makes of it, for what the reader says of structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from indexerd.core.model import TopicDeclaration
from indexerd.store import Store
from tests.store.wiki import NOON, plan_for
from tests.wikiq.sample_index import SampleIndex


@dataclass(frozen=True, slots=True)
class BuiltWiki:
    """A root and its index. `bring` makes both hold exactly the given pages."""

    index: SampleIndex

    def bring(self, pages: Mapping[str, str], *, topics: tuple[TopicDeclaration, ...] | None = None) -> None:
        for old in self.index.root.rglob("*.md"):
            old.unlink()
        for path, text in pages.items():
            file = self.index.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")
        with Store.open(self.index.db, root=str(self.index.root), name="wiki") as store:
            store.apply(plan_for(store, pages, topics=topics), committed_at=NOON)


def build_wiki(folder: Path, pages: Mapping[str, str]) -> BuiltWiki:
    """A wiki below `folder`, found by commands that run with `folder` as their home."""
    root = folder.resolve() / "wiki"
    root.mkdir(parents=True)
    db = folder.resolve() / "state" / "indexerd" / "wiki-1" / "index.db"
    wiki = BuiltWiki(SampleIndex(root=root, db=db))
    wiki.bring(pages)
    return wiki
