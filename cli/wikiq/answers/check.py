"""What is wrong with a wiki: dead links, orphans, mentions of files that are gone, every diagnostic.

Reads one snapshot, then the disk; changes nothing. In doubt a page counts as right.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from indexerd.contract.record import Record
from indexerd.contract.suggestions import did_you_mean, nearest
from indexerd.contract.terms import fold_path, fold_title
from wikiq.answers.fragments import PageFragments
from wikiq.answers.links import BROKEN, BY_NAME_KINDS, FILE, StoredLink, link_status, standing_lines
from wikiq.answers.pages import source_of
from wikiq.errors import UsageError
from wikiq.index import sql
from wikiq.index.check_settings import read_ignored
from wikiq.index.database import Snapshot
from wikiq.index.tree_names import REPOSITORY_MARK, TreeNames, find_repository
from wikiq.query.names import SectionName

TOPICS_FILE = "topics.yaml"
# Stems. Where reading starts nothing needs to lead to, nor to what a GitHub wiki shows around each page.
HOME_PAGES = frozenset({"readme", "index", "_index", "home", "_sidebar", "_header", "_footer"})
EMBED_KINDS = frozenset({"embed", "image"})
DEADLINE_S = 600.0  # of the processor; a wiki of 100,000 pages takes about a tenth
BROKEN_KINDS = frozenset({"broken_link", "broken_fragment", "broken_embed", "dead_mention"})
AMBIGUOUS = "ambiguous_link"

# What each kind is called where people read it; those of a newer indexer go by their own name.
TITLES = {
    "broken_link": "Links that lead nowhere",
    "broken_fragment": "Links to headings that are not there",
    "broken_embed": "Embeds and images that are not there",
    "dead_mention": "Mentions of files that are not in the repository",
    "case_differs": "Links to files whose names are written otherwise",
    AMBIGUOUS: "Links that several pages answer equally well (with --strict)",
    "orphan": "Pages that no other page links to",
    "empty_page": "Pages without text",
    "empty_topic": "Topics without pages",
    "duplicate_alias": "Aliases that several pages have",
    "slug_collision": "Pages that would share a slug",
    "conflict_copy": "Copies left by a sync conflict",
    "suspicious_heading": "Headings that name what a page is about instead of structuring it",
    "no_headings": "Pages without headings",
    "front_matter_invalid": "Front matter that is not understood",
    "source_invalid": "Sources that are not understood",
    "topics_invalid": "Declarations of topics that are not understood",
    "settings_invalid": "Settings of the wiki that are not understood",
    "ignore_invalid": "Patterns of ignored files that are not understood",
    "too_large": "Pages too large to be read",
    "too_deep": "Headings or blocks nested too deep",
    "too_deep_folder": "Folders nested too deep",
    "parser_failed": "Pages that cannot be parsed",
    "invalid_utf8": "Text that is not UTF-8",
    "nul_character": "Text with NUL characters",
    "undecodable_name": "Names that are not UTF-8",
    "link_not_followed": "Symbolic links that are not followed",
    "linked_worktree": "Git worktrees that are left out, since the wiki has their pages already",
    "not_regular": "Pages that are no regular files",
    "unreadable": "Files and folders that may not be read",
    "read_failed": "Files and folders that cannot be read",
    "unsettled": "Pages that changed while they were read",
}


class Problem(Record):
    """One problem. `line` is None where it is about the whole file."""

    kind: str
    path: str
    slug: str | None
    line: int | None
    message: str
    remedy: str


class CheckResult(Record):
    """All problems of a wiki, grouped by kind.

    `counts` tells how many of each kind, `broken` how many a reader meets, `ignored` how many the wiki's
    own settings passed over.
    """

    wiki: str
    index_id: str
    generation: int
    repository: str
    counts: dict[str, int]
    broken: int
    ignored: int
    problems: tuple[Problem, ...]


class _Rows(Record):
    """What was read for a check. `into_pages` are links with fragments and what answers them."""

    to_no_page: list[StoredLink]
    wrong_fragments: list[StoredLink]
    ambiguous: list[StoredLink]
    orphans: list[tuple[Any, ...]]
    empty_pages: list[tuple[Any, ...]]
    mentions: list[tuple[Any, ...]]
    aliases: list[tuple[Any, ...]]
    topics: list[tuple[Any, ...]]
    diagnostics: list[tuple[Any, ...]]


def check(
    snapshot: Snapshot,
    *,
    repository: str | None = None,
    strict: bool = False,
    deadline_s: float = DEADLINE_S,
) -> CheckResult:
    """Find everything that is wrong; with `strict` ambiguous links too.

    `repository` is where mentioned files lie; without one what `find_repository` gives, and where that
    finds no `.git` nothing is said of mentions. Its statements may take `deadline_s` of the processor.
    Raises UsageError where it is no folder, or where the wiki's own settings are not understood.
    """
    snapshot.database.allow(deadline_s)
    rows = _read(snapshot, strict=strict)
    if repository is not None and not os.path.isdir(repository):
        raise UsageError(repository, "is no folder", "give the folder that mentioned paths start from")
    found_repository = repository or find_repository(snapshot.root)
    is_known = repository is not None or os.path.exists(os.path.join(found_repository, REPOSITORY_MARK))
    ignored = read_ignored(snapshot.root)
    everything = tuple(
        _problems(rows, TreeNames(snapshot.root), TreeNames(found_repository) if is_known else None)
    )
    problems = tuple(problem for problem in everything if not ignored.holds(problem.kind, problem.path))
    order = [*TITLES, *sorted({problem.kind for problem in problems} - TITLES.keys())]
    problems = tuple(sorted(problems, key=lambda problem: order.index(problem.kind)))
    return CheckResult(
        wiki=snapshot.wiki,
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        repository=found_repository,
        counts={kind: len(list(group)) for kind, group in groupby(problems, lambda problem: problem.kind)},
        broken=_count_broken(problems),
        ignored=len(everything) - len(problems),
        problems=problems,
    )


def only_kinds(found: CheckResult, kinds: Sequence[str]) -> CheckResult:
    """Keep the problems of these kinds, all without any. Raises UsageError for an unknown kind."""
    for kind in kinds:
        if kind not in TITLES and kind not in found.counts:
            remedy = did_you_mean(nearest(kind, TITLES), f"use {', '.join(TITLES)}")
            raise UsageError(kind, "there is no such kind of problem", remedy)
    if not kinds:
        return found
    problems = tuple(problem for problem in found.problems if problem.kind in kinds)
    return found.replace(
        problems=problems,
        broken=_count_broken(problems),
        counts={kind: count for kind, count in found.counts.items() if kind in kinds},
    )


def _count_broken(problems: Iterable[Problem]) -> int:
    return sum(problem.kind in BROKEN_KINDS for problem in problems)


def _read(snapshot: Snapshot, *, strict: bool) -> _Rows:
    unresolved = snapshot.records(StoredLink, sql.SELECT_LINKS_TO_NO_PAGE)
    by_name = standing_lines(snapshot, (link for link in unresolved if link.kind in BY_NAME_KINDS))
    of_code = [link for link, line in by_name if _is_of_code(link, line)]
    return _Rows(
        to_no_page=[link for link in unresolved if link not in of_code],
        ambiguous=snapshot.records(StoredLink, sql.SELECT_AMBIGUOUS_LINKS) if strict else [],
        wrong_fragments=list(_wrong_fragments(snapshot)),
        orphans=snapshot.rows(sql.SELECT_ORPHANS),
        empty_pages=snapshot.rows(sql.SELECT_EMPTY_PAGES),
        mentions=snapshot.rows(sql.SELECT_MENTIONS),
        aliases=snapshot.rows(sql.SELECT_SHARED_ALIASES),
        topics=snapshot.rows(sql.SELECT_TOPICS, {"topic": None}),
        diagnostics=snapshot.rows(sql.SELECT_DIAGNOSTICS),
    )


def _is_of_code(link: StoredLink, line: str) -> bool:
    """Tell whether what looks like a wikilink follows a word, as an index does: `x[[1]]`."""
    return re.search(rf"[A-Za-z0-9_]\[\[\s*{re.escape(link.target)}", line) is not None


def _wrong_fragments(snapshot: Snapshot) -> Iterator[StoredLink]:
    """The links to a page whose fragment neither it answers nor, by name, another page of that name."""
    into_pages = snapshot.records(StoredLink, sql.SELECT_LINKS_INTO_PAGES)
    for slug, group in groupby(into_pages, key=lambda link: link.target_slug):
        page_id = snapshot.only_row(sql.SELECT_PAGE_EXACTLY, {"name": slug})[0]
        fragments = _fragments_of(snapshot, page_id)
        for link in group:
            if link.target.startswith("^"):
                continue  # `[[^a-z]]` is a class of characters as often as a block of its own page
            if not fragments.answers(link.fragment or "") and not _is_answered_by_namesake(snapshot, link):
                yield link


def _is_answered_by_namesake(snapshot: Snapshot, link: StoredLink) -> bool:
    """Tell whether another page that a wikilink may mean has the fragment: wikis may lie side by side."""
    if link.kind not in BY_NAME_KINDS:
        return False
    last, fragment = (link.target_path or "").rpartition("/")[2], link.fragment or ""
    pages = snapshot.rows(sql.SELECT_PAGES_NAMED, (fold_path(last), fold_title(last)))
    return any(_fragments_of(snapshot, page[0]).answers(fragment) for page in pages)


def _fragments_of(snapshot: Snapshot, page_id: int) -> PageFragments:
    sections = snapshot.records(SectionName, sql.SELECT_SECTION_NAMES, (page_id,))
    return PageFragments(
        ((one.anchor, one.heading) for one in sections), lambda: source_of(snapshot, page_id)
    )


def _link_problems(rows: _Rows, tree: TreeNames) -> Iterator[Problem]:
    for link in rows.to_no_page:
        path = link.target_path or ""
        status = link_status(link, tree)
        if status == BROKEN:
            kind = "broken_embed" if link.kind in EMBED_KINDS else "broken_link"
            remedy = "correct the target, or write the page" if kind == "broken_link" else "add the file"
            yield _link_problem(kind, link, f"{link.target!r} is neither a page nor a file", remedy)
        elif status == FILE and not tree.has_path(path) and (spelled := tree.spelled(path)) is not None:
            message = f"{link.target!r} is {spelled!r} on the disk"
            yield _link_problem("case_differs", link, message, "write it as the file is called")
    for link in rows.ambiguous:
        message = f"{link.target!r} is taken for {link.target_slug}, others are as near"
        yield _link_problem(AMBIGUOUS, link, message, "write more of the path")
    for link in rows.wrong_fragments:
        message = f"{link.target_slug} has no heading or anchor {link.fragment!r}"
        yield _link_problem("broken_fragment", link, message, f"see `wikiq outline {link.target_slug}`")


def _problems(rows: _Rows, tree: TreeNames, repository: TreeNames | None) -> Iterator[Problem]:
    yield from _link_problems(rows, tree)
    for slug, path in rows.orphans:
        if path.rpartition("/")[2].partition(".")[0].lower() not in HOME_PAGES:
            yield _page_problem(
                "orphan", slug, path, "no other page links here", "link to it from another page"
            )
    for slug, path in rows.empty_pages:
        yield _page_problem("empty_page", slug, path, "has no text", "write it, or remove it")
    if repository is not None:
        yield from _mention_problems(rows.mentions, repository)
    yield from _alias_problems(rows.aliases)
    for topic, _, _, _, pages in rows.topics:
        if not pages:
            message, remedy = f"no page carries {topic!r}", "give it to a page, or take it out"
            yield _page_problem("empty_topic", None, TOPICS_FILE, message, remedy)
    for kind, path, slug, line, message in rows.diagnostics:
        what, _, remedy = message.rpartition("; ")
        yield Problem(
            kind=kind, path=path, slug=slug, line=line, message=what or message, remedy=remedy if what else ""
        )


def _mention_problems(rows: Iterable[tuple[Any, ...]], repository: TreeNames) -> Iterator[Problem]:
    """Mentions whose file is gone.

    What only looks like a path counts where its first folder is there; what a link mentions is a
    broken link already.
    """
    for slug, page_path, path, original, origin, line in rows:
        if origin == "link" or repository.has_folded_path(path):
            continue
        if origin == "code" and not ("/" in path and repository.has_folded_path(path.partition("/")[0])):
            continue
        yield Problem(
            kind="dead_mention",
            path=page_path,
            slug=slug,
            line=line,
            message=f"{original!r} is not in the repository",
            remedy="correct the path, or bring the page up to date",
        )


def _alias_problems(rows: Iterable[tuple[Any, ...]]) -> Iterator[Problem]:
    for alias, group in groupby(rows, key=lambda row: row[0]):
        pages = [(slug, path) for _, slug, path in group]
        for slug, path in pages[1:]:
            message = f"the alias {alias!r} is also that of {pages[0][1]}"
            yield _page_problem("duplicate_alias", slug, path, message, "take it off one of them")


def _link_problem(kind: str, link: StoredLink, message: str, remedy: str) -> Problem:
    return Problem(kind=kind, path=link.path, slug=link.slug, line=link.line, message=message, remedy=remedy)


def _page_problem(kind: str, slug: str | None, path: str, message: str, remedy: str) -> Problem:
    return Problem(kind=kind, path=path, slug=slug, line=None, message=message, remedy=remedy)
