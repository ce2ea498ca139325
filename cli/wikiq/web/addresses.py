"""The addresses of the viewer, made in one place; pure. Every part that was written by somebody is quoted."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote, urlencode

from wikiq.model.results import Hit, place

Fields = Iterable[tuple[str, str]]


def home(fields: Fields = ()) -> str:
    """The list of hits for these fields; of the newest pages without any."""
    query = urlencode([(name, value) for name, value in fields if value])
    return f"/?{query}" if query else "/"


def page(name: str, query: str = "", anchor: str = "") -> str:
    """A page by its slug, or a place in one, PATH:LINE; with the words to mark, and the section to bar."""
    asked = f"?{urlencode({'q': query})}" if query.strip() else ""
    return f"/p/{quote(name)}{asked}{f'#{quote(anchor)}' if anchor else ''}"


def hit(found: Hit, query: str) -> str:
    """What a hit leads to."""
    return page(found.slug, query, found.evidence.anchor if found.evidence is not None else "")


def place_of(found: Hit) -> str:
    """PATH:LINE, as every face prints it."""
    path, line = place(found)
    return f"{path}:{line}"


def topic(name: str) -> str:
    """A topic with its pages."""
    return f"/topics/{quote(name)}"


def file(path: str) -> str:
    """The pages that mention a file."""
    return f"/file/{quote(path)}"


def raw(path: str) -> str:
    """The source of a page."""
    return f"/raw/{quote(path)}"


def picture(path: str) -> str:
    """A picture of the wiki."""
    return f"/files/{quote(path)}"
