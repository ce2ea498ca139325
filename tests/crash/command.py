"""What the commands here have in common: options, a seed that repeats the run, a folder, one last line.

The last line is JSON with the counts, after what was found wrong; the exit status is 1 on any fault.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.crash.process import UnequalError

SHOWN: Final = 20  # faults; one is too many already


class Command:
    """One command. `numbers`: its options with their defaults, each a whole number or one with a point."""

    def __init__(self, name: str, doc: str | None, **numbers: float) -> None:
        self.name = name
        self.parser = argparse.ArgumentParser(prog=f"python -m tests.crash.{name}", description=doc)
        for option, default in numbers.items():
            flag = f"--{option.replace('_', '-')}"
            self.parser.add_argument(flag, type=type(default), default=default)
        some = random.SystemRandom().randrange(1_000_000)
        self.parser.add_argument("--seed", type=int, default=some, help="repeats a run; by chance")
        self.parser.add_argument("--folder", type=Path, help="where to work; a temporary folder by default")

    def parse(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        """The options."""
        return self.parser.parse_args(arguments)

    @contextmanager
    def working(self, options: argparse.Namespace) -> Iterator[Path]:
        """The folder to work in, after telling how to repeat and how to end the run."""
        print(f"seed {options.seed}, pid {os.getpid()}", flush=True)
        with tempfile.TemporaryDirectory(prefix=f"{self.name}-") as temporary:
            yield options.folder or Path(temporary)

    def play(self, options: argparse.Namespace, run: Callable[[Path], Mapping[str, Any]]) -> int:
        """Runs it in the folder to work in; `run` gives the counts, `faults` among them."""
        with self.working(options) as folder:
            try:
                counts = {**run(folder)}
            except UnequalError as error:
                counts = {"faults": [str(error)]}
        return self.conclude(options, **counts)

    def conclude(self, options: argparse.Namespace, faults: Sequence[str], **counts: object) -> int:
        """Prints what was found; the exit status."""
        for fault in faults[:SHOWN]:
            print(f"FAULT {fault}")
        told = {"command": self.name, **counts, "seed": options.seed, "faults": len(faults)}
        print(json.dumps(told), flush=True)
        return 1 if faults else 0
