"""Collapses copies: hits that say the same count once, and the hit that is shown names the others.

Pure. Three kinds of candidates are copies of each other: those with the same title, heading path and
section text; those of two versions of one page, with the same heading path; and translations of one page.
"""

from __future__ import annotations

import re
import unicodedata

from indexerd.contract.record import Record
from indexerd.contract.terms import tokens
from wikiq.query.stop_words import FUNCTION_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from wikiq.ranking.score import Scored

REACH = 6  # candidates looked at for one hit: most documentation keeps no more versions of a page

# A folder that only a version can be called: `7.5`, `v2`, `version-1.x`, `latest`. A bare number is none,
# since chapters and years are called so.
_VERSION = re.compile(
    r"(?:v|ver|version|release)[-_.]?\d+(?:\.\w+)*(?:[-_.]\w+)?|\d+(?:\.(?:\d+|x))+(?:[-_.]\w+)?"
    r"|latest|stable|unstable|next|nightly|edge|main|master|current|lts",
    re.IGNORECASE,
)
# ISO 639-1, with a script or region behind it: `de`, `zh-CN`, `pt_BR`, `zh-Hans`.
_ISO_639 = """
aa ab af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is
it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr
ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg
si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa
wo xh yi yo za zh zu
"""
_LANGUAGES = frozenset(_ISO_639.split())
_CODE = re.compile(r"([a-z]{2})(?:[-_](?:[a-z]{4}|[a-z]{2}|\d{3}))?", re.IGNORECASE)
_LATIN = "LATIN"  # as Unicode's names begin
_NUMBERS = re.compile(r"\d+")
_DEFAULTS = frozenset({"", "en", "en-us", "en_us", "en-gb", "en_gb"})
_FAR_BEHIND = 0.5  # of the best score: a page that holds one word of the question that all languages share
_ENGLISH = 0.2  # share of English stop words from which on a text is taken for English


class SectionText(Record):
    """What tells whether two candidates are copies."""

    path: str
    title: str
    heading_path: str
    body: str


class Group(Record):
    """One hit: the candidate that is shown, and the pages that it stands for besides."""

    shown: Scored
    copies: tuple[str, ...] = ()


def collapse_copies(
    ranked: Sequence[Scored], texts: Mapping[int, SectionText], asked: str, *, sections: bool
) -> list[Group]:
    """Put copies into one group each, in the order of their best members.

    `texts` are by place in `ranked`; a candidate without one is a copy of nothing. A group has the score of
    its best member. Where hits are `sections`, translations compare by their place on the page too.
    """
    groups: list[list[int]] = []
    group_of: dict[Hashable, list[int]] = {}
    translated = _translated(ranked, texts, sections=sections)
    for place in range(len(ranked)):
        keys = list(_keys(texts[place])) if place in texts else []
        keys += translated.get(place, ())
        members = next((group_of[key] for key in keys if key in group_of), None)
        if members is None:
            members = []
            groups.append(members)
        members.append(place)
        for key in keys:
            group_of.setdefault(key, members)
    return [_group(ranked, members, texts, asked) for members in groups]


def _keys(text: SectionText) -> Iterator[Hashable]:
    """What a candidate shares with its copies in the same language."""
    yield text.title, text.heading_path, text.body
    folders = text.path.split("/")
    for at, folder in enumerate(folders[:-1]):
        if _VERSION.fullmatch(folder):
            yield (*folders[:at], "", *folders[at + 1 :]), text.title, text.heading_path


def _translated(
    ranked: Sequence[Scored], texts: Mapping[int, SectionText], *, sections: bool
) -> dict[int, tuple[Hashable, ...]]:
    """What candidates share with their translations, by place.

    Two texts in English are no translations of each other, whatever their folders are called: `hr` and `it`
    are departments too.
    """
    shared: dict[Hashable, list[int]] = {}
    for place, text in texts.items():
        ordinal = ranked[place][1].ordinal if sections else 0
        shared.setdefault((split_language(text.path)[0], ordinal), []).append(place)
    found: dict[int, tuple[Hashable, ...]] = {}
    for key, places in shared.items():
        if len(places) > 1:
            english = [place for place in places if _is_english(texts[place].body)]
            found.update((place, (key,)) for place in places if place not in english[1:])
    return found


def split_language(path: str) -> tuple[str, str]:
    """Cut a path into what its translations share and its language, which is empty without a code.

    A code is a folder (`de/tar.md`), or stands behind a dot in a name (`pages.de/tar.md`, `tar.de.md`).
    """
    kept, language = [], ""
    for part in path.split("/"):
        if _is_language(part):
            language = part.lower()
            continue
        names = part.split(".")
        code = next((at for at in range(1, len(names)) if _is_language(names[at])), 0)
        if code:
            language = names.pop(code).lower()
        kept.append(".".join(names))
    return "/".join(kept), language


def _is_language(text: str) -> bool:
    found = _CODE.fullmatch(text)
    return found is not None and found[1].lower() in _LANGUAGES


def _is_english(text: str) -> bool:
    words = tokens(text[:2000])
    return sum(word in FUNCTION_WORDS for word in words) > _ENGLISH * len(words)


def _group(
    ranked: Sequence[Scored], members: Sequence[int], texts: Mapping[int, SectionText], asked: str
) -> Group:
    score, _, parts = ranked[members[0]]
    if len(members) == 1:
        return Group(shown=ranked[members[0]])
    chosen = _chosen(ranked, members, texts, asked)
    others = dict.fromkeys(texts[place].path for place in members)
    others.pop(texts[chosen].path)
    return Group(shown=(score, ranked[chosen][1], parts), copies=tuple(others))


def _chosen(
    ranked: Sequence[Scored], members: Sequence[int], texts: Mapping[int, SectionText], asked: str
) -> int:
    """The member to show: the one named as typed, in the question's script, newest, of the highest version.

    Of languages in one script the best ranked is shown; where the question is in ASCII, English, or what has
    no code, unless it ranks far behind.
    """
    named = max(_exactness(ranked[place]) for place in members)
    kept = [place for place in members if _exactness(ranked[place]) == named]
    script = _script(asked)
    kept = [place for place in kept if _script(texts[place].body or texts[place].title) == script] or kept
    languages = {place: split_language(texts[place].path)[1] for place in kept}
    near = [place for place in kept if ranked[place][0] >= _FAR_BEHIND * ranked[kept[0]][0]]
    default = [place for place in near if languages[place] in _DEFAULTS] if asked.isascii() else []
    language = languages[(default or kept)[0]]
    return max(
        (place for place in kept if languages[place] == language),
        key=lambda place: (ranked[place][1].updated_at[:10], _numbers(texts[place].path), -place),
    )


def _exactness(scored: Scored) -> int:
    exact = scored[1].is_exact
    return -1 if exact is None else exact


def _script(text: str) -> str:
    """The script of most letters; one that is not Latin counts threefold, since names and code stay Latin."""
    text = text[:200]
    if text.isascii():
        return _LATIN
    names = [unicodedata.name(one, "").partition(" ")[0] for one in text if one.isalpha()]
    if "HIRAGANA" in names or "KATAKANA" in names:
        return "HIRAGANA"
    counts = {name: names.count(name) * (1 if name == _LATIN else 3) for name in set(names)}
    return max(counts, key=lambda name: (counts[name], name), default="")


def _numbers(path: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBERS.findall(path)))
