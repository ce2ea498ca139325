"""Real pages as they are shown: each section stands where the index has it, under its own heading."""

from __future__ import annotations

import re
import tarfile
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest

from indexerd.core.model import ProjectionOptions
from indexerd.core.project import project_page
from tests.corpora import decode
from tests.shared_data import SHARED, shared_folder
from tests.web.rendered import Elements, links_of, outline_of
from tests.web.test_rendering_safety import dangers
from tests.wikiq.built_wiki import build_wiki
from wikiq.index.database import open_database
from wikiq.web.page_view import Elsewhere, show_page
from wikiq.web.rendering.page import MAX_RENDERED, render

PAGES = 60  # of each corpus, evenly spread
ARCHIVES = (
    "corpora/obsidian-help.tar.xz", "corpora/powershell.tar.xz",
    "eval/corpora/rustbook.tar.gz", "eval/corpora/astro-ja.tar.gz", "eval/corpora/obsidian-zh.tar.gz",
)  # fmt: skip
SECTION = re.compile(r'<section(?: id="([^"]*)")? data-line="(\d+)">\n(?:<h([1-6])>)?')


@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES)
def test_the_sections_of_a_page_are_those_of_the_index(archive: str) -> None:
    for path, data in real_pages(archive):
        page = project_page(data, path, ProjectionOptions())
        source = page.lead + "".join(section.heading_source + section.body for section in page.sections)
        rows = outline_of(page)
        rendered = render(
            source,
            title=page.title,
            sections=rows,
            links=links_of(page, (), ()),
            page_href=lambda slug, _: f"/p/{slug}",
        )
        assert rendered.failed is None, path
        assert dangers(rendered.html) == [], path
        shown = [(unescape(found[1] or ""), int(found[2])) for found in SECTION.finditer(rendered.html)]
        used: set[str] = set()
        wanted = []
        for row in rows:
            wanted.append(("" if row.anchor in used else row.anchor, row.start_line))
            used.add(row.anchor)
        assert shown == wanted, path
        assert Elements(rendered.html).ids() == [anchor for anchor, _ in wanted if anchor], path
        levels = [int(found[3] or 0) for found in SECTION.finditer(rendered.html)]
        differing = [row for row, level in zip(rows, levels, strict=True) if row.level != level]
        assert len(differing) <= 1, path  # the title is the frame's to show
        assert all(row.level == 1 and row.heading == page.title for row in differing), path


def real_pages(archive: str) -> list[tuple[str, bytes]]:
    """Some pages of a corpus, as they are in its archive."""
    shared_folder(archive.rpartition("/")[0])
    found = []
    with tarfile.open(SHARED / archive) as packed:
        pages = [member for member in packed if member.isfile() and re.search(r"\.mdx?$", member.name)]
        for member in pages[:: max(len(pages) // PAGES, 1)]:
            file = packed.extractfile(member)
            if file is not None and member.size < MAX_RENDERED:
                found.append((member.name, file.read()))
    assert found
    return found


@pytest.mark.slow
@pytest.mark.parametrize("archive", ARCHIVES[:3])
def test_the_ids_of_a_page_are_the_anchors_of_a_built_index(archive: str, tmp_path: Path) -> None:
    """As the viewer asks for a page: through the services, of a file that the writer made."""
    pages = {path: decode(data) for path, data in real_pages(archive)}
    wiki = build_wiki(tmp_path, pages)
    with closing(open_database(str(wiki.index.db))) as database, database.snapshot() as snapshot:
        rows = snapshot.rows("SELECT slug, anchor FROM v1_sections ORDER BY page_id, ordinal")
        wanted: dict[str, dict[str, None]] = {}
        for slug, anchor in rows:
            wanted.setdefault(slug, {}).update({anchor: None} if anchor else {})
        assert len(wanted) > PAGES // 2
        for slug, anchors in wanted.items():
            answer = show_page(snapshot, slug, "")
            assert not isinstance(answer, Elsewhere)
            rendered = answer().values["rendered"]
            assert rendered.failed is None, slug
            assert Elements(rendered.html).ids() == list(anchors), slug
