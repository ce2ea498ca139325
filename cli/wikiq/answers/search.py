"""The search: a question and filters over one snapshot of an index, to ranked hits with evidence.

It runs the same statements whatever the number of hits, and reads the text of those it shows only.
What words mean is in `query`, what order they give in `ranking`.
"""

from __future__ import annotations

import json
import time

from indexerd.contract.record import Record
from wikiq.errors import UsageError
from wikiq.index import sql
from wikiq.index.database import parse_names
from wikiq.index.freshness import freshness_of
from wikiq.index.page_status import page_status
from wikiq.model.policies import DEFAULT
from wikiq.model.results import Evidence, Hit, SearchResult
from wikiq.query.exclusions import settle_dashes
from wikiq.query.filters import checked_filters
from wikiq.query.parse import analyze_question
from wikiq.query.vocabulary import look_up_terms
from wikiq.ranking.candidates import fetch_ranking
from wikiq.ranking.copies import REACH, Group, SectionText, collapse_copies
from wikiq.ranking.score import best_of_each_page
from wikiq.snippet.evidence import lead_of, sought_words
from wikiq.snippet.plain_text import count_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from wikiq.index.database import Snapshot
    from wikiq.model.policies import Policy
    from wikiq.model.request import Filters, SearchRequest
    from wikiq.model.results import Advice
    from wikiq.query.parse import Question
    from wikiq.query.vocabulary import Vocabulary
    from wikiq.ranking.score import Scored
    from wikiq.snippet.evidence import Words

EXCERPT_SCAN_MAX = 32 * 1024  # characters of a section that an excerpt is sought in: 5 ms
EXCERPT_LEAD = 1024  # of them before the first place of the rarest word, on longer sections
SCORE_DIGITS = 6  # more would only show in which order floating point numbers were added


class _Found(Record):
    """The groups to show, and how many there are in all; no more than that where not `is_exact`."""

    groups: list[Group]
    total: int
    is_exact: bool


def search(snapshot: Snapshot, request: SearchRequest, policy: Policy = DEFAULT) -> SearchResult:
    """Answer a question; without words, list the pages that pass the filters.

    Raises UsageError when there is nothing to search for (none for `prefix`, where somebody still types),
    UnknownTopicError and UnknownPageError.
    """
    started = time.perf_counter()
    question = analyze_question(request.query, exact=request.exact, without=request.without)
    if question.is_blank:
        return _listing(snapshot, request, question)
    question = settle_dashes(snapshot, question, exact=request.exact, without=request.without)
    filters = checked_filters(snapshot, request.filters)
    vocabulary = look_up_terms(snapshot, question, policy, exact=request.exact, prefix=request.prefix)
    found = _fetch_groups(
        snapshot, request, question=question, vocabulary=vocabulary, policy=policy, filters=filters
    )
    shown = [group.shown for group in found.groups]
    hits = _hits(snapshot, found.groups, question, vocabulary)
    freshness = freshness_of(snapshot)
    result = SearchResult(
        query=request.query,
        policy=policy.label,
        corrected=vocabulary.corrected,
        excluded=question.excluded_words,
        ignored_terms=question.ignored,
        wiki=snapshot.wiki,
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        age_s=freshness.age_s,
        stale=freshness.stale,
        total=found.total,
        total_exact=found.is_exact,
        took_ms=round((time.perf_counter() - started) * 1000, 3),
        hits=hits,
        advice=() if hits else _advice(snapshot, request, question, policy, filters),
    )
    if request.explain:
        from wikiq.ranking.explain import explained

        return explained(
            result,
            question=question,
            vocabulary=vocabulary,
            policy=policy,
            shown=shown,
        )
    return result


def _fetch_groups(
    snapshot: Snapshot,
    request: SearchRequest,
    *,
    question: Question,
    vocabulary: Vocabulary,
    policy: Policy,
    filters: Filters,
) -> _Found:
    """Rank, and collapse copies; looks further down where the copies of a few pages fill what it has."""
    reach = request.limit if request.copies else max(policy.pool, REACH * request.limit)
    while True:
        ranking = fetch_ranking(
            snapshot,
            question,
            vocabulary,
            policy,
            filters,
            limit=reach,
            sections=request.sections,
            in_parts=request.explain,
        )
        ranked = ranking.ranked if request.sections else best_of_each_page(ranking.ranked)
        ranked = ranked[:reach]
        is_all = len(ranked) >= ranking.total
        if request.copies:
            groups = [Group(shown=one) for one in ranked]
        else:
            texts = _section_texts(snapshot, ranked)
            groups = collapse_copies(ranked, texts, question.text, sections=request.sections)
        if len(groups) >= request.limit or is_all:
            return _Found(
                groups=groups[: request.limit],
                total=ranking.total - (len(ranked) - len(groups)),
                is_exact=is_all or request.copies,
            )
        reach *= 4


def _section_texts(snapshot: Snapshot, ranked: Sequence[Scored]) -> dict[int, SectionText]:
    """Read what tells copies apart, by place; nothing for a page without sections."""
    bound = {
        "pages": json.dumps([candidate.page_id for _, candidate, _ in ranked]),
        "sections": json.dumps([candidate.section_rowid for _, candidate, _ in ranked]),
    }
    return {
        place: SectionText(path=path, title=title, heading_path=heading_path, body=body)
        for place, path, title, heading_path, body in snapshot.rows(sql.SELECT_SECTION_TEXTS, bound)
    }


def _advice(
    snapshot: Snapshot, request: SearchRequest, question: Question, policy: Policy, filters: Filters
) -> tuple[Advice, ...]:
    from wikiq.answers.advice import advise

    return advise(snapshot, request, question, policy, filters)


def _listing(snapshot: Snapshot, request: SearchRequest, question: Question) -> SearchResult:
    """List pages: the question has no word to search for.

    Who is still typing gets an answer without hits: there is nothing to search for yet.
    """
    if request.prefix and request.filters.is_empty:
        return _nothing_yet(snapshot, request, question)
    if question.excluded:
        remedy = "add a word to search for, or see `wikiq --help`"
        raise UsageError(request.query, "only says what to leave out", remedy)
    if request.filters.is_empty:
        raise UsageError(request.query, "there is nothing to search for", "give a word, or a filter")
    from wikiq.answers.pages import list_pages

    return list_pages(snapshot, request.filters, limit=request.limit, query=request.query)


def _nothing_yet(snapshot: Snapshot, request: SearchRequest, question: Question) -> SearchResult:
    freshness = freshness_of(snapshot)
    return SearchResult(
        query=request.query,
        policy=None,
        corrected={},
        excluded=question.excluded_words,
        ignored_terms=question.ignored,
        wiki=snapshot.wiki,
        index_id=snapshot.index_id,
        generation=snapshot.generation,
        age_s=freshness.age_s,
        stale=freshness.stale,
        total=0,
        took_ms=0.0,
        hits=(),
    )


def _hits(
    snapshot: Snapshot, groups: Sequence[Group], question: Question, vocabulary: Vocabulary
) -> tuple[Hit, ...]:
    """Read what is shown of each group and cut its excerpt."""
    words = sought_words(question, vocabulary)
    bound = {
        "pages": json.dumps([group.shown[1].page_id for group in groups]),
        "sections": json.dumps([group.shown[1].section_rowid for group in groups]),
        "rarest": words.rarest,
        "most": EXCERPT_SCAN_MAX,
        "before": EXCERPT_LEAD,
    }
    rows = {row[0]: row[1:] for row in snapshot.rows(sql.SELECT_SHOWN, bound)}
    hits = [_hit(group, rows[place], snapshot.root, words) for place, group in enumerate(groups)]
    bare = {group.shown[1].page_id for group, hit in zip(groups, hits, strict=True) if _is_bare(hit)}
    leads = _page_leads(snapshot, bare) if bare else {}
    return tuple(
        _led(hit, leads.get(group.shown[1].page_id)) if _is_bare(hit) else hit
        for group, hit in zip(groups, hits, strict=True)
    )


def _is_bare(hit: Hit) -> bool:
    """Tell whether the section of a hit has no text to show, such as one that holds a comment only."""
    return hit.evidence is not None and hit.evidence.excerpt is None and hit.evidence.lead is None


def _page_leads(snapshot: Snapshot, pages: set[int]) -> dict[int, str]:
    """Find how the text of each page begins; a page without text is left out."""
    bound = {"pages": json.dumps(sorted(pages)), "most": EXCERPT_SCAN_MAX}
    leads: dict[int, str] = {}
    for page_id, _, body in sorted(snapshot.rows(sql.SELECT_PAGE_BEGINNINGS, bound)):
        lead = lead_of(body) if page_id not in leads else None
        if lead is not None:
            leads[page_id] = lead
    return leads


def _led(hit: Hit, lead: str | None) -> Hit:
    evidence = hit.evidence
    return hit if evidence is None else hit.replace(evidence=evidence.replace(lead=lead))


def _hit(group: Group, row: tuple[Any, ...], root: str, words: Words) -> Hit:
    score, candidate, _ = group.shown
    title, path, summary, topics, size, mtime_ns, content_hash, *section = row
    return Hit(
        slug=candidate.slug,
        title=title,
        path=path,
        summary=summary,
        topics=parse_names(topics),
        updated_at=candidate.updated_at,
        score=round(score, SCORE_DIGITS),
        status=page_status(root, path, size=size, mtime_ns=mtime_ns, content_hash=content_hash),
        evidence=_evidence(section, title, words, by_name=candidate.by_name),
        copies=group.copies,
    )


def _evidence(row: Sequence[Any], title: str, words: Words, *, by_name: bool) -> Evidence | None:
    """The section of a hit; None on a page that has none, since it was too large to be read."""
    section_id, heading, heading_path, anchor, start_line, end_line, heading_source, before, body = row
    if section_id is None:
        return None
    names = parse_names(heading_path)
    excerpt = None if by_name else words.excerpt(body)
    return Evidence(
        section_id=section_id,
        heading=heading,
        heading_path=names,
        anchor=anchor,
        start_line=start_line,
        end_line=end_line,
        match_line=start_line
        if excerpt is None
        else start_line + count_lines(heading_source + before) + excerpt.line,
        excerpt=excerpt.text if excerpt else None,
        matches=excerpt.matches if excerpt else (),
        terms=words.held_in("\n".join((title, *names, body))),
        match_column=excerpt.column if excerpt else 1,
        lead=None if excerpt else lead_of(body),
    )
