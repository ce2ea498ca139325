"""Finds the terms of a question in the index: how common each is, variants, corrections of unknown ones."""

from __future__ import annotations

import json

from indexerd.contract.record import Record
from wikiq.index import sql
from wikiq.query.divided import likely_divisions, parts_of
from wikiq.query.match import Use, quoted
from wikiq.query.variants import BEGINNING_MIN, ENDING_MAX, commonest_forms, shared_beginning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wikiq.index.database import Snapshot
    from wikiq.model.policies import Policy
    from wikiq.query.parse import Question, Term


class Vocabulary(Record):
    """What the index knows of a question's terms.

    `sections`: how many sections hold a term, for those that any holds. `uses`: what each term is
    looked for as; a term that is missing is in no section and begins or resembles no word.
    `corrected`: what was typed to what is used instead. `forms`: other forms of a term, as used, that
    are not asked for themselves; a word in no section may have some too.
    """

    sections: Mapping[str, int]
    uses: Mapping[str, Use]
    corrected: Mapping[str, str]
    forms: Mapping[str, tuple[str, ...]]


def look_up_terms(
    snapshot: Snapshot, question: Question, policy: Policy, *, exact: bool = False, prefix: bool = False
) -> Vocabulary:
    """Look up every term once; `exact` tries no beginnings, divisions, corrections and forms.

    `prefix`: the last word is still being typed and may be the beginning of one, also an exact one.
    """
    counts = _count(snapshot, [term.text for term in question.terms])
    uses = {term.text: Use(text=term.text) for term in question.terms if term.text in counts}
    absent = [term for term in question.terms if term.text not in counts and not term.is_cut]
    beginners = [term.text for term in absent if not exact or (prefix and term.text == question.unfinished)]
    if beginners and policy.prefixes:
        beginnings = _beginnings(snapshot, beginners)
        uses.update({text: Use(text=text, is_prefix=True) for text in beginnings})
        absent = [term for term in absent if term.text not in beginnings]
    corrected: dict[str, str] = {}
    if absent and policy.divisions and not exact:
        for term, (divided, sections) in _divisions(snapshot, absent):
            corrected[term.typed] = divided
            uses[term.text] = Use(text=divided)
            counts[term.text] = sections
        absent = [term for term in absent if term.text not in uses]
    if absent and policy.corrections and not exact:
        for term, (meant, sections) in _corrections(snapshot, absent):
            corrected[term.typed] = meant
            uses[term.text] = Use(text=meant)
            counts[term.text] = sections
    if prefix and question.unfinished in uses:
        uses[question.unfinished] = uses[question.unfinished].replace(is_prefix=True)
    unused = [term.text for term in question.terms if term.text not in uses and not term.is_cut]
    forms = _forms(snapshot, uses, unused) if policy.form_weight and not exact else {}
    return Vocabulary(sections=counts, uses=uses, corrected=corrected, forms=forms)


def _count(snapshot: Snapshot, terms: list[str]) -> dict[str, int]:
    return dict(snapshot.rows(sql.COUNT_TERMS, (json.dumps(terms),)))


def _beginnings(snapshot: Snapshot, terms: list[str]) -> set[str]:
    return {row[0] for row in snapshot.rows(sql.SELECT_BEGINNINGS, (json.dumps(terms),))}


def _divisions(snapshot: Snapshot, terms: list[Term]) -> list[tuple[Term, tuple[str, int]]]:
    """The words side by side that stand for each term that has them, and in how many sections at most."""
    counts = _count(snapshot, sorted({part for term in terms for part in parts_of(term.text)}))
    found = []
    for term in terms:
        for way in likely_divisions(term.text, counts):
            phrase = " ".join(way)
            if snapshot.row(sql.SELECT_HOLDS_PHRASE, (quoted(phrase),)) is not None:
                found.append((term, (phrase, min(counts[part] for part in way))))
                break
    return found


def _corrections(snapshot: Snapshot, terms: list[Term]) -> list[tuple[Term, tuple[str, int]]]:
    """The nearest word of the index for each term that has one; one query of the vocabulary for all."""
    if not terms:
        return []
    from wikiq.query.spelling import edits_allowed, likely_beginnings, nearest_word

    mendable = [term for term in terms if edits_allowed(term.text)]
    if not mendable:
        return []
    ranges = sorted({begin for term in mendable for begin in likely_beginnings(term.text)})
    shortest = min(len(term.text) - edits_allowed(term.text) for term in mendable)
    longest = max(len(term.text) + edits_allowed(term.text) for term in mendable)
    rows = snapshot.rows(sql.SELECT_VOCABULARY, (json.dumps(ranges), shortest, longest))
    words = {term: sections for _, term, sections in rows}
    found = [(term, nearest_word(term.text, words.items())) for term in mendable]
    return [(term, (meant, words[meant])) for term, meant in found if meant is not None]


def _forms(snapshot: Snapshot, uses: Mapping[str, Use], unused: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The commonest forms of every word that is searched for, and of those in no section.

    One query of the vocabulary for all.
    """
    words = {typed: use.text for typed, use in uses.items() if not use.is_prefix}
    words.update((term, term) for term in unused)
    beginnings = {word: shared_beginning(word) for word in words.values()}
    ranges = sorted({beginning for beginning in beginnings.values() if beginning})
    longest = max(map(len, beginnings), default=0) + ENDING_MAX
    asked = {use.text for use in uses.values()}
    near: dict[str, list[tuple[str, int]]] = {beginning: [] for beginning in beginnings.values()}
    for beginning, term, sections in snapshot.rows(
        sql.SELECT_VOCABULARY, (json.dumps(ranges), BEGINNING_MIN, longest)
    ):
        if term not in asked:
            near[beginning].append((term, sections))
    return {typed: commonest_forms(word, near[beginnings[word]]) for typed, word in words.items()}
