"""Asks PostgreSQL for the candidates of a question: bm25 from tables of postings, as FTS5 computes it.

The order is made in `wikiq.ranking`, as for the file.
"""

from __future__ import annotations

from math import log

from indexerd.contract.record import Record
from wikiq.index.postgres import statements
from wikiq.index.postgres.connect import K1
from wikiq.index.postgres.expression import parse_expression, phrases_of
from wikiq.index.postgres.full_text import LAST_SIGN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.index.asked import Asked, AskedClause
    from wikiq.index.postgres.expression import Phrase
    from wikiq.index.postgres.full_text import FullText

GRAMS = "sections_grams"
LEAST_IDF = 1e-6  # as FTS5 has it: a word in most sections still counts for a little
OWN = ("words", "pairs", "forms", "pieces", "piece_pairs")  # columns of sql.SELECT_RANKED


class Totals(Record):
    """What bm25 must know of a full text: how many rows it has, and how many words on average."""

    rows: int
    words: int

    @property
    def average(self) -> float:
        """Words of a row; never 0."""
        return max(1.0, self.words / max(1, self.rows))


class Candidates:
    """One question for one wiki; `totals` are of the natural table, of the bigrams' and of the names."""

    def __init__(self, asked: Asked, full_text: FullText, totals: tuple[Totals, Totals, Totals]) -> None:
        self._asked = asked
        self._text = full_text
        self._here = full_text.here
        self._of_words, self._of_pieces, self._of_names = totals

    def statement(self, condition: str) -> str:
        """Write the one statement; `condition` is what pages must pass, in this dialect."""
        asked = self._asked
        parts = self._parts()
        sums = dict.fromkeys(OWN, "0.0::float8")
        if asked.in_parts:
            numbers = enumerate(asked.parts)
            sums |= {part.name: statements.PART_SUM.format(part=number) for number, part in numbers}
        else:
            sums[OWN[0]] = "sum(score)"
        clauses = [self._clause(clause) for clause in asked.required]
        clauses += [f"NOT {self._clause(clause)}" for clause in asked.excluded]
        signs = (self._text.quote(literal) for literal in asked.literals)
        return statements.SELECT_RANKED.format(
            parts=" UNION ALL ".join(parts) or statements.NOTHING_FOUND,
            sums=", ".join(f"{value} AS {name}" for name, value in sums.items()),
            own=", ".join(OWN),
            own_picked=", ".join(f"k.{name}" for name in OWN),
            clauses=" AND ".join(clauses) or "true",
            names=self._names(),
            everything=str(asked.is_everything).lower(),
            condition=condition,
            path=self._text.quote(asked.typed[0]),
            title=self._text.quote(asked.typed[1]),
            pool=asked.pool,
            pages=asked.pages,
            literals=", ".join(statements.HOLDS_LITERAL.format(sign=sign) for sign in signs) or "1",
            counted="passed" if asked.sections else "best",
            **self._here,
        )

    def _parts(self) -> list[str]:
        """What finds sections: single words together, every beginning and phrase by itself."""
        singles: list[str] = []
        texts: list[str] = []
        asked = self._asked
        for number, part in enumerate(asked.parts):
            is_piece = part.table == GRAMS
            totals = self._of_pieces if is_piece else self._of_words
            phrases = phrases_of(part.asked)
            known = self._text.known({word for phrase in phrases for word in phrase.words}, is_piece=is_piece)
            factor = part.weight * (K1 + 1)
            words = []
            for phrase in phrases:
                if _is_single(phrase):
                    one = known.get(phrase.words[0])
                    if one is not None:
                        idf = max(LEAST_IDF, _idf(totals.rows, one.sections))
                        words.append(f"({number}, {one.term_id}, {factor * idf!r}::float8)")
                    continue
                found = self._text.found(phrase, known, asked.weights, is_piece=is_piece)
                if found is not None:
                    texts.append(
                        statements.SCORED_FOUND.format(
                            part=number,
                            factor=f"{factor!r}::float8",
                            rows=totals.rows,
                            average=f"{totals.average!r}::float8",
                            found=found,
                            number=len(texts),
                            **self._here,
                        )
                    )
            if words:
                average = f"{totals.average!r}::float8"
                singles.append(
                    statements.SCORED_WORDS.format(terms=", ".join(words), average=average, **self._here)
                )
        return singles + texts

    def _holds_any(self, expression: str, kept: str) -> str:
        """Whether the words kept of a section fit an expression."""
        alternatives = (
            " AND ".join(self._text.holds_phrase(phrase, kept) for phrase in phrases)
            for phrases in parse_expression(expression)
        )
        return " OR ".join(f"({alternative})" for alternative in alternatives) or "false"

    def _holds(self, clause: AskedClause) -> str:
        """Whether a section holds the words of a clause."""
        text = f"({self._holds_any(clause.natural, 's.words')})"
        if clause.pieces:
            text += f" OR ({self._holds_any(clause.pieces, 's.pieces')})"
            if clause.rest:
                text += f" AND ({self._holds_any(clause.rest, 's.words')})"
        return text

    def _clause(self, clause: AskedClause) -> str:
        conditions = [f"({self._holds(clause)})"]
        text = statements.SIGNS_IN[clause.column]
        conditions += [
            statements.HOLDS_SIGNS.format(text=text, sign=self._text.quote(literal))
            for literal in clause.literals
        ]
        return statements.HOLDS_CLAUSE.format(condition=" AND ".join(conditions), **self._here)

    def _names(self) -> str:
        """What finds pages by their name."""
        texts = []
        for number, phrase in enumerate(phrases_of(self._asked.names)):
            conditions = []
            for place, word in enumerate(phrase.words, 1):
                is_prefix = phrase.is_prefix and place == len(phrase.words)
                begin, end = self._text.quote(word), self._text.quote(word + LAST_SIGN)
                conditions.append(f"term >= {begin} AND term < {end}" if is_prefix else f"term = {begin}")
            texts.append(
                statements.NAMED.format(
                    condition=f"({' OR '.join(conditions)})",
                    rows=self._of_names.rows,
                    average=f"{self._of_names.average!r}::float8",
                    number=number,
                    **self._here,
                )
            )
        return " UNION ALL ".join(texts) or statements.NO_NAMES


def _is_single(phrase: Phrase) -> bool:
    return len(phrase.words) == 1 and not phrase.is_prefix and phrase.column is None


def _idf(rows: int, holding: int) -> float:
    return log(max(rows - holding + 0.5, 1e-9) / (holding + 0.5))
