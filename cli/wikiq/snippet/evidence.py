"""The evidence of a hit: which words of the question its section holds, and the excerpt that shows them.

Pure. The section's text comes in as it is stored, and bounded.
"""

from __future__ import annotations

from indexerd.contract.record import Record
from indexerd.contract.terms import is_unspaced, spans
from wikiq.query.match import said_terms
from wikiq.ranking.score import rarity
from wikiq.snippet.excerpt import PARAGRAPH, Sought, cut_excerpt, find_marks, first_words, held_keys
from wikiq.snippet.plain_text import count_lines, plain_lines, plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wikiq.query.parse import Question, Term
    from wikiq.query.vocabulary import Vocabulary
    from wikiq.snippet.excerpt import Excerpt

FORM_WEIGHT = 0.5  # of another form: in an excerpt too the word itself says more
PIECE_WEIGHT = 0.4  # of a bigram: how common it is is not looked up, and a word is two or three


class Words(Record):
    """The words of a question as they are looked for in a text: `asked` as typed, `keys` as found.

    The keys of a word are what stands for it in a text: itself, its correction, or what it begins, and
    its other forms.
    """

    asked: tuple[Term, ...]
    keys: tuple[tuple[str, ...], ...]
    sought: Sought

    @property
    def rarest(self) -> str:
        """The term that says most; empty where there is none."""
        weights = self.sought.terms
        return max(weights, key=lambda term: weights[term], default="")

    def excerpt(self, body: str) -> Excerpt | None:
        """Cut the excerpt of a section's body; None where only its heading or title matches.

        Where the match is in what plain text leaves out, the address of a link for example, the
        excerpt begins with the line it is in and marks nothing. Its `line` is that of the body.
        """
        lines = plain_lines(body)
        excerpt = cut_excerpt(_in_paragraphs(lines), self.sought)
        if excerpt is not None:
            number = lines[excerpt.line][0]
            return excerpt.replace(line=number, column=_column(body, number, excerpt))
        hidden = next(find_marks(body, spans(body), self.sought), None)
        if hidden is None:
            return None
        begin = max(body.rfind("\n", 0, hidden[0]), body.rfind("\r", 0, hidden[0])) + 1
        excerpt = first_words(plain_text(body[begin:]))
        return excerpt.replace(line=count_lines(body[:begin])) if excerpt else None

    def held_in(self, text: str) -> tuple[str, ...]:
        """The words that a text holds, as typed; of scripts without blanks the parts it holds."""
        held = held_keys(text, self.sought)
        words: dict[str, None] = {}
        for term, keys in zip(self.asked, self.keys, strict=True):
            if any(held.issuperset(key.split()) for key in keys):
                words[term.typed] = None
            elif term.pieces:
                words.update(dict.fromkeys(_held_parts(term, held)))
        return tuple(words)


def sought_words(question: Question, vocabulary: Vocabulary) -> Words:
    """Say what to look for in the text of a hit, given what the terms turned out to mean.

    Function words are looked for where there is nothing else: a marked `the` convinces nobody.
    """
    asked = [*said_terms(question), *(term for clause in question.required for term in clause.terms)]
    terms: dict[str, float] = {}
    beginnings: dict[str, float] = {}
    pieces: dict[str, float] = {}
    keys = []
    for term in asked:
        weight = rarity(vocabulary.sections.get(term.text, 0))
        use = vocabulary.uses.get(term.text)
        key = use.text if use is not None else term.text
        forms = vocabulary.forms.get(term.text, ())
        keys.append((key, *forms))
        found = beginnings if use is not None and use.is_prefix else terms
        found.update(dict.fromkeys(key.split(), weight))  # one, but for a word found as several
        terms.update(dict.fromkeys(forms, FORM_WEIGHT * weight))
        if term.is_cut:
            pieces.update(dict.fromkeys(term.pieces, PIECE_WEIGHT))
        else:
            pieces.update(dict.fromkeys(term.pieces or (term.text,), weight))
            terms.update(dict.fromkeys(term.pieces, weight))
    return Words(
        asked=tuple(asked),
        keys=tuple(keys),
        sought=Sought(terms=terms, beginnings=beginnings, pieces=pieces),
    )


def _column(body: str, number: int, excerpt: Excerpt) -> int:
    """The first byte of the first match in its line, from 1; 1 where markup stands within the match."""
    line = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")[number]
    start, end = excerpt.matches[0]
    place = line.find(excerpt.text[start:end])
    return len(line[:place].encode()) + 1 if place > 0 else 1


def lead_of(body: str) -> str | None:
    """How a section begins, as plain text; None where it is empty."""
    words = first_words(plain_text(body))
    return words.text if words is not None else None


def _in_paragraphs(lines: Sequence[tuple[int, str]]) -> str:
    """Join lines; where lines without words lay between two, a paragraph ends."""
    parts: list[str] = []
    before = -1
    for number, text in lines:
        parts += ("\n" if number == before + 1 else PARAGRAPH, text)
        before = number
    return "".join(parts[1:])


def _held_parts(term: Term, held: set[str]) -> Iterator[str]:
    """Join the pieces that are held where they overlap: two bigrams give three characters."""
    part = ""
    for piece in term.pieces:
        if piece in held and part and is_unspaced(piece) and part[-1] == piece[0]:
            part += piece[1:]
            continue
        if part:
            yield part
        part = piece if piece in held else ""
    if part:
        yield part
