"""The words of a section and of a page's names, as the index has them: what postings are made of.

Pure. The folding and the bigrams are those of the full text (`indexerd.contract.terms`); a test holds
them against what FTS5 has. Frequencies are weighted by column, as the default policy's bm25 weighs them.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from indexerd.contract.record import Record
from indexerd.contract.terms import grams, tokens
from wikiq.model.policies import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WEIGHTS = tuple(int(weight) for weight in DEFAULT.weights)  # of title, ancestors, heading, body
REMEMBERED = 1024  # titles and ancestors, which the sections of a page share


class SectionWords(Record):
    """What a section adds to one full text.

    `kept`: its words, a column a line, each with a blank before and after it. `postings`: how much each
    counts. `length`: how many there are.
    """

    kept: str
    postings: Mapping[str, int]
    length: int


def kept_words(kept: str) -> set[str]:
    """Give the words of a section from what is kept of them."""
    return set(kept.split())


def kept_length(kept: str) -> int:
    """Count the words of a section in what is kept of them."""
    return kept.count(" ") // 2


def natural_words(texts: Sequence[str]) -> SectionWords:
    """The words of title, ancestors, heading and body."""
    title, ancestors, heading, body = texts
    return _counted((_remembered(title), _remembered(ancestors), tokens(heading), tokens(body)))


def piece_words(texts: Sequence[str]) -> SectionWords:
    """The bigrams of the same columns; nothing for most sections."""
    return _counted([tokens(grams(text)) for text in texts])


def name_words(names: str, title: str) -> SectionWords:
    """The words of a page's names and title; each counts once."""
    columns = (tokens(names), tokens(title))
    counts = Counter(word for column in columns for word in column)
    return SectionWords(kept="", postings=counts, length=sum(map(len, columns)))


@lru_cache(maxsize=REMEMBERED)
def _remembered(text: str) -> list[str]:
    return tokens(text)


def _counted(columns: Iterable[Sequence[str]]) -> SectionWords:
    *before, body = columns
    if not body and not any(before):
        return SectionWords(kept="", postings={}, length=0)
    counts: dict[str, int] = Counter(body)
    for weight, column in zip(WEIGHTS, before, strict=False):
        for word in column:
            counts[word] += weight
    kept = "\n".join("".join(f" {word} " for word in column) for column in (*before, body))
    return SectionWords(kept=kept, postings=counts, length=len(body) + sum(len(column) for column in before))
