"""What `topics.yaml` at the root declares: read with a scan, parsed when its bytes are new.

A file that cannot be used counts as none, with a diagnostic, so that an index made from nothing says
the same. What becomes of the declarations is the store's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from indexerd.core.model import Diagnostic, TopicDeclaration
from indexerd.core.page.names import TOPICS_FILE
from indexerd.core.page.topics import ignored_topics, parse_topics
from indexerd.core.sync.plan import Unread
from indexerd.core.sync.reconcile import LINK_NOT_FOLLOWED, NOT_REGULAR
from indexerd.tree.tree import GOVERNING_FILE_BYTES, Content, Oversized, Tree

_NO_FILE: Final = frozenset({NOT_REGULAR, LINK_NOT_FOLLOWED})  # as good as gone


@dataclass(frozen=True, slots=True)
class Declared:
    """What the file says. `data`: its bytes, None when it could not be read and nothing is known."""

    data: bytes | None
    topics: tuple[TopicDeclaration, ...] = ()
    problem: Diagnostic | None = None


class Declarations:
    """Remembers what the file said last and what of it the index holds."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._last = Declared(None)
        self._applied: Declared | None = None

    def look(self) -> Declared:
        """What the file says now."""
        reading = self._tree.read_governing(TOPICS_FILE)
        if isinstance(reading, Unread):
            is_file = reading.diagnostic.kind not in _NO_FILE
            return Declared(None if is_file else b"", problem=reading.diagnostic)
        if isinstance(reading, Oversized):
            problem = f"it is larger than {GOVERNING_FILE_BYTES} bytes"
            return Declared(b"", problem=ignored_topics(None, problem))
        data = reading.data if isinstance(reading, Content) else b""
        if data != self._last.data:
            parsed = parse_topics(data.decode("utf-8-sig", "replace"))
            if isinstance(parsed, Diagnostic):
                self._last = Declared(data, problem=parsed)
            else:
                self._last = Declared(data, parsed)
        return self._last

    def are_new(self, declared: Declared) -> bool:
        """Whether the index must be told."""
        return declared.data is not None and declared != self._applied

    def note_applied(self, declared: Declared) -> None:
        """The index was told."""
        self._applied = declared
