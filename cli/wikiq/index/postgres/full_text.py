"""The words of a wiki in PostgreSQL: which terms there are, and which sections hold a phrase.

Texts are put in as literals that the client library quotes; numbers are numbers.
"""

from __future__ import annotations

from indexerd.contract.file import FULL_TEXT_COLUMNS
from indexerd.contract.record import Record
from wikiq.index.postgres import statements
from wikiq.index.postgres.connect import K1, B
from wikiq.index.postgres.expression import Phrase, phrases_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

LAST_SIGN = chr(0x10FFFF)


class Known(Record):
    """A term: its number, and in how many sections it is."""

    term_id: int
    sections: int


class FullText:
    """The full text of one wiki. `quote` makes a literal of a text, `ask` runs a statement."""

    def __init__(
        self,
        *,
        tables: str,
        wiki_id: int,
        quote: Callable[[str], str],
        ask: Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]],
    ) -> None:
        self.here = {"tables": tables, "wiki": wiki_id, "k1": K1, "b": B}
        self.quote = quote
        self._ask = ask

    def holding(self, expression: str, weights: Sequence[float]) -> str | None:
        """Write what selects the sections that hold a phrase; None where a word of it is in none."""
        (phrase,) = phrases_of(expression)
        return self.found(phrase, self.known(phrase.words, is_piece=False), weights, is_piece=False)

    def known(self, words: Iterable[str], *, is_piece: bool) -> dict[str, Known]:
        """Look up words; those that no section holds are left out."""
        select = statements.SELECT_TERM_IDS.format(**self.here)
        rows = self._ask(select, {"terms": sorted(words), "is_piece": is_piece}) if words else []
        return {term: Known(term_id=term_id, sections=df) for term, term_id, df in rows}

    def beginning_with(self, word: str, *, is_piece: bool) -> Sequence[int]:
        """Give the numbers of the terms that begin with a word."""
        select = statements.SELECT_TERM_IDS_FROM.format(**self.here)
        bound = {"begin": word, "end": word + LAST_SIGN, "is_piece": is_piece}
        return [row[0] for row in self._ask(select, bound)]

    def found(
        self, phrase: Phrase, known: Mapping[str, Known], weights: Sequence[float], *, is_piece: bool
    ) -> str | None:
        """The sections that hold a beginning or a phrase, None where a word of it is in none."""
        if len(phrase.words) == 1 and phrase.is_prefix and phrase.column is None:
            terms = self.beginning_with(phrase.words[0], is_piece=is_piece)
            listed = ", ".join(map(str, terms))
            return statements.FOUND_BEGINNING.format(terms=listed, **self.here) if terms else None
        whole = phrase.words[:-1] if phrase.is_prefix else phrase.words
        if not whole or any(word not in known for word in whole):
            return None
        first, *further = sorted({known[word] for word in whole}, key=lambda one: one.sections)
        kept = "pieces" if is_piece else "words"
        return statements.FOUND_PHRASE.format(
            frequency=self.frequency(phrase, f"s.{kept}", weights),
            further=" ".join(
                statements.FURTHER_WORD.format(number=number, term=one.term_id, **self.here)
                for number, one in enumerate(further)
            ),
            first=first.term_id,
            holds=self.holds_phrase(phrase, f"s.{kept}"),
            **self.here,
        )

    def frequency(self, phrase: Phrase, kept: str, weights: Sequence[float]) -> str:
        """How often a phrase is there, each place weighed as its column is."""
        written = self.quote(_written(phrase))
        return " + ".join(
            statements.COUNTED_IN_COLUMN.format(
                weight=f"{weight!r}::float8",
                words=statements.COLUMN_OF_WORDS.format(words=kept, place=place),
                phrase=written,
            )
            for place, (column, weight) in enumerate(zip(FULL_TEXT_COLUMNS, weights, strict=True), 1)
            if phrase.column in (None, column)
        )

    def holds_phrase(self, phrase: Phrase, kept: str) -> str:
        """Write whether the words kept of a section hold a phrase."""
        if phrase.column is not None:
            place = FULL_TEXT_COLUMNS.index(phrase.column) + 1
            kept = statements.COLUMN_OF_WORDS.format(words=kept, place=place)
        return statements.HOLDS_PHRASE.format(words=kept, phrase=self.quote(_written(phrase)))


def _written(phrase: Phrase) -> str:
    """A phrase as the words of a section are kept; of a beginning the end is open."""
    text = "".join(f" {word} " for word in phrase.words)
    return text[:-1] if phrase.is_prefix else text
