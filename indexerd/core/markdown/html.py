"""What HTML within Markdown says: the text of its first `<h1>`, its `<a href>` and `<img src>`.

Only what a tag spells in quotes or without any counts: `href={page}` is a program's. Comments, scripts
and preformatted text hold no link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from indexerd.contract.terms import fold_title
from indexerd.core.markdown.document import FoundLink, LineCounter, fold_blanks
from indexerd.core.model import LinkKind

# A block that is no Markdown, and whose tags are an example or a program's.
RAW_HTML: Final = re.compile(r"\s*<(?:!--|(?:pre|script|style|textarea)\b)", re.IGNORECASE)
_TITLE: Final = re.compile(r"<h1\b[^>]*>(.*?)</h1\s*>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<[^>]*>")
_VALUE: Final = r"""\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'=<>`{]+))"""
_BEFORE: Final = r"""\s(?:[^<>"']|"[^"]*"|'[^']*')*?(?<=\s)"""  # attributes
_LINK: Final = re.compile(rf"<(?:a{_BEFORE}href|(?P<picture>img{_BEFORE}src)){_VALUE}", re.IGNORECASE)
_OPENING: Final = re.compile(r"<(?:a|img)\s", re.IGNORECASE)
_NEXT: Final = re.compile(r"</?a\b", re.IGNORECASE)  # a link ends, or another begins
_ALTERNATIVE: Final = re.compile(rf"(?<=\s)alt{_VALUE}", re.IGNORECASE)
_SKIPPED: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<tag>pre|script|style|textarea)\b.*?(?:</(?P=tag)\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def html_title(html: str) -> str:
    """The text of the first `<h1>` of a block that has some; comments hold none."""
    if "<h1" not in html and "<H1" not in html:
        return ""
    texts = (unescape(_TAG.sub("", match[1])) for match in _TITLE.finditer(html))
    return next(filter(None, map(fold_blanks, texts)), "") if not html.lstrip().startswith("<!--") else ""


def without_title(html: str, title: str) -> str:
    """The HTML without its first `<h1>`, where that says `title`."""
    found = _TITLE.search(html)
    if found is None or fold_title(unescape(_TAG.sub("", found[1]))) != fold_title(title):
        return html
    return html[: found.start()] + html[found.end() :]


def html_link(html: str, at: int, lines: LineCounter) -> FoundLink | None:
    """The link of the `<a>` or `<img>` that begins at offset `at`; None for any other tag."""
    match = _LINK.match(html, at)
    target = _value(match) if match else ""
    end = html.find(">", match.end()) if match else -1
    if match is None or not target or end < 0:
        return None
    if match["picture"]:
        alternative = _ALTERNATIVE.search(html, at, end)
        label = _value(alternative) if alternative else ""
    else:
        after = _NEXT.search(html, end)
        label = unescape(_TAG.sub("", html[end + 1 : after.start()])) if after else ""
    return FoundLink(LinkKind.HTML, lines.line_at(at), target, fold_blanks(label))


def html_links(html: str, first_line: int) -> Iterator[FoundLink]:
    """The links of a block of HTML that begins at line `first_line`."""
    if _SKIPPED.search(html):
        html = _SKIPPED.sub(lambda match: "\n" * match[0].count("\n"), html)
    lines = LineCounter(html, first_line)
    found = (html_link(html, match.start(), lines) for match in _OPENING.finditer(html))
    return filter(None, found)


def _value(match: re.Match[str]) -> str:
    """The value of an attribute: what is quoted, or stands without quotes."""
    return unescape(match["double"] or match["single"] or match["bare"] or "").strip()
