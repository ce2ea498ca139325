"""Other programs that search the same files, as whole processes, where they are installed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from tests.benchmarks.ratio import CannotMeasureError, Ratio, alternate, clocked
from tests.benchmarks.reader import PROCESS_ROUNDS, QUERY, run
from tests.benchmarks.setting import Setting
from tests.benchmarks.writer import ensure_built

RIPGREP: Final = ("rg", "--ignore-case", "--files-with-matches", "|".join(QUERY))


def search_peers(setting: Setting) -> Iterator[Ratio]:
    """`wikiq search` against what ripgrep, and recoll where it has its index, take for the same words."""
    commands = [[*RIPGREP, str(setting.root)]] if shutil.which("rg") else []
    if shutil.which("recollindex") and shutil.which("recollq"):
        commands.append(_recoll(setting))
    if not commands:
        raise CannotMeasureError("neither ripgrep nor recoll is installed")
    wikiq = str(Path(sys.executable).with_name("wikiq"))
    ours = [wikiq, "search", "--db", str(ensure_built(setting)), *QUERY]
    for command in commands:
        sides = alternate(
            partial(clocked, partial(run, ours)),
            partial(clocked, partial(run, command)),
            setting.at_least(PROCESS_ROUNDS),
        )
        yield Ratio.by_wall(f"wikiq search / {Path(command[0]).name}", setting.corpus, sides)


def _recoll(setting: Setting) -> list[str]:
    """The question for recoll, once it has an index of the wiki."""
    folder = setting.work / "recoll"
    folder.mkdir(exist_ok=True)
    (folder / "recoll.conf").write_text(f"topdirs = {setting.root}\nskippedNames =\n")
    run(["recollindex", "-c", str(folder)])
    return ["recollq", "-c", str(folder), "-n", "20", *QUERY]
