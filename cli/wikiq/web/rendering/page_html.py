"""HTML that a page holds -> the same with its links resolved, without ids, classes and form fields.

Not the guard: whatever a browser may read otherwise than Python's parser, `safety` cleans after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from html.parser import HTMLParser
from typing import Final

from wikiq.web.rendering.code import render_marked
from wikiq.web.rendering.links import Links
from wikiq.web.rendering.placing import Ranges, within

# Not taken over: what addresses or styles, or what only the frame of the viewer may say.
_DROPPED: Final = frozenset({"id", "class", "style", "name", "srcset", "tabindex", "role", "target", "rel"})
_FIELDS: Final = frozenset({"input", "button", "select", "textarea", "form"})
# Python's parser reads to the end for each tag or comment that does not end: quadratic where many do not.
MOST_UNCLOSED: Final = 200


class PageHtml(HTMLParser):
    """Rewrites pieces of HTML, each by itself: a whole block, or one tag within a paragraph."""

    def __init__(self, links: Links) -> None:
        super().__init__(convert_charrefs=False)
        self._links = links
        self._out: list[str] = []
        self._in_link = False
        self._marks: Ranges = ()
        self._starts: Sequence[int] = ()

    def rewrite(self, html: str, marks: Ranges = ()) -> str:
        """The HTML as it goes on to be cleaned; `marks` are ranges of it, of which text is marked.

        With more than MOST_UNCLOSED tags or comments that do not end it is no HTML, and becomes text.
        """
        if _unclosed(html) > MOST_UNCLOSED:
            return render_marked(html, marks)
        self.reset()
        self._out, self._marks = [], marks
        self._starts = [0, *(end.end() for end in re.finditer("\n", html))] if marks else ()
        self.feed(html)
        self.close()
        return "".join(self._out)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Resolve a link or a picture; wrap a table; leave anything else."""
        values = {name: value or "" for name, value in attrs}
        if tag == "a":
            target = values.get("href", "").strip()
            self._in_link = bool(target)
            title = values.get("title")
            self._out.append(self._links.opening("html", target, title=title) if target else "<a>")
        elif tag == "img":
            self._out.append(self._picture(values))
        elif tag == "table":
            self._out.append('<div class="table" role="group" aria-label="Table" tabindex="0"><table>')
        elif tag not in _FIELDS:
            kept = "".join(
                f' {name}="{escape(value or "")}"'
                for name, value in attrs
                if name not in _DROPPED and not name.startswith("on")
            )
            self._out.append(f"<{tag}{kept}>")

    def handle_endtag(self, tag: str) -> None:
        """Close what was opened."""
        if tag == "a":
            self._in_link = False
        if tag not in _FIELDS:
            self._out.append(f"</{tag}></div>" if tag == "table" else f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Text; within scripts and styles too, which do not come through."""
        inner: Ranges = ()
        if self._marks:
            line, column = self.getpos()
            inner = list(within(self._marks, self._starts[line - 1] + column, len(data), 0))
        self._out.append(render_marked(data, inner))

    def handle_entityref(self, name: str) -> None:
        """A character by its name."""
        self._out.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        """A character by its number."""
        self._out.append(f"&#{name};")

    def _picture(self, values: dict[str, str]) -> str:
        target = values.get("src", "").strip()
        if not target:
            return ""
        return self._links.picture(
            "html", target, values.get("alt", "").strip(), values.get("title"), in_link=self._in_link
        )


def _unclosed(html: str) -> int:
    return max(html.count("<") - html.count(">"), html.count("<!--") - html.count("-->"))
