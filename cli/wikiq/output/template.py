"""Fills `--format` templates: `{field}` is replaced, `{{` and `}}` are braces, escapes are as in C.

Fields are plain text; there is no access to attributes, no expression, no width.
"""

from __future__ import annotations

from wikiq.errors import UsageError
from wikiq.model.printable import printable_line
from wikiq.model.results import Hit, place
from wikiq.output.hits import breadcrumb, shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexerd.contract.record import Record
    from wikiq.output.terminal import Screen

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "0": "\0", "\\": "\\"}


def write_filled(out: Screen, template: str, values: Mapping[str, str]) -> None:
    """Write one line made from a template, which is the user's own; only the values are not."""
    clean = {name: printable_line(value) for name, value in values.items()}
    out.stream.write(fill(template, clean) + "\n")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put the values into a template. Raises UsageError on an unknown field or an open brace."""
    filled: list[str] = []
    at = 0
    while at < len(template):
        sign = template[at]
        if template[at : at + 2] in ("{{", "}}"):
            filled.append(sign)
            at += 2
        elif sign == "{":
            end = template.find("}", at)
            if end < 0:
                remedy = "close it with }, or write {{ for a brace"
                raise UsageError(template, "has a brace that is not closed", remedy)
            name = template[at + 1 : end]
            if name not in values:
                raise UsageError(template, f"has no field {name!r}", f"use {', '.join(sorted(values))}")
            filled.append(values[name])
            at = end + 1
        elif sign == "\\" and template[at + 1 : at + 2] in _ESCAPES:
            filled.append(_ESCAPES[template[at + 1]])
            at += 2
        else:
            filled.append(sign)
            at += 1
    return "".join(filled)


HIT_FIELDS = (
    *(field for field in Hit.fields if field != "evidence"),
    *("line", "breadcrumb", "section_id", "heading", "anchor", "end_line", "excerpt"),
)


def check_hit_template(template: str) -> None:
    """Refuse a template that no hit can fill, before one is sought."""
    fill(template, dict.fromkeys(HIT_FIELDS, ""))


def hit_values(hit: Hit, *, root: str, folder: str) -> dict[str, str]:
    """Give what a template may show of a hit; what the hit does not have is empty."""
    evidence = hit.evidence
    flat = row_values(hit)
    del flat["evidence"]
    return flat | {
        "path": shown_path(root, hit.path, folder),
        "line": str(place(hit)[1]),
        "breadcrumb": breadcrumb(hit),
        "section_id": evidence.section_id if evidence is not None else "",
        "heading": evidence.heading if evidence is not None else "",
        "anchor": evidence.anchor if evidence is not None else "",
        "end_line": str(evidence.end_line) if evidence is not None else "",
        "excerpt": (evidence.excerpt or "") if evidence is not None else "",
    }


def row_values(row: Record) -> dict[str, str]:
    """Give every field of a flat row as text."""
    return {field: _text(getattr(row, field)) for field in type(row).fields}


def _text(value: object) -> str:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
