"""From an analysed question to the full-text expressions that are asked of the index.

Pure. Every term is quoted and every quote in it doubled, so that no full-text operator gets through
whatever was typed (https://sqlite.org/fts5.html#fts5_strings).
"""

from __future__ import annotations

from itertools import pairwise

from indexerd.contract.record import Record
from indexerd.contract.terms import is_unspaced, is_unspaced_alphabet
from wikiq.query.parse import TERMS_MAX
from wikiq.query.stop_words import FUNCTION_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wikiq.query.parse import Clause, Question, Term


NO_FORMS: Mapping[str, Sequence[str]] = {}


class Use(Record):
    """What a typed term is looked for as: itself, a longer word it begins, or a corrected one."""

    text: str
    is_prefix: bool = False


class Expressions(Record):
    """One expression for each thing that is scored; empty where there is nothing to ask.

    `words`, `pairs` and `forms` are for the natural table, `pieces` and `piece_pairs` for the bigrams'.
    """

    words: str
    pairs: str
    forms: str
    pieces: str
    piece_pairs: str


class Condition(Record):
    """A clause as expressions. It holds where `natural` matches, or `pieces` and `rest` both do.

    `pieces` is empty for a clause without such scripts; `rest` are its other words, empty without.
    """

    natural: str
    pieces: str
    rest: str


def quoted(text: str, *, is_prefix: bool = False) -> str:
    """Write a term, or terms joined by blanks as a phrase, so that nothing in it is syntax."""
    return '"' + text.replace('"', '""') + ('" *' if is_prefix else '"')


def match_expressions(
    question: Question,
    uses: Mapping[str, Use],
    forms: Mapping[str, Sequence[str]] = NO_FORMS,
    *,
    with_function_words: bool = False,
) -> Expressions:
    """Write the expressions for the terms as `uses` says; a term it does not know is in no section.

    `with_function_words`: they count like others; else only beside a neighbour. `forms` are other forms
    of its terms. One that is in no section is asked of the bigram table, which holds what stands glued to
    another script.
    """
    absent = [term for term in question.terms if term.text not in uses and not term.is_cut]
    pieces = [_pieces(term) for term in question.terms if term.is_cut]
    kept = question.terms if with_function_words else said_terms(question)
    return Expressions(
        words=_any_of(_words(question, kept, uses)),
        pairs=_any_of(_pairs(question.sequence, uses)),
        forms=_any_of(quoted(form) for term in kept for form in forms.get(term.text, ())),
        pieces=_any_of(
            [piece for run in pieces for piece in run]
            + [quoted(piece) for term in absent for piece in term.pieces or (term.text,)]
            + [_clause_pieces(clause) for clause in question.required if _is_cut(clause)]
        ),
        piece_pairs=_any_of(_piece_pairs(question)),
    )


def name_expression(question: Question, uses: Mapping[str, Use]) -> str:
    """Write what finds pages by the words of their name, which need not be in any section."""
    return _any_of(
        quoted(use.text, is_prefix=use.is_prefix)
        for term in question.terms
        for use in (Use(text=term.text), uses.get(term.text))
        if use is not None
    )


def clause_condition(clause: Clause) -> Condition:
    """Write a clause that must, or must not, hold."""
    column = f"{clause.column} : " if clause.column else ""
    natural = column + quoted(" ".join(term.text for term in clause.terms))
    if not _is_cut(clause):
        return Condition(natural=natural, pieces="", rest="")
    rest = [term.text for term in clause.terms if not term.is_cut]
    return Condition(
        natural=natural,
        pieces=_clause_pieces(clause),
        rest=" AND ".join(column + quoted(text) for text in rest),
    )


def said_terms(question: Question) -> Sequence[Term]:
    """The terms without function words; all, where there is nothing else. `a` in `src/a/b.py` is none."""
    literal = {text for one in question.literals for text in one.terms}
    left_out = FUNCTION_WORDS - literal
    return [term for term in question.terms if term.text not in left_out] or question.terms


def _words(question: Question, terms: Iterable[Term], uses: Mapping[str, Use]) -> Iterable[str]:
    for term in terms:
        use = uses.get(term.text)
        if use is not None:
            yield quoted(use.text, is_prefix=use.is_prefix)
        yield from (quoted(piece) for piece in term.pieces if not is_unspaced(piece))
    for clause in (*question.required, *question.phrases):
        if clause in question.required or len(clause.terms) > 1:
            yield clause_condition(clause).natural
    if question.is_pasted:  # who pastes a line wants the section that holds it
        yield quoted(" ".join(question.sequence))


def _pairs(sequence: Sequence[str], uses: Mapping[str, Use]) -> Iterable[str]:
    for before, after in pairwise(sequence):
        first, second = uses.get(before), uses.get(after)
        if first is not None and second is not None and not first.is_prefix:
            yield quoted(f"{first.text} {second.text}", is_prefix=second.is_prefix)


def _pieces(term: Term) -> list[str]:
    *inner, last = term.pieces
    alone = len(last) == 1 and is_unspaced(last)
    return [*(quoted(piece) for piece in inner), quoted(last, is_prefix=alone)]


def _piece_pairs(question: Question) -> Iterable[str]:
    """Pairs of neighbouring bigrams, in alphabets only: there three letters say what two Han do."""
    for term in question.terms:
        for before, after in pairwise(term.pieces):
            if is_unspaced_alphabet(before) and is_unspaced_alphabet(after):
                yield quoted(f"{before} {after}")


def _is_cut(clause: Clause) -> bool:
    return any(term.is_cut for term in clause.terms)


def _clause_pieces(clause: Clause) -> str:
    column = f"{clause.column} : " if clause.column else ""
    runs = [term.pieces for term in clause.terms if term.is_cut]
    phrases = [
        column + quoted(" ".join(run), is_prefix=len(run[-1]) == 1 and is_unspaced(run[-1])) for run in runs
    ]
    return f"({' AND '.join(phrases)})"


def _any_of(parts: Iterable[str]) -> str:
    """Join parts by OR: each once, and no more of them than a question may have terms."""
    return " OR ".join(list(dict.fromkeys(part for part in parts if part))[: 2 * TERMS_MAX])
