"""Says a statement of `wikiq.index.sql` in PostgreSQL's dialect: placeholders, and what is spelled otherwise.

Most statements are standard SQL over the public views and need no more; those that are not stand in
`statements` a second time.
"""

from __future__ import annotations

import re

from wikiq.index.postgres.statements import IN_POSTGRES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Values = Sequence[Any] | Mapping[str, Any]

REPLACEMENT = "\ufffd"  # for NUL, which PostgreSQL has in no text

_SPELLED = (
    (re.compile(r"\binstr\("), "strpos("),
    (re.compile(r"\bchar\("), "chr("),
    (re.compile(r"\bNOT LIKE\b"), "NOT ILIKE"),  # SQLite's LIKE knows no case
    (re.compile(r"\bIN \(\)"), "IN (NULL)"),
    # No limit is -1 to SQLite and NULL to PostgreSQL.
    (re.compile(r"\bLIMIT (\?\d*)"), r"LIMIT nullif(\1, -1)"),
    (re.compile(r"([\w.]+) GLOB \?"), r"\1 ~ ?"),
)
_NOTHING = "^(?=a)b"  # fits no text
_HELD = re.compile(r"\?(\d*)|(?<![:\w]):([a-z_]+)")


def in_postgres(statement: str, values: Values) -> tuple[str, Values]:
    """Give a statement and its values as psycopg takes them."""
    known = IN_POSTGRES.get(statement, statement)
    globs = _globs(known)
    for pattern, spelled in _SPELLED:
        known = pattern.sub(spelled, known)
    known = known.replace("%", "%%")
    is_numbered = False

    def placeholder(found: re.Match[str]) -> str:
        nonlocal is_numbered
        number, name = found[1], found[2]
        if number:
            is_numbered = True
            return f"%(v{number})s"
        return "%s" if name is None else f"%({name})s"

    text = _HELD.sub(placeholder, known)
    if isinstance(values, dict):
        return text, {name: _bound(value) for name, value in values.items()}
    bound = [glob_pattern(value) if place in globs else _bound(value) for place, value in enumerate(values)]
    return (text, {f"v{n}": value for n, value in enumerate(bound, 1)}) if is_numbered else (text, bound)


def glob_pattern(glob: str) -> str:
    """Write SQLite's GLOB as a regular expression of PostgreSQL; a set that is not closed fits nothing."""
    text, at = "", 0
    while at < len(glob):
        sign = glob[at]
        at += 1
        if sign == "[":
            end = glob.find("]", at + 1 + (glob[at : at + 1] == "^"))
            if end < 0:
                return _NOTHING
            text += _set(glob[at:end])
            at = end + 1
        else:
            text += {"*": ".*", "?": "."}.get(sign) or _escaped(sign)
    return f"^{_bound(text)}$"


def _set(inside: str) -> str:
    """A set of characters: of a range that goes backwards only its first character is in it."""
    text, at = "", 0
    is_inverted = inside.startswith("^")
    inside = inside[is_inverted:]
    while at < len(inside):
        first, last = inside[at], inside[at + 2 : at + 3]
        is_range = inside[at + 1 : at + 2] == "-" and last
        text += _escaped(first) + (f"-{_escaped(last)}" if is_range and first <= last else "")
        at += 3 if is_range else 1
    return f"[{'^' if is_inverted else ''}{text}]"


def _escaped(sign: str) -> str:
    return f"\\{sign}" if sign.isascii() and sign.isprintable() and not sign.isalnum() else sign


def _globs(statement: str) -> set[int]:
    """The places among the values of those that a GLOB compares with."""
    return {
        statement[: found.start()].count("?")
        for found in re.finditer(r"\?", statement)
        if statement[: found.start()].endswith("GLOB ")
    }


def _bound(value: Any) -> Any:
    return value.replace("\0", REPLACEMENT) if isinstance(value, str) else value
