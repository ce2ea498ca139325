"""Which forms of output exclude each other."""

from __future__ import annotations

from wikiq.errors import UsageError

TYPE_CHECKING = False


def check_form(*, json: bool, ndjson: bool, template: str | None) -> None:
    """Refuse more than one form of output."""
    chosen = [
        name
        for name, given in (("--json", json), ("--ndjson", ndjson), ("--format", template is not None))
        if given
    ]
    if len(chosen) > 1:
        raise UsageError(" ".join(chosen), "cannot be combined", "give one of them")
