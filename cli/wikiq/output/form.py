"""Which forms of output exclude each other."""

from __future__ import annotations

from wikiq.errors import UsageError


def check_form(*, json: bool, ndjson: bool, template: str | None, vimgrep: bool = False) -> None:
    """Refuse more than one form of output."""
    forms = (
        ("--json", json),
        ("--ndjson", ndjson),
        ("--format", template is not None),
        ("--vimgrep", vimgrep),
    )
    chosen = [name for name, given in forms if given]
    if len(chosen) > 1:
        raise UsageError(" ".join(chosen), "cannot be combined", "give one of them")
