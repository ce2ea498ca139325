"""Which page a number means: a hit of the last search on this terminal, unless a page has that name."""

from __future__ import annotations

from wikiq.errors import UnknownPageError
from wikiq.query.names import find_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wikiq.index.database import Snapshot
    from wikiq.model.request import Source
    from wikiq.output.context import Surroundings

DIGITS = 4  # of a number of a hit; no search has more


def meant_hit(source: Source, name: str, surroundings: Surroundings) -> tuple[Source, str | None]:
    """Give the index to ask, and the page that the number means in it: "" where the search had no such hit.

    None where `name` is no number of a hit. An index that was named goes first: what is asked for is not
    on the screen.
    """
    is_number = name.isascii() and name.isdecimal() and len(name) <= DIGITS and int(name) > 0
    if not is_number or source.db is not None or source.wiki is not None:
        return source, None
    from wikiq.shell.remembered import recall_hits

    hits = recall_hits(surroundings.environ)
    if not hits:
        return source, ""
    hit = hits[min(int(name), len(hits)) - 1]
    if int(name) > len(hits):
        return source.replace(db=hit.db, wiki=hit.wiki), ""
    return source.replace(db=hit.db, wiki=hit.wiki), hit.name


def named_page(snapshot: Snapshot, name: str, hit: str | None, *, folder: str) -> str:
    """Give the name to look up: `name` where a page has it, else the hit. Raises UnknownPageError."""
    if hit is None or find_page(snapshot, name, folder=folder) is not None:
        return name
    if not hit:
        problem = "there is no such page, and no hit of that number in the last search on this terminal"
        raise UnknownPageError(name, problem, "give a page, or search again")
    return hit
