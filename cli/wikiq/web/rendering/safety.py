"""The last step: only what is allowed comes out, whatever went in.

Each section is cleaned by itself, so an unclosed tag ends with its section. No id passes, no class but
those that this renderer writes, no picture but the wiki's own, no address but http, https and mailto.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import nh3

from wikiq.web.rendering.code import CLASSES

CALLOUTS: Final = ("note", "tip", "important", "warning", "caution", "danger", "quote")
_MATH: Final = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub", "msup", "msubsup",
    "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose",
}  # fmt: skip
_TAGS: Final = _MATH | {
    "a", "abbr", "b", "bdi", "bdo", "blockquote", "br", "caption", "center", "cite", "code", "col",
    "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "h1",
    "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd", "li", "mark", "ol", "p",
    "pre", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strong", "sub", "summary", "sup",
    "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "u", "ul", "var",
}  # fmt: skip
_ATTRIBUTES: Final = {
    "*": {"dir", "lang", "title"},
    "a": {"href", "aria-disabled"},
    "details": {"open"},
    "div": {"aria-label"},
    "img": {"alt", "width", "height"},
    "input": {"checked", "disabled", "aria-label"},
    "li": {"value"},
    "math": {"display"},
    "menclose": {"notation"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "separator", "minsize", "maxsize", "accent"},
    "mpadded": {"width", "height", "depth"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtd": {"columnalign"},
    "mtable": {"columnalign"},
    "ol": {"start", "reversed"},
    "pre": {"data-language"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "time": {"datetime"},
}
_VALUES: Final = {
    "a": {"role": {"link"}},
    "div": {"role": {"note", "group"}, "tabindex": {"0"}},
    "img": {"loading": {"lazy"}},
    "pre": {"tabindex": {"0"}},
    "span": {"tabindex": {"0"}},
    "th": {"scope": {"col", "row"}},
}
_ALIGNED: Final = {"left", "center", "right"}
# The cleaner asks for each tag which ones it stands in: 500 KB of `<div>` would take minutes.
MAX_DEPTH: Final = 256
_TAG: Final = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][^\s/>]*)")
# No end tag is needed (HTML 13.1.2.4), so that a row of them is not deep; or there is none.
_SHALLOW: Final = frozenset(
    {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "rp", "rt"}
    | {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_CALLOUT_CLASSES: Final = {"callout", *(f"callout-{kind}" for kind in CALLOUTS)}
_CLASSES: Final = {
    "a": {"external", "broken", "embed", "file", "site", "remote-image", "footnote-ref"},
    "code": {"math", "template"},
    "details": _CALLOUT_CLASSES,
    "div": {"table", "footnotes", *_CALLOUT_CLASSES},
    "li": {"task"},
    "p": {"callout-title"},
    "pre": {"source"},
    "span": {"math", "image", "image-name", "inline-note", "broken", "file", *CLASSES},
    "summary": {"callout-title"},
    "sup": {"footnote-ref"},
    "td": _ALIGNED,
    "th": _ALIGNED,
}


class TooDeepError(Exception):
    """HTML is nested deeper than MAX_DEPTH."""


class Sanitizer:
    """Cleans the sections of one page; `pictures`: the only values that `src` may have."""

    def __init__(self, pictures: Iterable[str]) -> None:
        sources = set(pictures)
        has_data = any(source.startswith("data:") for source in sources)
        self._cleaner = nh3.Cleaner(
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            tag_attribute_values={**_VALUES, "img": {**_VALUES["img"], "src": sources}},
            set_tag_attribute_values={"input": {"type": "checkbox"}},
            allowed_classes=_CLASSES,
            url_schemes={"http", "https", "mailto", *({"data"} if has_data else ())},
            # Asked for each attribute, which takes longer than all else; so only where it must be.
            attribute_filter=_without_data if has_data else None,
        )

    def clean(self, html: str) -> str:
        """The HTML with nothing in it that is not allowed. Raises TooDeepError."""
        _check_depth(html)
        return self._cleaner.clean(html)


def _check_depth(html: str) -> None:
    depth = 0
    for tag in _TAG.finditer(html):
        if tag["name"].lower() not in _SHALLOW:
            depth = max(0, depth - 1) if tag["end"] else depth + 1
            if depth > MAX_DEPTH:
                raise TooDeepError


def _without_data(tag: str, attribute: str, value: str) -> str | None:
    """No address of a link may hold what it leads to."""
    is_data = tag == "a" and attribute == "href" and value.lstrip().lower().startswith("data:")
    return None if is_data else value
