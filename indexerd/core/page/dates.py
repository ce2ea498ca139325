"""When a page was last changed, by its own word: the dates of front matter in the forms people write.

A date that cannot be read is no date; nothing is guessed, and no clock is asked (spec 1.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Final

from indexerd.contract.moments import moment_text, parse_time
from indexerd.core.page.yaml_subset import Node, Scalar, text_of

MOMENT_FIELDS: Final = (
    "updated", "last_modified_at", "lastmod", "modified", "ms.date", "date", "created",
)  # fmt: skip
_PARTS: Final = ("updated", "created")  # of a date that is a mapping (mkdocs)

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS: Final = range(9, 12)  # digits: 1973 to 5138
_MILLISECONDS: Final = range(12, 15)
_DIGITS: Final = re.compile(r"\d{8,14}", re.ASCII)
# `2021/08/20`, `2024-1-5`, each with a time or none; ISO 8601 proper is read before.
_LOOSE: Final = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})"
    r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?[ ]*(Z|[+-]\d{2}:?\d{2})?",
    re.ASCII,
)
_MONTH_FIRST: Final = re.compile(
    r"(\d{1,2})/(\d{1,2})/(\d{4})", re.ASCII
)  # `ms.date` alone: 3/4 is no secret there
# RFC 2822 (3.3), and the same without a time.
_MAIL: Final = re.compile(
    r"(?:[A-Za-z]{3},?[ ]+)?(\d{1,2})[ ]+([A-Za-z]{3})[a-z]*[ ]+(\d{4})"
    r"(?:[ ]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?[ ]*([A-Z]{1,4}|[+-]\d{4})?",
    re.ASCII,
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# RFC 2822 (4.3): the zones that have a name; another one means UTC.
_ZONES: Final = {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8}


def parse_moment(node: Node | None, *, is_month_first: bool = False) -> str | None:
    """A date or time as ISO 8601 UTC with milliseconds, None where the node is none.

    A time without a zone is taken as UTC: the same bytes mean the same on every machine.
    `is_month_first`: 12/31/2024 is a date too.
    """
    while isinstance(node, list) and len(node) == 1:  # `[[2024-12-31]]`, a link to a daily note
        node = node[0]
    if not isinstance(node, Scalar):
        return None
    try:
        moment = _moment(node, is_month_first=is_month_first)
        if moment is None:
            return None
        return moment_text(moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment)
    except (ValueError, OverflowError):  # 2024-02-30; the year 1 or 9999, moved across its edge by the zone
        return None


def updated_by(fields: Mapping[str, Node]) -> str | None:
    """The first date that can be read, of the fields that hold one, keys folded."""
    return next(filter(None, (moment for _, moment in _moments(fields))), None)


def unread_moments(fields: Mapping[str, Node]) -> Iterator[str]:
    """The fields that hold something that is no date."""
    return (field for field, moment in _moments(fields) if moment is None)


def _moments(fields: Mapping[str, Node]) -> Iterator[tuple[str, str | None]]:
    for field in MOMENT_FIELDS:
        node = fields.get(field)
        if isinstance(node, dict):
            known = {key.casefold(): value for key, value in node.items()}
            parts = [parse_moment(known.get(part)) for part in _PARTS]
            yield field, next(filter(None, parts), None)
        elif isinstance(node, list) or text_of(node):
            yield field, parse_moment(node, is_month_first=field == "ms.date")


def _moment(node: Scalar, *, is_month_first: bool) -> datetime | None:
    value = node.value
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time(), UTC)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = node.text.strip().removeprefix("[[").removesuffix("]]").strip()
    if _DIGITS.fullmatch(text):
        return _of_digits(text)
    try:
        return parse_time(text)
    except ValueError:
        pass
    if match := _LOOSE.fullmatch(text):
        year, _, number, day, *clock, zone = match.groups()
        return _at(int(year), int(number), int(day), clock, zone)
    if is_month_first and (match := _MONTH_FIRST.fullmatch(text)):
        return datetime(int(match[3]), int(match[1]), int(match[2]), tzinfo=UTC)
    if match := _MAIL.fullmatch(text):
        day, name, year, *clock, zone = match.groups()
        if name.lower() in _MONTHS:
            month = 1 + _MONTHS.index(name.lower())
            return _at(int(year), month, int(day), clock, zone)
    return None


def _of_digits(text: str) -> datetime | None:
    """YYYYMMDD, or seconds or milliseconds since 1970."""
    if len(text) in _SECONDS:
        return _EPOCH + timedelta(seconds=int(text))
    if len(text) in _MILLISECONDS:
        return _EPOCH + timedelta(milliseconds=int(text))
    return datetime(int(text[:4]), int(text[4:6]), int(text[6:]), tzinfo=UTC)


def _at(year: int, month: int, day: int, clock: Sequence[str | None], zone: str | None) -> datetime:
    hour, minute, second = (int(part or 0) for part in clock)
    return datetime(year, month, day, hour, minute, second, tzinfo=_zone(zone))


def _zone(text: str | None) -> timezone:
    if not text or text[0] not in "+-":
        return timezone(timedelta(hours=_ZONES.get(text or "", 0)))
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)
