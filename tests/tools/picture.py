"""The pictures of a terminal in README: runs commands on a real one and draws what is on it as SVG.

`python -m tests.tools.picture` writes docs/pictures/terminal-light.svg and terminal-dark.svg anew; a
test compares their words with what the commands print now.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.imports import REPOSITORY
from tests.terminal import run_coloured

COMMANDS: Final = ("wikiq restore a single table", "wikiq search --topic database when is it copied")
NOTES: Final = REPOSITORY / "tests" / "readme" / "notes"
PICTURES: Final = REPOSITORY / "docs" / "pictures"
WINDOW: Final = (24, 88)  # rows, columns
PATIENCE_S: Final = 30.0

CELL, LINE, MARGIN, SIZE = 8.4, 20, 18, 14  # pixels; a cell is as wide as a character of SIZE
FONT: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SGR: Final = re.compile(r"\x1b\[([0-9;]*)m")
# The SGR parameters that `wikiq` uses, as fill and weight.
THEMES: Final[Mapping[str, Mapping[str, str]]] = {
    "light": {
        "ground": "#ffffff", "frame": "#d0d7de", "": "#1f2328", "1": "#1f2328", "2": "#656d76",
        "36": "#0550ae", "1;33": "#953800", "prompt": "#116329",
    },
    "dark": {
        "ground": "#0d1117", "frame": "#30363d", "": "#e6edf3", "1": "#ffffff", "2": "#8b949e",
        "36": "#79c0ff", "1;33": "#ffa657", "prompt": "#7ee787",
    },
}  # fmt: skip

Piece = tuple[str, str]  # SGR parameters and text


def session() -> list[str]:
    """The lines of a terminal on which COMMANDS were typed, with their escape sequences."""
    with TemporaryDirectory(prefix="picture-") as folder:
        home = Path(folder)
        wiki = home / "notes"
        shutil.copytree(NOTES, wiki)
        environment = {
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        daemon = subprocess.Popen(["indexerd", "run", "--quiet", str(wiki)], env=environment)
        try:
            give_up_at = time.monotonic() + PATIENCE_S
            while run_coloured("wikiq sync", wiki, environment, WINDOW)[0]:
                if time.monotonic() > give_up_at:
                    raise TimeoutError("the daemon does not answer")
            lines: list[str] = []
            for command in COMMANDS:
                _, shown = run_coloured(command, wiki, environment, WINDOW)
                lines += [f"$ {command}", *shown.rstrip("\n").split("\n"), ""]
            return lines[:-1]
        finally:
            daemon.terminate()
            daemon.wait()


def pieces(line: str) -> Iterator[Piece]:
    """A line in one style after the other."""
    style = ""
    for nth, part in enumerate(SGR.split(line)):
        if nth % 2:
            style = "" if part == "0" else part
        elif part:
            yield style, part


def drawn(lines: list[str], theme: Mapping[str, str]) -> str:
    """The SVG of a terminal with these lines."""
    width = MARGIN * 2 + round(WINDOW[1] * CELL)
    height = MARGIN * 2 + LINE * len(lines)
    rows = "\n".join(_row(line, nth, theme) for nth, line in enumerate(lines) if line)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="A terminal in which wikiq answers two questions" '
        f'font-family="{FONT}" font-size="{SIZE}" xml:space="preserve">\n'
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="{theme["ground"]}" '
        f'stroke="{theme["frame"]}"/>\n{rows}\n</svg>\n'
    )


def _row(line: str, nth: int, theme: Mapping[str, str]) -> str:
    y = MARGIN + LINE * nth + SIZE
    parts = [("prompt", "$ "), ("1", line[2:])] if line.startswith("$ ") else list(pieces(line))
    at, spans = 0, []
    for style, text in parts:
        weight = ' font-weight="600"' if style.startswith("1") else ""
        place = f'x="{MARGIN + at * CELL:.1f}" textLength="{len(text) * CELL:.1f}"'
        shown = escape(text, quote=False).replace(" ", "\N{NO-BREAK SPACE}")  # others collapse at an edge
        spans.append(f'<tspan {place} fill="{theme[style]}"{weight}>{shown}</tspan>')
        at += len(text)
    return f'<text y="{y}">{"".join(spans)}</text>'


def main() -> None:
    """Write both pictures."""
    lines = session()
    for name, theme in THEMES.items():
        (PICTURES / f"terminal-{name}.svg").write_text(drawn(lines, theme), "utf-8")


if __name__ == "__main__":
    main()
