"""Tokens of a section -> HTML, before it is cleaned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, Final

from markdown_it.token import Token

from indexerd.core.markdown.opaque import show
from wikiq.web.rendering.code import MAX_HIGHLIGHTED_OF_PAGE, render_code, render_marked
from wikiq.web.rendering.links import Links, attribute
from wikiq.web.rendering.page_html import PageHtml
from wikiq.web.rendering.reading import Note, ReadPage, ReadSection
from wikiq.web.rendering.regions import render_block_region, render_region

# What is written for a token whatever it holds.
_FIXED: Final[Mapping[str, str]] = {
    "blockquote_close": "</blockquote>\n", "bullet_list_open": "<ul>\n", "bullet_list_close": "</ul>\n",
    "ordered_list_close": "</ol>\n", "list_item_close": "</li>\n", "hr": "<hr>\n",
    "table_open": '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n',
    "table_close": "</table></div>\n", "thead_open": "<thead>\n", "thead_close": "</thead>\n",
    "tbody_open": "<tbody>\n", "tbody_close": "</tbody>\n", "tr_open": "<tr>", "tr_close": "</tr>\n",
    "th_close": "</th>", "td_close": "</td>", "dl_open": "<dl>\n", "dl_close": "</dl>\n", "dt_open": "<dt>",
    "dt_close": "</dt>\n", "dd_open": "<dd>", "dd_close": "</dd>\n", "softbreak": "\n",
    "hardbreak": "<br>\n", "em_open": "<em>", "em_close": "</em>", "strong_open": "<strong>",
    "strong_close": "</strong>", "s_open": "<s>", "s_close": "</s>",
}  # fmt: skip
# Names of callouts that people use, by how they look: GitHub's five, and two of Obsidian's.
_CALLOUTS: Final = {
    "abstract": "note", "attention": "caution", "bug": "danger", "caution": "caution", "check": "tip",
    "cite": "quote", "danger": "danger", "done": "tip", "error": "danger", "fail": "danger",
    "failure": "danger", "help": "important", "hint": "tip", "important": "important", "missing": "danger",
    "question": "important", "quote": "quote", "success": "tip", "tip": "tip", "warning": "warning",
}  # fmt: skip
_LONGEST_NAME: Final = 200  # characters of the name of a checkbox, of the text of a footnote on its number
_ALIGNMENTS: Final = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}


class Writer:
    """Writes the sections of one page."""

    def __init__(self, page: ReadPage, links: Links) -> None:
        self._page = page
        self._links = links
        self._html = PageHtml(links)
        self._section: ReadSection | None = None
        self._open_quotes: list[str] = []
        self._left_to_highlight = MAX_HIGHLIGHTED_OF_PAGE
        self._blocks: dict[str, Callable[[Token], str]] = {
            "blockquote_open": self._quote,
            "blockquote_close": self._end_quote,
            "callout_title_open": lambda _: f'<{self._title_tag()} class="callout-title">',
            "callout_title_close": lambda _: f"</{self._title_tag()}>\n",
            "code_block": lambda token: self._code(token, ""),
            "fence": self._fence,
            "heading_close": lambda token: f"</{token.tag}>\n",
            "heading_open": lambda token: f"<{token.tag}>",
            "html_block": self._html_block,
            "inline": self._inline,
            "list_item_open": lambda token: '<li class="task">' if token.meta else "<li>",
            "ordered_list_open": self._ordered_list,
            "paragraph_close": lambda token: "" if token.hidden else "</p>\n",
            "paragraph_open": lambda token: "" if token.hidden else "<p>",
            "td_open": self._cell,
            "th_open": self._cell,
        }
        self._inlines: dict[str, Callable[[Token], str]] = {
            "code_inline": lambda token: f"<code>{_marked(token)}</code>",
            "footnote_ref": self._note_number,
            "html_inline": lambda token: self._html.rewrite(token.content),
            "image": self._image,
            "link_open": self._link,
            "link_close": lambda _: "</a>",
            "region": lambda token: render_region(token.tag, token.content),
            "tag": lambda token: f"{escape(token.content, quote=False)}",
            "text": _marked,
            "text_special": lambda token: escape(token.content, quote=False),
            "wikilink": self._wikilink,
        }

    def write(self, section: ReadSection) -> str:
        """The HTML of a section without those below it; its own footnotes stand at its end."""
        self._section = section
        html = self._write(section.tokens)
        if section.notes:
            notes = "".join(
                f'<li value="{note.number}">{self._write(note.tokens)}</li>\n' for note in section.notes
            )
            html += f'<div class="footnotes" role="group" aria-label="Footnotes"><ol>\n{notes}</ol></div>\n'
        return html

    def _write(self, tokens: Sequence[Token]) -> str:
        return "".join(
            _FIXED[token.type]
            if token.type in _FIXED and token.type not in self._blocks
            else self._blocks[token.type](token)
            for token in tokens
        )

    def _inline(self, token: Token) -> str:
        children = token.children or ()
        html = self._children(children)
        if "task" in token.meta:
            name = " ".join(plain_text(children).split())[:_LONGEST_NAME] or "task"
            checked = "" if token.meta["task"] == " " else " checked"
            return f'<input type="checkbox" disabled{checked}{attribute("aria-label", name)}> {html}'
        return html

    def _children(self, tokens: Sequence[Token]) -> str:
        return "".join(
            _FIXED[token.type] if token.type in _FIXED else self._inlines[token.type](token)
            for token in tokens
        )

    def _quote(self, token: Token) -> str:
        kind = token.meta.get("callout")
        if kind is None:
            self._open_quotes.append("blockquote")
            return "<blockquote>\n"
        look = f'class="callout callout-{_CALLOUTS.get(kind, "note")}"'
        self._open_quotes.append("details" if token.meta["fold"] else "div")
        if token.meta["fold"]:
            return f"<details {look}{' open' if token.meta['fold'] == '+' else ''}>\n"
        return f'<div {look} role="note">\n'

    def _end_quote(self, _: Token) -> str:
        return f"</{self._open_quotes.pop()}>\n"

    def _title_tag(self) -> str:
        return "summary" if self._open_quotes[-1] == "details" else "p"

    def _ordered_list(self, token: Token) -> str:
        start = token.attrs.get("start", 1)
        return "<ol>\n" if start == 1 else f'<ol start="{start}">\n'

    def _cell(self, token: Token) -> str:
        aligned = _ALIGNMENTS.get(str(token.attrs.get("style", "")))
        scope = ' scope="col"' if token.tag == "th" else ""
        return f"<{token.tag}{scope}{attribute('class', aligned)}>"

    def _fence(self, token: Token) -> str:
        language = token.info.strip().partition(" ")[0].strip("{}.").partition(",")[0].lower()
        return self._code(token, language)

    def _code(self, token: Token, language: str) -> str:
        self._left_to_highlight -= len(token.content) if language else 0
        known = language if self._left_to_highlight > 0 else ""
        code = render_code(token.content, known, token.meta.get("marks", ()))
        return f'<pre tabindex="0"{attribute("data-language", language)}><code>{code}</code></pre>\n'

    def _html_block(self, token: Token) -> str:
        """HTML of the page, or what stands for a region on lines of its own."""
        if self._section is None or token.map is None:
            return ""
        marks: Any = token.meta.get("marks", ())
        first, last = (self._section.first_line + line for line in token.map)
        written = self._page.lines[first:last]
        if written == self._page.hidden[first:last]:
            return self._html.rewrite(token.content, marks)
        if token.content.lstrip().startswith("<!--"):
            return render_block_region(written)
        return self._html.rewrite(show(token.content), marks)

    def _image(self, token: Token) -> str:
        label = " ".join(plain_text(token.children or ()).split())
        title = str(token.attrs.get("title", "")) or None
        return self._links.picture("image", str(token.attrs.get("src", "")), label, title)

    def _link(self, token: Token) -> str:
        title = str(token.attrs.get("title", "")) or None
        return self._links.opening(
            str(token.meta["kind"]), show(str(token.attrs.get("href", ""))), title=title
        )

    def _wikilink(self, token: Token) -> str:
        kind, target, label = str(token.meta["kind"]), show(token.info), show(token.content)
        if self._links.is_text(kind, target, label):
            return escape(f"[[{target}]]" if label == target else f"[[{target}|{label}]]", quote=False)
        if self._links.is_picture(kind, target):
            return self._links.picture(kind, target, label)
        text = _marked(token) if label == token.content else escape(label, quote=False)
        return f"{self._links.opening(kind, target, label)}{text}</a>"

    def _note_number(self, token: Token) -> str:
        """The number of a footnote, which leads to the section that has its text; or the text itself."""
        label = token.meta.get("label")
        if label is None:
            inner = self._page.env["footnotes"]["list"][token.meta["id"]]["tokens"]
            return f'<span class="inline-note"> ({self._children(inner)})</span>'
        note = self._page.notes[label]
        text = attribute("title", _note_text(note))
        href = attribute("href", f"#{note.anchor}" if note.anchor else None)
        return f'<sup class="footnote-ref"><a class="footnote-ref"{href}{text}>{note.number}</a></sup>'


def plain_text(tokens: Sequence[Token]) -> str:
    """The text of inline tokens, without markup."""
    parts: list[str] = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type == "image":
            parts.append(plain_text(token.children or ()))
        elif token.type not in ("html_inline", "footnote_ref"):
            parts.append(token.content)
    return "".join(parts)


def _note_text(note: Note) -> str:
    inlines = (token for token in note.tokens if token.type == "inline")
    return " ".join(" ".join(token.content for token in inlines).split())[:_LONGEST_NAME]


def _marked(token: Token) -> str:
    marks: Any = token.meta.get("marks", ())
    return render_marked(token.content, marks)
