"""Reads a question with what the index knows of its dashes: an option of a command excludes nothing."""

from __future__ import annotations

from wikiq.index import sql
from wikiq.query.match import quoted
from wikiq.query.parse import analyze_question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wikiq.index.database import Snapshot
    from wikiq.query.parse import Question


def settle_dashes(
    snapshot: Snapshot, question: Question, *, exact: bool = False, without: Iterable[str] = ()
) -> Question:
    """Read a question again where a dash excludes nothing: `git log -p` where a page says `log -p`."""
    held = {
        dash.written
        for dash in question.dashes
        if snapshot.row(sql.SELECT_HOLDS_BESIDE, (quoted(dash.terms), dash.beside)) is not None
    }
    if not held:
        return question
    return analyze_question(question.text, exact=exact, without=without, words_with_dash=held)
