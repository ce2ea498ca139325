"""The words that are shown of a section, and where in them the matches are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexerd.contract.terms import spans, tokens
from wikiq.snippet.excerpt import (
    CHARACTERS_MAX,
    CUT,
    LEAD_WORDS,
    PARAGRAPH,
    TEXT_MAX,
    WORDS_MAX,
    Excerpt,
    Sought,
    cut_excerpt,
    find_marks,
    first_words,
    held_keys,
)


def sought(*terms: str, beginnings: tuple[str, ...] = (), pieces: tuple[str, ...] = ()) -> Sought:
    return Sought(
        terms=dict.fromkeys(terms, 1.0),
        beginnings=dict.fromkeys(beginnings, 1.0),
        pieces=dict.fromkeys(pieces, 1.0),
    )


def marked(excerpt: Excerpt | None) -> list[str]:
    assert excerpt is not None
    return [excerpt.text[start:end] for start, end in excerpt.matches]


def test_matches_are_ranges_of_the_excerpt_in_code_points() -> None:
    excerpt = cut_excerpt("🦀 A crab, the Crab's claw: CRAB.", sought("crab", "claw"))
    assert excerpt is not None
    assert excerpt.text == "🦀 A crab, the Crab's claw: CRAB."
    assert marked(excerpt) == ["crab", "Crab", "claw", "CRAB"]


def test_the_densest_group_wins_over_the_first_match() -> None:
    text = "tree " + "word " * 60 + "the tree and its root grow " + "word " * 60
    assert marked(cut_excerpt(text, sought("tree", "root"))) == ["tree", "root"]


def test_a_rare_word_says_more_than_common_ones_repeated() -> None:
    text = "the the the the the " + "word " * 60 + "one zebra here"
    weights = Sought(terms={"the": 0.1, "zebra": 0.9}, beginnings={}, pieces={})
    assert marked(cut_excerpt(text, weights)) == ["zebra"]


def test_of_two_groups_that_say_as_much_the_first_is_taken() -> None:
    text = "first tree here. " + "word " * 60 + "second tree there."
    excerpt = cut_excerpt(text, sought("tree"))
    assert excerpt is not None
    assert excerpt.text.startswith("first tree here.")


@pytest.mark.parametrize("words", [WORDS_MAX - 1, WORDS_MAX, 10 * WORDS_MAX])
def test_an_excerpt_has_as_many_words_as_allowed_and_no_more(words: int) -> None:
    excerpt = cut_excerpt(" ".join(["tree", *["leaf"] * (words - 1)]), sought("tree"))
    assert excerpt is not None
    assert len(excerpt.text.split()) == min(words, WORDS_MAX)


def test_it_begins_where_the_sentence_of_the_match_begins() -> None:
    excerpt = cut_excerpt("An end. A new sentence with a tree in it. More.", sought("tree"))
    assert excerpt is not None
    assert excerpt.text == "A new sentence with a tree in it. More."


def test_a_long_sentence_begins_a_few_words_before_the_match() -> None:
    excerpt = cut_excerpt("word " * 50 + "tree and more", sought("tree"))
    assert excerpt is not None
    assert excerpt.text == CUT + "word " * LEAD_WORDS + "tree and more"


def test_a_wrapped_line_is_no_sentence_and_a_paragraph_is_one() -> None:
    wrapped = cut_excerpt("Of a wrapped\nline with a tree.", sought("tree"))
    assert wrapped is not None
    assert (wrapped.text, wrapped.line) == ("Of a wrapped line with a tree.", 1)
    paragraph = cut_excerpt(f"A title{PARAGRAPH}One tree.", sought("tree"))
    assert paragraph is not None
    assert (paragraph.text, paragraph.line) == ("One tree.", 1)


def test_it_ends_where_a_sentence_ends_in_reach() -> None:
    answer = "the tree is " + "very " * 30 + "old. "
    excerpt = cut_excerpt(answer + "leaf " * 60, sought("tree"))
    assert excerpt is not None
    assert excerpt.text == answer.strip()
    early = "A tree " + "is very " * 10 + "old. "
    excerpt = cut_excerpt(early + "leaves " * 60, sought("tree"))
    assert excerpt is not None
    assert excerpt.text == early.strip()


@pytest.mark.parametrize("end", ["\n· another " + "leaf " * 60, "。" + "字" * 200])
def test_a_list_item_and_a_full_stop_of_han_end_it_too(end: str) -> None:
    excerpt = cut_excerpt("tree " + "word " * 33 + "last" + end, sought("tree"))
    assert excerpt is not None
    assert excerpt.text.rstrip("。").endswith("last")


def test_what_is_cut_says_so_and_is_no_longer_than_allowed() -> None:
    excerpt = cut_excerpt("longword " * 50 + "tree " + "longword " * 50, sought("tree"))
    assert excerpt is not None
    assert excerpt.text[0] == excerpt.text[-1] == CUT
    assert marked(excerpt) == ["tree"]
    assert len(excerpt.text) <= CHARACTERS_MAX


@pytest.mark.parametrize(
    "text, shown",
    [
        ("in lib/a/b/c/d/e/f/g/h/i/j is one tree", f"{CUT}is one tree"),
        (f"one tree{' and' * 29} lib/a/b.py{' on' * 99}", f"one tree{' and' * 29}{CUT}"),
        ("lib/a/b/c/d/e/f/g/h/i/j/tree/leaf", f"{CUT}/tree/leaf"),  # no other place to begin
    ],
)
def test_a_path_is_not_cut_in_its_middle(text: str, shown: str) -> None:
    excerpt = cut_excerpt(text, sought("tree"))
    assert excerpt is not None
    assert excerpt.text == shown


def test_lines_are_joined_by_blanks() -> None:
    excerpt = cut_excerpt("one tree\ntwo trees", sought("tree", "trees"))
    assert excerpt is not None
    assert excerpt.text == "one tree two trees"


@pytest.mark.parametrize(
    "text, asked, expected",
    [
        ("Die Straße ist lang", sought("straße"), ["Straße"]),
        ("Un re\u0301sume\u0301 complet", sought("resume"), ["re\u0301sume\u0301"]),
        ("normalized paths", sought(beginnings=("normaliz",)), ["normalized"]),
        ("数据库索引的实现", sought(pieces=("数据", "据库", "索引")), ["数据库", "索引"]),
        ("検索エンジンの設計", sought(pieces=("設",)), ["設"]),
        ("ＡＢＣ税率", sought("abc", pieces=("abc", "税率")), ["ＡＢＣ", "税率"]),
        ("私のiPhoneです", sought("iphone", pieces=("iphone",)), ["iPhone"]),
        ("ﾃﾞｰﾀです", sought(pieces=("デー",)), ["ﾃﾞｰﾀです"]),
        (
            "한글 \u1112\u1161\u11ab\u1100\u1173\u11af",
            sought(pieces=("한글",)),
            ["한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"],
        ),
    ],
)
def test_matches_in_any_script_are_marked_where_they_are(
    text: str, asked: Sought, expected: list[str]
) -> None:
    assert marked(cut_excerpt(text, asked)) == expected


def test_a_long_run_without_blanks_is_cut() -> None:
    excerpt = cut_excerpt("字" * 500 + "索引" + "字" * 500, sought(pieces=("索引",)))
    assert excerpt is not None
    assert len(excerpt.text) <= 2 * WORDS_MAX + 2
    assert marked(excerpt) == ["索引"]


def test_nothing_sought_is_nothing_shown() -> None:
    assert cut_excerpt("some words", sought("other")) is None
    assert cut_excerpt("", sought("other")) is None


def test_a_word_longer_than_an_excerpt_is_cut_and_still_marked() -> None:
    excerpt = cut_excerpt("x" * 5000, sought("x" * 5000))
    assert excerpt == Excerpt(text="x" * TEXT_MAX + CUT, matches=((0, TEXT_MAX),), line=0)


def test_the_first_words_of_a_text_are_shown_with_nothing_marked() -> None:
    assert first_words("word " * 100) == Excerpt(text=" ".join(["word"] * WORDS_MAX), matches=(), line=0)
    assert first_words("?!") is None


@given(
    st.text("ab .\n漢字ก็é́🦀-", max_size=400),
    st.sets(st.sampled_from(["a", "b", "ab", "ba", "aa", "e"]), min_size=1),
    st.sets(st.sampled_from(["漢字", "字漢", "漢", "ก็"])),
)
def test_any_text_gives_matches_in_order_inside_a_bounded_excerpt(
    text: str, terms: set[str], pieces: set[str]
) -> None:
    excerpt = cut_excerpt(text, sought(*terms, pieces=tuple(pieces)))
    if excerpt is None:
        assert terms.isdisjoint(tokens(text))
        return
    assert excerpt.matches
    assert excerpt.text.strip(CUT) in text.replace("\n", " ")
    assert not excerpt.text.strip(CUT)[:1].isspace()
    assert len(excerpt.text) <= CHARACTERS_MAX
    ends = [0, *(place for match in excerpt.matches for place in match), len(excerpt.text)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in excerpt.matches)


def test_the_beginning_of_a_run_without_blanks_marks_what_was_typed_alone() -> None:
    text = "日本の首都は東京です retention"
    pieces = {"日本": 0.4, "本の": 0.4, "の首": 0.4, "首都": 0.4}
    sought = Sought(terms={}, beginnings={"日本の首都": 1.0, "retent": 1.0}, pieces=pieces)
    ranges = [(start, end) for start, end, _, _ in find_marks(text, spans(text), sought)]
    assert (ranges[0][0], ranges[-2][1]) == (0, 5)
    assert text[slice(*ranges[-1])] == "retention"


@given(
    st.lists(st.sampled_from([*"abc", "ab", "Å", "é", "東", "東京", "に", "ไทย", "ab東", "'", "-", " "])).map(
        "".join
    ),
    st.lists(st.sampled_from(["a", "ab", "abc", "e", "東京"]), max_size=3),
    st.lists(st.sampled_from(["a", "ab", "b", "東"]), max_size=2),
    st.lists(st.sampled_from(["東京", "京", "に", "a", "ไท"]), max_size=3),
)
def test_what_a_text_holds_is_what_is_marked_in_it(
    text: str, terms: list[str], beginnings: list[str], pieces: list[str]
) -> None:
    wanted = sought(*terms, beginnings=tuple(beginnings), pieces=tuple(pieces))
    assert held_keys(text, wanted) == {key for _, _, key, _ in find_marks(text, spans(text), wanted)}
