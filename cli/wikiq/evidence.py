"""The evidence of a hit: which words of the question its section holds, and the excerpt that shows them.

Pure. The section's text comes in as it is stored, and bounded.
"""

from __future__ import annotations

from indexerd.core.terms import is_unspaced, spans
from wikiq.excerpt import Sought, cut_excerpt, find_marks
from wikiq.plain import plain_text
from wikiq.ranking import rarity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wikiq.excerpt import Excerpt
    from wikiq.query import Question, Term
    from wikiq.vocabulary import Vocabulary

PIECE_WEIGHT = 0.4  # of a bigram: how common it is is not looked up, and a word is two or three


def sought_words(question: Question, vocabulary: Vocabulary) -> Sought:
    """What to look for in the text of a hit, given what the terms turned out to mean."""
    terms: dict[str, float] = {}
    beginnings: dict[str, float] = {}
    pieces: dict[str, float] = {}
    for term in _all_terms(question):
        weight = rarity(vocabulary.sections.get(term.text, 0))
        use = vocabulary.uses.get(term.text)
        if use is not None and use.is_prefix:
            beginnings[use.text] = weight
        else:
            terms[use.text if use is not None else term.text] = weight
        if term.is_cut:
            pieces.update(dict.fromkeys(term.pieces, PIECE_WEIGHT))
        else:
            pieces.update(dict.fromkeys(term.pieces or (term.text,), weight))
            terms.update(dict.fromkeys(term.pieces, weight))
    return Sought(terms=terms, beginnings=beginnings, pieces=pieces)


def excerpt_of(body: str, sought: Sought) -> Excerpt | None:
    """The excerpt of a section's body; None where only its heading or title matches.

    Where the match is in what plain text leaves out, an address for example, the source is shown.
    """
    return cut_excerpt(plain_text(body), sought) or cut_excerpt(" ".join(body.split()), sought)


def held_words(question: Question, vocabulary: Vocabulary, sought: Sought, text: str) -> tuple[str, ...]:
    """The words of the question, as typed, that `text` holds; of scripts without blanks the parts."""
    held = {mark.key for mark in find_marks(text, spans(text), sought)}
    words: dict[str, None] = {}
    for term in _all_terms(question):
        use = vocabulary.uses.get(term.text)
        if term.text in held or (use is not None and use.text in held):
            words[term.typed] = None
        elif term.pieces:
            words.update(dict.fromkeys(_held_parts(term, held)))
    return tuple(words)


def _all_terms(question: Question) -> Iterator[Term]:
    yield from question.terms
    for clause in question.required:
        yield from clause.terms


def _held_parts(term: Term, held: set[str]) -> Iterable[str]:
    """Join the pieces that are held where they overlap: two bigrams give three characters."""
    part = ""
    for piece in term.pieces:
        if piece not in held:
            if part:
                yield part
            part = ""
        elif part and is_unspaced(piece) and part[-1] == piece[0]:
            part += piece[1:]
        else:
            if part:
                yield part
            part = piece
    if part:
        yield part
