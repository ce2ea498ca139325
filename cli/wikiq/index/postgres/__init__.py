"""A wiki in PostgreSQL, asked like a file; nothing of it is loaded before the address of one is seen."""

SCHEMES = ("postgresql://", "postgres://")


def is_address(text: str | None) -> bool:
    """Tell whether a text is the address of a PostgreSQL database rather than a file."""
    return text is not None and text.startswith(SCHEMES)
