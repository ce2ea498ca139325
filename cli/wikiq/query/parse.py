"""From the words somebody typed to what is asked of the index: terms, phrases, restrictions.

Pure, and without SQL: it gives full-text expressions in which every term is quoted, so that nothing
typed is ever read as full-text syntax (https://sqlite.org/fts5.html#full_text_query_syntax).
"""

from __future__ import annotations

from itertools import pairwise

from indexerd.contract.record import Record
from indexerd.contract.terms import asked_pieces, has_word, is_unspaced, spans, tokens
from wikiq.model.request import bindable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

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
    """Terms that stand side by side, in one column or any: a phrase, `title:word`, `-word`.

    `literals` are its words with signs in them (`C++`), which must stand there as typed.
    """

    terms: tuple[Term, ...]
    column: str | None = None
    literals: tuple[str, ...] = ()


class Literal(Record):
    """A word with signs in it (a path, a date, `C++`), to be found as it was typed.

    Words of letters joined by hyphens or apostrophes are prose: they are written in several ways.
    """

    text: str
    terms: tuple[str, ...]


PASTED_MIN = 3  # words of a line that is looked for as a whole; two are a pair
WORDS_A_SIGN = 5  # of such a line: four of five pasted lines have as many signs, one of twenty questions
_CODE_SIGNS = ("|", "=", ";", "{", "(", "<", ">", "$", "\\", "@", "#", "&", "*", "+", "[", "/", "_", " -")


class Dash(Record):
    """A `-word` that excludes, unless the index holds it with its dash after the word before it.

    `written` is all of it, `terms` are the last term before it and its first, `beside` is that text.
    """

    written: str
    terms: str
    beside: str


class Question(Record):
    """What was asked. `terms` rank, each once, in the order typed; `sequence` is every one of them.

    `required` clauses must hold, `excluded` ones must not; `excluded_words` are those as typed.
    `phrases` count as one more term each; their words are among `terms`. `dashes` are the excluded
    words that may turn out to be options of a command. `ignored` are the words past the limit.
    `unfinished` is the term that the text ends in, if any.
    """

    text: str
    terms: tuple[Term, ...]
    sequence: tuple[str, ...]
    literals: tuple[Literal, ...]
    phrases: tuple[Clause, ...]
    required: tuple[Clause, ...]
    excluded: tuple[Clause, ...]
    excluded_words: tuple[str, ...]
    dashes: tuple[Dash, ...]
    ignored: tuple[str, ...]
    unfinished: str | None

    @property
    def is_pasted(self) -> bool:
        """Tell whether it looks like a line of code or output: a sign for every few words."""
        signs = sum(map(self.text.count, _CODE_SIGNS))
        is_line = " " in self.text and len(self.sequence) >= PASTED_MIN
        return is_line and signs * WORDS_A_SIGN >= len(self.sequence)

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

    @property
    def lifts(self) -> bool:
        """Tell whether it is a phrase that is sought anywhere."""
        return self.is_phrase and not (self.is_excluded or self.field)

    @property
    def as_typed(self) -> _Typed:
        """The same as what it looks like without a meaning of its dash: a word with it, or a phrase."""
        is_phrase = self.is_phrase and self.field is None
        return _Typed(
            text=self.text if is_phrase else self.written, written=self.written, is_phrase=is_phrase
        )


def analyze_question(
    text: str,
    *,
    exact: bool = False,
    without: Iterable[str] = (),
    words_with_dash: Container[str] = frozenset(),
) -> Question:
    """Find the terms the way the tokenizer of the index finds them, and what restricts the answer.

    A phrase restricts where no plain word was typed, or with `exact`; else it lifts. `-word` excludes
    behind the last plain word, where something else was typed and it is none of `words_with_dash`;
    else it is a word. `without` are words or phrases to exclude whatever was typed.
    """
    text = bindable(text)
    ignored: list[str] = []
    typed = _settled(list(_split(text)), words_with_dash)
    typed += [
        _Typed(text=one, written=one, is_phrase=True, is_excluded=True) for one in map(bindable, without)
    ]
    found = [(one, terms) for one, terms in _limited(typed, ignored) if terms]
    strict = exact or not any(one.ranks for one, _ in found)
    lifting = [(one, terms) for one, terms in found if one.lifts and not strict]
    ranking = [term for one, terms in found if one.ranks or (one, terms) in lifting for term in terms]
    clauses = [(one, _clause(one, terms)) for one, terms in found if not one.ranks]
    literals = [literal for one, terms in found if one.ranks for literal in _literals(one.text, terms)]
    return Question(
        text=text,
        terms=tuple({term.text: term for term in ranking}.values()),
        sequence=tuple(term.text for term in ranking),
        literals=tuple({literal.text: literal for literal in literals}.values()),
        phrases=tuple(_clause(one, terms) for one, terms in lifting),
        required=tuple(
            clause
            for one, clause in clauses
            if not (one.ranks or one.is_excluded or (one.lifts and not strict))
        ),
        excluded=tuple(clause for one, clause in clauses if one.is_excluded),
        excluded_words=tuple(one.written.removeprefix("-") for one, _ in clauses if one.is_excluded),
        dashes=tuple(_dashes(found)),
        ignored=tuple(dict.fromkeys(ignored)),
        unfinished=ranking[-1].text if ranking and text.endswith(ranking[-1].typed) else None,
    )


def _settled(typed: list[_Typed], words_with_dash: Container[str]) -> list[_Typed]:
    """Turn what has a dash before it and excludes nothing into the words that it is.

    Of several in one question all exclude, or none: `how does -replace differ from -split`.
    """
    dashed = [at for at, one in enumerate(typed) if one.is_excluded]
    last = max((at for at, one in enumerate(typed) if one.ranks and has_word(one.text)), default=-1)
    something = any(not one.is_excluded and has_word(one.text) for one in typed)
    excludes = something and all(at > last and typed[at].written not in words_with_dash for at in dashed)
    return typed if excludes else [one.as_typed if one.is_excluded else one for one in typed]


def _clause(typed: _Typed, terms: Sequence[Term]) -> Clause:
    literals = tuple(literal.text for literal in _literals(typed.text, terms))
    return Clause(terms=tuple(terms), column=typed.field, literals=literals)


def _dashes(found: Sequence[tuple[_Typed, list[Term]]]) -> Iterator[Dash]:
    """The excluded words that stand behind a word."""
    for (before, terms), (one, excluded) in pairwise(found):
        if one.is_excluded and one.written[0] == "-" and not (one.is_phrase or one.field or before.is_phrase):
            yield Dash(
                written=one.written,
                terms=f"{terms[-1].text} {excluded[0].text}",
                beside=f"{before.written} {one.written}",
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


def _literals(text: str, terms: Sequence[Term]) -> Iterator[Literal]:
    """The words of a text that have signs in them, without the punctuation around them."""
    if any(term.is_cut for term in terms):
        return
    for word in text.replace('"', " ").split():  # a quote may stand in a word: `URL("/api")`
        start, end = 0, len(word)
        while start < end and (word[start] in _OPENING or _is_foreign_sign(word[start])):
            start += 1
        while start < end and (word[end - 1] in _CLOSING or _is_foreign_sign(word[end - 1])):
            end -= 1
        bare = word[start:end]
        if not _is_prose(bare) and (held := tokens(bare)):
            yield Literal(text=bare, terms=tuple(term.text for term in terms if term.text in held))


def _is_prose(text: str) -> bool:
    """Tell whether a word has no signs but hyphens and apostrophes between letters."""
    if all(character.isalnum() or not character.isascii() for character in text):
        return True
    letters = text.replace("-", "").replace("'", "")
    return letters.isalpha() and text[0].isalpha() and text[-1].isalpha()


def _is_foreign_sign(character: str) -> bool:
    """Tell whether a character is a sign that no identifier has: a curly quote, `§`, a full stop of Han."""
    return not character.isascii() and not character.isalnum()
