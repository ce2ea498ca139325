"""What the services answer: frozen records and their JSON form, which is an interface (spec 5.3).

Paths are relative to the root, with `/`; lines are 1-based; times ISO 8601 UTC. Fields are only
ever added, and a removed or changed one means another FORMAT. Nothing here reads or prints.
"""

from __future__ import annotations

from indexerd.contract.live_state import LastScan
from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FORMAT = 1  # of every JSON document the command prints

# What the disk says of a page against its row; `unknown` where the root is not on this machine.
OK, CHANGED, GONE, UNKNOWN = "ok", "changed", "gone", "unknown"
DIFFERENT = frozenset({CHANGED, GONE})


class Evidence(Record):
    """The section that explains a hit.

    `match_line` is the line of the file on which the excerpt's first match stands, the heading's where
    only heading, title or name match; `match_column` is that match's first byte in it, from 1, as editors
    and `rg` count. `excerpt` is plain text, None when only those match; then `lead` is how the section
    begins. `matches` are half-open ranges of the excerpt in code points. `terms` are the words of the query
    that this section holds.
    """

    section_id: str
    heading: str
    heading_path: tuple[str, ...]
    anchor: str
    start_line: int
    end_line: int
    match_line: int
    excerpt: str | None
    matches: tuple[tuple[int, int], ...] = ()
    terms: tuple[str, ...] = ()
    match_column: int = 1
    lead: str | None = None


class Hit(Record):
    """A page with its best section (one hit a section when asked). A higher `score` is better.

    `status` is `ok`, `changed` or `gone`: the file on the disk against what was indexed. `evidence` is
    None where nothing was searched for, in a listing without words (`score` 0.0), and on a page that
    has no section, since it could not be read. `copies` are the paths of pages that say the same there:
    other versions, translations.
    """

    slug: str
    title: str
    path: str
    summary: str | None
    topics: tuple[str, ...]
    updated_at: str
    score: float
    status: str
    evidence: Evidence | None
    copies: tuple[str, ...] = ()


class TermUse(Record):
    """What one word of the question was looked for as.

    `kind`: `word`, `function_word` (counts beside a neighbour only), `beginning`, `corrected`, `pieces`
    (of a script without blanks) or `absent`.
    `sections` hold the word as used; 0 where they are not counted. `forms` of it are looked for too.
    """

    typed: str
    used: str
    kind: str
    sections: int
    forms: tuple[str, ...] = ()


class ScoreParts(Record):
    """What the score of a hit is made of; all together give the score.

    `words` to `piece_pairs` are the section's own, `field_lengths` is what it gains, or loses, by where its
    words stand in long or short fields; `page` comes from its page's best sections,
    `literals` from words with signs that it holds verbatim, `heading` from its whole heading standing in
    the question, `name` from the page's name.
    """

    words: float
    pairs: float
    forms: float
    pieces: float
    piece_pairs: float
    field_lengths: float
    page: float
    literals: float
    heading: float
    name: float


class Explanation(Record):
    """How the words were taken, and the parts of each hit's score in the order of the hits."""

    terms: tuple[TermUse, ...]
    scores: tuple[ScoreParts, ...]


class Advice(Record):
    """What a question that found nothing would find without its `dropped` (quotes, fields, ...)."""

    dropped: str
    total: int


class SearchResult(Record):
    """The answer to one question over one index.

    `corrected`: what was typed to what was used. `excluded`: words whose sections were left out.
    `ignored_terms`: past the limit of terms. `age_s`: seconds since the last scan or commit, None
    when there was none. `stale`: the index may be behind the tree. `total`: all that match,
    uncapped (sections when hits are sections), copies once; where not `total_exact`, no more than
    that. `policy` is None for a listing without words.
    """

    query: str
    policy: str | None
    corrected: Mapping[str, str]
    excluded: tuple[str, ...]
    ignored_terms: tuple[str, ...]
    wiki: str
    index_id: str
    generation: int
    age_s: float | None
    stale: bool
    total: int
    took_ms: float
    hits: tuple[Hit, ...]
    advice: tuple[Advice, ...] = ()
    total_exact: bool = True


class ExplainedResult(SearchResult):
    """The same with what its order rests on, where that was asked for."""

    explanation: Explanation


class SectionView(Record):
    """One section as it was indexed; `source` is its heading lines and body, byte for byte."""

    section_id: str
    level: int
    heading: str
    heading_path: tuple[str, ...]
    anchor: str
    start_line: int
    end_line: int
    source: str


class PageView(Record):
    """A page, or one section of it: `section` says which, None for the whole page.

    `source` is the text asked for as it was indexed; for a whole page that is the decoded file.
    """

    slug: str
    title: str
    path: str
    summary: str | None
    topics: tuple[str, ...]
    updated_at: str
    generation: int
    status: str
    section: SectionView | None
    source: str


class TopicRow(Record):
    """A topic: `pages` that carry it themselves, `pages_under` with those of the topics below it."""

    topic: str
    title: str | None
    description: str | None
    parents: tuple[str, ...]
    pages: int
    pages_under: int


class ChangeRow(Record):
    """One page in one generation of the change feed. `op` is `upsert` or `delete`."""

    generation: int
    committed_at: str
    op: str
    slug: str
    path: str
    content_hash: str | None


class Freshness(Record):
    """How far an answer may be behind the tree, and why.

    `daemon`: `running` or `stopped`, from the writer's lock. `mode`, `reason`, `remedy`: what the
    daemon last said of itself. `pending`: pages it found to differ and has not written.
    """

    age_s: float | None
    stale: bool
    daemon: str
    mode: str
    reason: str | None
    remedy: str | None
    pending: int
    last_scan: LastScan | None
    counters: Mapping[str, int]


class IndexAge(Record):
    """What every answer says of the index it is from."""

    wiki: str
    index_id: str
    generation: int
    age_s: float | None
    stale: bool


class Status(Record):
    """What `wikiq status` tells. `problems` counts the diagnostics, `problem_kinds` by kind."""

    wiki: str
    root: str
    db: str
    index_id: str
    generation: int
    mode: str
    daemon: str
    stale: bool
    age_s: float | None
    reason: str | None
    remedy: str | None
    building: bool
    writer: str
    projection_current: bool
    pages: int
    sections: int
    pending: int
    last_scan: LastScan | None
    counters: Mapping[str, int]
    problems: int
    problem_kinds: Mapping[str, int]


class WikiHit(Hit):
    """A hit with the wiki it is from and that one's root."""

    wiki: str
    root: str


class WikiAnswer(Record):
    """What one index answered, but for its hits."""

    wiki: str
    root: str
    index_id: str
    generation: int
    age_s: float | None
    stale: bool
    total: int
    total_exact: bool = True


class MergedResult(Record):
    """The answers of all indexes. `failed`: those that could not answer, with the reason.

    `corrected`: what any of them used instead of a word that it has nowhere. `not_fresh`: the wikis
    that could not be made fresh, where that was asked for.
    """

    query: str
    corrected: Mapping[str, str]
    excluded: tuple[str, ...]
    ignored_terms: tuple[str, ...]
    total: int
    wikis: tuple[WikiAnswer, ...]
    failed: tuple[str, ...]
    not_fresh: tuple[str, ...]
    hits: tuple[WikiHit, ...]
    total_exact: bool = True


def place(hit: Hit) -> tuple[str, int]:
    """Give the file and line that a hit leads to: what editors open, and what every face prints."""
    return hit.path, hit.evidence.match_line if hit.evidence is not None else 1


def href(hit: Hit) -> str:
    """Give the path of a hit with `#anchor`, as the `href` of chunks is; not percent-encoded."""
    anchor = hit.evidence.anchor if hit.evidence is not None else ""
    return f"{hit.path}#{anchor}" if anchor else hit.path


def json_form(value: Any) -> Any:
    """Turn records, tuples and mappings into what `json` writes; anything else is left as it is."""
    if isinstance(value, Record):
        return {field: json_form(getattr(value, field)) for field in type(value).fields}
    if isinstance(value, tuple):
        return [json_form(item) for item in value]
    if isinstance(value, dict):
        return {key: json_form(item) for key, item in value.items()}
    return value


def document(record: Record, index: IndexAge | None = None) -> dict[str, Any]:
    """Give the JSON document of an answer: its fields after `"format"`, and `"index"` where it has none."""
    form: dict[str, Any] = {"format": FORMAT}
    if index is not None:
        form["index"] = json_form(index)
    form.update(json_form(record))
    return form
