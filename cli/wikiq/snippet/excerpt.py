"""The few words of a section that show why it was found, and where in them the words of the question are.

Pure, and bounded: it looks at no more text than it is given and gives at most WORDS_MAX words.
"""

from __future__ import annotations

from unicodedata import normalize

from indexerd.contract.record import Record
from indexerd.contract.terms import is_unspaced, runs, spans, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    # One place that matches: start, end, what matched, how much that says. A tuple, since a search
    # finds hundreds of them.
    Mark = tuple[int, int, str, float]

WORDS_MAX = 32  # words of an excerpt: two lines of a terminal; more only up to the end of a sentence
CHARACTERS_MAX = 300  # of an excerpt; words may be long, and an answer is read by people
CUT = "…"  # at an end that is none of a sentence or list item
WORD_CHARACTERS = 2  # what counts as one word in a script without blanks
LEAD_WORDS = 10  # words before the first match, at most; up to the start of its sentence
SIGNS_MAX = 4  # of punctuation taken in at either end; a ruler of a hundred dashes says nothing
TEXT_MAX = CHARACTERS_MAX - 2 * (len(CUT) + SIGNS_MAX)  # of the words alone
REPEATED = 0.1  # what a word is worth that the excerpt already holds

_CLOSING = ")]\"'”’»」』）"  # what may stand between the end of a sentence and the blank behind it
PARAGRAPH = "\u2029"  # ends a line that a blank one follows; other lines may be wrapped prose
_SENTENCE_ENDS = f".!?。！？{PARAGRAPH}"


class Sought(Record):
    """What to look for, each with how much it says: terms, beginnings of terms, pieces of words.

    Pieces are bigrams and normal forms as in the bigram table; a single character means any bigram
    that begins with it. All are folded as the index folds.
    """

    terms: Mapping[str, float]
    beginnings: Mapping[str, float]
    pieces: Mapping[str, float]


class Excerpt(Record):
    """Plain text with the half-open ranges, in code points, that match.

    `line` is the line of the text it was cut from on which the first match stands, from 0; `column` is the
    match's first byte in that line, from 1.
    """

    text: str
    matches: tuple[tuple[int, int], ...]
    line: int
    column: int = 1


def cut_excerpt(plain: str, sought: Sought) -> Excerpt | None:
    """Cut the words around the densest group of matches out of a text; None where nothing matches.

    Of two groups that say as much the first is taken.
    """
    words = spans(plain)
    marks = list(find_marks(plain, words, sought))
    if not marks:
        return None
    units = _units(plain, words)
    first, last = _densest(marks, units)
    start, end = _widened(plain, units, first[0], last[1])
    start, end = _with_signs(plain, start, min(end, start + TEXT_MAX))
    before = "" if _begins_sentence(plain, start) else CUT
    after = "" if _is_sentence_end(plain, end) else CUT
    shift = len(before) - start
    shown = [(begin + shift, min(stop, end) + shift) for begin, stop, *_ in marks if start <= begin < end]
    first_mark = min(begin for begin, *_ in marks if start <= begin < end)
    line = plain.count("\n", 0, first_mark) + plain.count(PARAGRAPH, 0, first_mark)
    text = f"{before}{plain[start:end]}{after}".replace("\n", " ").replace(PARAGRAPH, " ")
    return Excerpt(text=text, matches=_joined(shown), line=line)


def first_words(plain: str) -> Excerpt | None:
    """Give the beginning of a text, with nothing marked; None for a text without words."""
    units = _units(plain, spans(plain))[:WORDS_MAX]
    if not units:
        return None
    start, end = _with_signs(plain, units[0][0], min(units[-1][1], units[0][0] + TEXT_MAX))
    return Excerpt(text=plain[start:end].replace("\n", " "), matches=(), line=0)


def find_marks(plain: str, words: Iterable[tuple[str, int, int]], sought: Sought) -> Iterator[Mark]:
    """Find what is sought among the words of a text, in order."""
    terms, beginnings, pieces = sought.terms, tuple(sought.beginnings), sought.pieces
    for term, start, end in words:
        if term in terms:
            yield start, end, term, terms[term]
        elif pieces and not term.isascii() and (is_unspaced(term[0]) or not term.startswith(beginnings)):
            # What begins a run of text without blanks is no more of it than its pieces.
            yield from _marked_pieces(plain[start:end], start, pieces)
        elif beginnings and term.startswith(beginnings):
            beginning = next(begin for begin in beginnings if term.startswith(begin))
            yield start, end, beginning, sought.beginnings[beginning]


def held_keys(text: str, sought: Sought) -> set[str]:
    """Tell which of what is sought a text holds; as `find_marks`, and without places far cheaper."""
    words = set(tokens(text))
    if sought.pieces and not all(map(str.isascii, words)):
        return {key for _, _, key, _ in find_marks(text, spans(text), sought)}
    beginnings = tuple(sought.beginnings)
    begun = (word for word in words - sought.terms.keys() if beginnings and word.startswith(beginnings))
    first = {next(begin for begin in beginnings if word.startswith(begin)) for word in begun}
    return first | (words & sought.terms.keys())


def _marked_pieces(word: str, offset: int, sought: Mapping[str, float]) -> Iterator[Mark]:
    normal = normalize("NFKC", word)
    if len(normal) != len(word):  # then a place in one is no place in the other: the word is marked whole
        held = {piece for term in tokens(normal) for run, _ in runs(term) for piece in _pairs(run)}
        yield from (
            (offset, offset + len(word), piece, weight) for piece, weight in sought.items() if piece in held
        )
        return
    at = offset
    for run, unspaced in runs(normal):
        if unspaced:
            for place in range(len(run)):
                piece = next((one for one in (run[place : place + 2], run[place]) if one in sought), None)
                if piece is not None:
                    yield at + place, at + place + len(piece), piece, sought[piece]
        else:
            for term, start, end in spans(run):
                if term in sought:
                    yield at + start, at + end, term, sought[term]
        at += len(run)


def _pairs(run: str) -> Iterator[str]:
    yield run
    for place in range(len(run)):
        yield run[place : place + 2]
        yield run[place]


def _units(plain: str, words: Iterable[tuple[str, int, int]]) -> list[tuple[int, int]]:
    """Cut a text into what counts as a word."""
    if plain.isascii():
        return [(start, end) for _, start, end in words]
    units: list[tuple[int, int]] = []
    for term, start, end in words:
        if term.isascii() or not any(map(is_unspaced, term)):
            units.append((start, end))
        else:
            units += ((at, min(at + WORD_CHARACTERS, end)) for at in range(start, end, WORD_CHARACTERS))
    return units


def _densest(marks: Sequence[Mark], units: Sequence[tuple[int, int]]) -> tuple[Mark, Mark]:
    """The first and the last mark of the group within WORDS_MAX words that says most."""
    numbers = _unit_numbers(marks, units)
    best = (0.0, 0, 0)
    for first, (begin, *_) in enumerate(marks):
        worth = 0.0
        seen: set[str] = set()
        for last in range(first, len(marks)):
            _, end, key, weight = marks[last]
            if numbers[last] - numbers[first] >= WORDS_MAX or (end - begin > TEXT_MAX and last > first):
                break
            worth += weight * (REPEATED if key in seen else 1.0)
            seen.add(key)
            if worth > best[0] + 1e-9:
                best = (worth, first, last)
    return marks[best[1]], marks[best[2]]


def _unit_numbers(marks: Iterable[Mark], units: Sequence[tuple[int, int]]) -> list[int]:
    """For each mark the number of the word in which it ends."""
    numbers = []
    at = 0
    for _, end, *_ in marks:
        while at + 1 < len(units) and units[at][1] < end:
            at += 1
        numbers.append(at)
    return numbers


def _widened(plain: str, units: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Widen a range to whole words: back to where its sentence begins, then on as far as may be."""
    first = next(number for number, unit in enumerate(units) if unit[1] > start)
    last = next((number for number in range(first, len(units)) if units[number][1] >= end), len(units) - 1)
    room = WORDS_MAX - (last - first + 1)
    lead = min(LEAD_WORDS, room)
    begin = first
    while (
        begin > 0 and first - begin < lead and not _ends_sentence(plain, units[begin - 1][1], units[begin][0])
    ):
        begin -= 1
    while 0 < begin < first and _clings(plain[units[begin - 1][1] : units[begin][0]]):
        begin += 1
    stop = min(len(units) - 1, begin + WORDS_MAX - 1)
    while stop > last and units[stop][1] - min(units[begin][0], start) > TEXT_MAX:
        stop -= 1
    border = _sentence_border(plain, units, (begin, last, stop))
    if border is not None:
        return min(units[begin][0], start), max(units[border][1], end)
    while last < stop < len(units) - 1 and _clings(plain[units[stop][1] : units[stop + 1][0]]):
        stop -= 1
    tail = max(units[stop][1], end)
    return min(units[begin][0], start), tail


def _sentence_border(
    plain: str, units: Sequence[tuple[int, int]], places: tuple[int, int, int]
) -> int | None:
    """The word to end with, where a sentence ends in reach: at the last word that fits or the next behind it.

    `places` are the numbers of the first word, the last matched one and the last that fits. Not so far
    back that half of the excerpt is lost: what follows a match is often the answer.
    """
    begin, last, stop = places
    most = units[begin][0] + TEXT_MAX
    for at in range(stop, len(units)):
        if units[at][1] > most:
            break
        if _is_sentence_end(plain, _with_signs(plain, *units[at])[1]):
            return at
    for at in range(stop - 1, max(last, begin + WORDS_MAX // 2) - 1, -1):
        if _is_sentence_end(plain, _with_signs(plain, *units[at])[1]):
            return at
    return None


def _begins_sentence(plain: str, start: int) -> bool:
    before = plain[max(0, start - SIGNS_MAX) : start].rstrip(" ")
    sign = before.rstrip(_CLOSING)[-1:]
    return start == 0 or before.endswith("·") or (sign != "" and sign in _SENTENCE_ENDS)


def _is_sentence_end(plain: str, end: int) -> bool:
    """Tell whether a sentence, a list item or all of the text ends at a place."""
    rest = plain[end : end + SIGNS_MAX]
    if not rest.strip() and end + SIGNS_MAX >= len(plain):
        return True
    if rest.startswith((PARAGRAPH, "\n·", " ·")):
        return True
    sign = plain[max(0, end - SIGNS_MAX) : end].rstrip(_CLOSING)[-1:]
    return sign != "" and sign in _SENTENCE_ENDS and (rest[:1].isspace() or not sign.isascii())


def _clings(between: str) -> bool:
    """Tell whether two words are parts of one, as in a path: an excerpt is not cut there."""
    return between.isascii() and between != "" and not any(map(str.isspace, between))


def _ends_sentence(plain: str, end: int, start: int) -> bool:
    between = plain[end:start]
    if PARAGRAPH in between or "·" in between:
        return True
    return between[:1] != "" and between[:1] in _SENTENCE_ENDS and between[1:2].isspace()


def _with_signs(plain: str, start: int, end: int) -> tuple[int, int]:
    """Take in the punctuation that clings to either end, so that a sentence keeps its stop."""
    least, most = max(0, start - SIGNS_MAX), min(len(plain), end + SIGNS_MAX)
    begin, stop = start, end
    while begin > least and not plain[begin - 1].isspace() and not plain[begin - 1].isalnum():
        begin -= 1
    while stop < most and not plain[stop].isspace() and not plain[stop].isalnum():
        stop += 1
    return begin, stop


def _joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Join ranges that overlap, as those of bigrams do."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
