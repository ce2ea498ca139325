"""The measure of a page as the viewer shows it: from its bundle to clean HTML."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Final

from markdown_it import MarkdownIt

from tests.benchmarks.ratio import Ratio, alternate, seconds
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import ensure_built
from tests.wikiq.asking import answer
from wikiq.answers.page_bundle import PageBundle, page_bundle
from wikiq.answers.pages import list_pages
from wikiq.index.database import open_database
from wikiq.web.rendering.page import RenderedPage, render

PAGES: Final = 100  # evenly spread over the wiki


def page_rendering(setting: Setting) -> Ratio:
    """Pages rendered with their links, against the same sources rendered by markdown-it alone."""
    with closing(open_database(str(ensure_built(setting)))) as index:
        hits = answer(index, list_pages).hits
        chosen = hits[:: max(len(hits) // PAGES, 1)]
        bundles = [answer(index, page_bundle, hit.slug) for hit in chosen]
    plain = MarkdownIt("commonmark").enable("table")
    subject, baseline = alternate(
        partial(seconds, lambda: [rendered(bundle) for bundle in bundles]),
        partial(seconds, lambda: [plain.render(bundle.page.source) for bundle in bundles]),
        setting.rounds,
    )
    return Ratio("page rendered / markdown-it", setting.corpus, "s", subject, baseline, 3.0)


def rendered(bundle: PageBundle) -> RenderedPage:
    """A page as the viewer has it rendered."""
    return render(
        bundle.page.source,
        title=bundle.page.title,
        sections=bundle.outline.sections,
        links=bundle.links,
        page_href=lambda slug, _: f"/p/{slug}",
        file_href=lambda path: f"/files/{path}",
    )
