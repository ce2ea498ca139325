"""What documents for other readers hold to be run: their fenced blocks, by language."""

from __future__ import annotations

import re
from pathlib import Path


def blocks(document: Path, language: str) -> list[str]:
    """The text of every fenced block of that language, in order."""
    text = document.read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
