"""What a question found in a page: the ranges of its source, for the viewer and for `show --mark`."""

from __future__ import annotations

from wikiq.answers.pages import page
from wikiq.index.database import Snapshot
from wikiq.model.policies import DEFAULT
from wikiq.query.parse import analyze_question
from wikiq.query.vocabulary import look_up_terms
from wikiq.snippet.evidence import sought_words
from wikiq.snippet.marks import mark_ranges


def marks(
    snapshot: Snapshot, query: str, name: str, *, folder: str | None = None, prefix: bool = False
) -> tuple[tuple[int, int], ...]:
    """Give the ranges in the source of PAGE or PAGE#section that hold what `query` looks for.

    Half-open, in code points, of the `source` that `page` gives for the same name: the words, their
    variants and corrections, and bigrams. `prefix`: the last word may be the beginning of one.
    Raises UnknownPageError, UnknownSectionError, UsageError.
    """
    question = analyze_question(query)
    vocabulary = look_up_terms(snapshot, question, DEFAULT, prefix=prefix)
    return mark_ranges(page(snapshot, name, folder=folder).source, sought_words(question, vocabulary))
