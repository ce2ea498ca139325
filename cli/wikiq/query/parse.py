"""From the words somebody typed to what is asked of the index: terms, phrases, restrictions.

Pure, and without SQL: it gives full-text expressions in which every term is quoted, so that nothing
typed is ever read as full-text syntax (https://sqlite.org/fts5.html#full_text_query_syntax).
"""

from __future__ import annotations

from indexerd.contract.record import Record
from indexerd.contract.terms import asked_pieces, has_word, is_unspaced, spans
from wikiq.model.request import bindable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TERMS_MAX = 64  # of one question; a pasted page would take a thousand look-ups to say nothing more
FIELDS = ("title", "heading")  # what may stand before a colon and restrict a word to that column

# What surrounds a word in prose; signs within it, and others after it (`C++`), belong to it.
_OPENING = "\"'`([{<"
_CLOSING = "\"'`)]}>.,;:!?"


class Term(Record):
    """One index term of the question; `typed` as it was written.

    `pieces` are what to look for in the bigram table, none for most words. A single character of a
    script without blanks at the end means every bigram that begins with it.
    """

    text: str
    typed: str
    pieces: tuple[str, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Tell whether the term holds a script that is written without blanks."""
        return any(is_unspaced(piece) for piece in self.pieces)


class Clause(Record):
    """Terms that stand side by side, in one column or any: a phrase, `title:word`, `-word`."""

    terms: tuple[Term, ...]
    column: str | None = None


class Literal(Record):
    """A word with signs in it (a path, a date, `C++`), to be found as it was typed.

    Words of letters joined by hyphens or apostrophes are prose: they are written in several ways.
    """

    text: str
    terms: tuple[str, ...]


class Question(Record):
    """What was asked. `terms` rank, each once, in the order typed; `sequence` is every one of them.

    `required` clauses must hold, `excluded` ones must not; `excluded_words` are those as typed.
    `ignored` are the words past the limit. `unfinished` is the term that the text ends in, if any.
    """

    text: str
    terms: tuple[Term, ...]
    sequence: tuple[str, ...]
    literals: tuple[Literal, ...]
    required: tuple[Clause, ...]
    excluded: tuple[Clause, ...]
    excluded_words: tuple[str, ...]
    ignored: tuple[str, ...]
    unfinished: str | None

    @property
    def is_blank(self) -> bool:
        """Tell whether there is nothing to look for."""
        return not self.terms and not self.required


class _Typed(Record):
    """One thing typed, a word or a phrase, and what stood before it; `written` is all of it."""

    text: str
    written: str
    is_phrase: bool = False
    is_excluded: bool = False
    field: str | None = None

    @property
    def ranks(self) -> bool:
        """Tell whether it is a plain word."""
        return not (self.is_phrase or self.is_excluded or self.field)


def analyze_question(text: str) -> Question:
    """Find the terms the way the tokenizer of the index finds them, and what restricts the answer."""
    text = bindable(text)
    ignored: list[str] = []
    found = [(typed, terms) for typed, terms in _limited(_split(text), ignored) if terms]
    ranking = [term for typed, terms in found if typed.ranks for term in terms]
    clauses = [(typed, Clause(terms=tuple(terms), column=typed.field)) for typed, terms in found]
    literals = [_literal(typed.text, terms) for typed, terms in found if typed.ranks]
    return Question(
        text=text,
        terms=tuple({term.text: term for term in ranking}.values()),
        sequence=tuple(term.text for term in ranking),
        literals=tuple({literal.text: literal for literal in literals if literal}.values()),
        required=tuple(c for typed, c in clauses if not typed.ranks and not typed.is_excluded),
        excluded=tuple(c for typed, c in clauses if typed.is_excluded),
        excluded_words=tuple(typed.written[1:] for typed, _ in clauses if typed.is_excluded),
        ignored=tuple(dict.fromkeys(ignored)),
        unfinished=ranking[-1].text if ranking and text.endswith(ranking[-1].typed) else None,
    )


def _split(text: str) -> Iterator[_Typed]:
    """Cut what was typed at blanks, keeping quoted phrases together."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        start = at
        is_excluded = (
            text[at] == "-" and text[at + 1 : at + 2] not in ("", "-") and bool(text[at + 1].strip())
        )
        at += is_excluded
        field = _field(text, at)
        at += len(field) + 1 if field else 0
        closing = text.find('"', at + 1) if text[at] == '"' else -1
        is_phrase = closing >= 0  # a quote that nothing closes is text
        end = closing + 1 if is_phrase else _word_end(text, at)
        yield _Typed(
            text=text[at + is_phrase : end - is_phrase],
            written=text[start:end],
            is_phrase=is_phrase,
            is_excluded=is_excluded,
            field=field,
        )
        at = end


def _field(text: str, at: int) -> str | None:
    """The field that a word is restricted to by `field:` with something after it."""
    for name in FIELDS:
        end = at + len(name) + 1
        if text[at:end].lower() == f"{name}:" and text[end : end + 1].strip():
            return name
    return None


def _word_end(text: str, at: int) -> int:
    while at < len(text) and not text[at].isspace():
        at += 1
    return at


def _limited(typed: Iterable[_Typed], ignored: list[str]) -> Iterator[tuple[_Typed, list[Term]]]:
    """Find the terms of each thing typed, TERMS_MAX in all; the words past them go to `ignored`.

    A word in a script without blanks counts once for each of its pieces.
    """
    left = TERMS_MAX
    known: dict[str, Term] = {}
    for one in typed:
        taken = []
        for text, start, end in spans(one.text):
            if not has_word(text):
                continue
            written = one.text[start:end]
            term = known.get(text) or Term(text=text, typed=written, pieces=asked_pieces(written))
            cost = 0 if text in known and one.ranks else max(1, len(term.pieces))
            if left == 0 < cost:
                ignored.append(written)
                continue
            if cost > left:
                term = term.replace(pieces=term.pieces[:left])
                ignored.append(written)
            left = max(0, left - cost)
            known[text] = term
            taken.append(term)
        yield one, taken


def _literal(word: str, terms: Iterable[Term]) -> Literal | None:
    """Give the word without the punctuation around it if signs are left in it, None otherwise."""
    start, end = 0, len(word)
    while start < end and (word[start] in _OPENING or _is_foreign_sign(word[start])):
        start += 1
    while start < end and (word[end - 1] in _CLOSING or _is_foreign_sign(word[end - 1])):
        end -= 1
    text = word[start:end]
    if _is_prose(text) or any(term.is_cut for term in terms):
        return None
    return Literal(text=text, terms=tuple(term.text for term in terms))


def _is_prose(text: str) -> bool:
    """Tell whether a word has no signs but hyphens and apostrophes between letters."""
    if all(character.isalnum() or not character.isascii() for character in text):
        return True
    letters = text.replace("-", "").replace("'", "")
    return letters.isalpha() and text[0].isalpha() and text[-1].isalpha()


def _is_foreign_sign(character: str) -> bool:
    """Tell whether a character is a sign that no identifier has: a curly quote, `§`, a full stop of Han."""
    return not character.isascii() and not character.isalnum()
