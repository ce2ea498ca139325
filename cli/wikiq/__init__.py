"""The reader: a typed library over an index that `indexerd` keeps, with a command on top.

What questions are made of and what answers hold can be imported from here; services stand in the
modules that docs/library.md names. Nothing writes, and nothing but the standard library is needed.
"""

from __future__ import annotations

# A part is imported when it is asked for: the command's start pays for what it uses (docs/decisions).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.errors import WikiqError
    from wikiq.index.database import Database, open_database
    from wikiq.index.locate import open_index
    from wikiq.model.request import Filters, SearchRequest
    from wikiq.model.results import Evidence, Hit, PageView, SearchResult

_PLACES = {
    "Database": "index.database",
    "Evidence": "model.results",
    "Filters": "model.request",
    "Hit": "model.results",
    "PageView": "model.results",
    "SearchRequest": "model.request",
    "SearchResult": "model.results",
    "WikiqError": "errors",
    "open_database": "index.database",
    "open_index": "index.locate",
}

__all__ = [
    "Database",
    "Evidence",
    "Filters",
    "Hit",
    "PageView",
    "SearchRequest",
    "SearchResult",
    "WikiqError",
    "open_database",
    "open_index",
]


def __getattr__(name: str) -> object:
    """Import what is asked for from the module it stands in."""
    if name not in _PLACES:
        raise AttributeError(f"module 'wikiq' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"wikiq.{_PLACES[name]}"), name)
