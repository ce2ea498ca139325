"""Brackets are read as the parser's own rules read them, at a cost that grows with their number."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt, helpers
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from indexerd.core.markdown.rules import MAX_BRACKETS, use_inline_rules

PIECES: Final = st.sampled_from(
    ["[", "]", "![", "[[", "]]", "![[", "](x)", "](", "[a]", "[x](y)", "|", "a", " ", "`", "\\", "*", "<b>"]
)
TEXTS: Final = st.lists(PIECES, max_size=40).map("".join)
DEFINED: Final = {"A": {"href": "defined", "title": ""}}


def parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"maxNesting": MAX_BRACKETS})
    use_inline_rules(made)
    return made


OURS: Final = parser()
THEIRS: Final = parser()
THEIRS.helpers = helpers


def read(text: str, by: MarkdownIt) -> list[Any]:
    return _plain(by.parseInline(text, {"references": dict(DEFINED)}))


def _plain(tokens: list[Token]) -> list[Any]:
    return [(one.type, one.content, one.attrs, one.meta, _plain(one.children or [])) for one in tokens]


@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
@example(text="[" * (MAX_BRACKETS + 1) + "a]" * MAX_BRACKETS)
@example(text="![" * MAX_BRACKETS + "[x](y)" + "](x)" * 30)
def test_what_is_remembered_of_brackets_changes_no_token(text: str) -> None:
    assert read(text, OURS) == read(text, THEIRS)


@pytest.mark.parametrize("piece", ["[", "![", "[[a", "[[a]", "[a][", "[[a|", "![[", "[a ", "[a](", "[[a] "])
def test_each_bracket_is_followed_a_few_times_at_most(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the memory the least of these, of as many pieces, takes 30 steps a character."""
    text = piece * 2_000 + "[x](y)"
    own, steps = OURS.inline.skipToken, 0

    def counted(state: StateInline) -> None:
        nonlocal steps
        steps += 1
        own(state)

    monkeypatch.setattr(OURS.inline, "skipToken", counted)
    OURS.parseInline(text, {"references": dict(DEFINED)})
    assert steps < 5 * len(text)
