"""What is asked for: the words of a search and the filters that searches and listings share.

Records only. Names of pages and topics stand here as typed; `filters.checked_filters` looks them up.
"""

from __future__ import annotations

from indexerd.contract.record import Record

DEFAULT_LIMIT = 20  # hits; about two screens
DEFAULT_TIMEOUT_S = 5.0  # of the wait for a fresh index
DEFAULT_MAX_AGE_S = 60.0  # of the last commit in a copy that is not called stale
LONGEST_TIMEOUT_S = 3_600.0  # of that wait; the daemon itself waits no longer
LARGEST_LIMIT = 1000  # hits; each is looked at on the disk, and nobody reads more
LARGEST_INTEGER = 2**63 - 1  # that SQLite binds


def bindable(text: str) -> str:
    """Make typed text fit for SQLite: bytes that were not UTF-8 arrive as surrogates, which it refuses."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


class Source(Record):
    """The index to ask, and whether it must first hold what is on the disk; `timeout` in seconds.

    `copy`: it is a copy, whatever lies beside it. A copy is stale when its last commit is older than
    `max_age` seconds.
    """

    db: str | None = None
    wiki: str | None = None
    fresh: bool = False
    timeout: float = DEFAULT_TIMEOUT_S
    copy: bool = False
    max_age: float = DEFAULT_MAX_AGE_S


class Filters(Record):
    """Conditions on pages; all of them must hold.

    `topics`: carried by the page itself; `under`: carried, or one below it; `not_topics`: neither
    carried. `mentions`: files or folders (with a slash at the end) outside the wiki. `paths`: glob
    patterns or folders, of which one must fit. `since` (inclusive) and `until` (exclusive): ISO 8601
    UTC with milliseconds. `links_to`, `linked_by`: pages.
    """

    topics: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    not_topics: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    links_to: tuple[str, ...] = ()
    linked_by: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Tell whether every page passes."""
        return self == NO_FILTERS


NO_FILTERS = Filters()


class SearchRequest(Record):
    """One question. `query` is what was typed, words joined by blanks; a blank one lists pages.

    `without`: words and phrases whose sections are left out. `sections`: one hit a section instead of a
    page. `exact`: words match exactly and phrases must hold. `prefix`: the last word may be the beginning
    of one (as-you-type). `explain`: tell what the scores are made of. `copies`: one hit for each copy of
    a section instead of one for all.
    """

    query: str
    filters: Filters = NO_FILTERS
    limit: int = DEFAULT_LIMIT
    sections: bool = False
    exact: bool = False
    prefix: bool = False
    explain: bool = False
    without: tuple[str, ...] = ()
    copies: bool = False

    def __post_init__(self) -> None:
        """Hold the limit of hits."""
        if not 1 <= self.limit <= LARGEST_LIMIT:
            raise ValueError(f"limit {self.limit}")
