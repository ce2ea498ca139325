"""What a ranking asks a store for: the candidates of a question, said without saying how they are found.

The file answers with the one statement that comes along; a store without FTS5 reads the other fields.
Expressions are in the query language of FTS5 (https://sqlite.org/fts5.html#full_text_query_syntax).
"""

from __future__ import annotations

from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class AskedPart(Record):
    """A part of a section's own score: what is asked of one full-text table, and how much its bm25 weighs."""

    name: str
    table: str
    weight: float
    asked: str


class AskedClause(Record):
    """What a section must hold. It holds where `natural` matches, or `pieces` and `rest` both do.

    `literals` must stand verbatim besides: anywhere (`column` None), or in the title or the heading.
    """

    natural: str
    pieces: str
    rest: str
    column: str | None = None
    literals: tuple[str, ...] = ()


class Asked(Record):
    """A question for candidates, and as `statement` with `values` the same for the file.

    `weights` are bm25's for title, ancestors, heading and body. `names` finds pages by their name, empty
    for none. `typed` is the question folded as a path and as a title. `condition` with `bound` says which
    pages pass. The best `pool` sections are wanted, and the best of `pages` pages; `sections`: those are
    what is counted. `in_parts`: the score of a section comes in its parts, else all of it as the first.
    """

    parts: Sequence[AskedPart]
    weights: tuple[float, ...]
    required: Sequence[AskedClause]
    excluded: Sequence[AskedClause]
    literals: Sequence[str]
    names: str
    typed: tuple[str, str]
    is_everything: bool
    condition: str
    bound: Sequence[str]
    pool: int
    pages: int
    sections: bool
    in_parts: bool
    statement: str
    values: tuple[Any, ...]
