"""What a command knows of the process it runs in; built once, in `main`, and passed on."""

from __future__ import annotations

from indexerd.contract.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wikiq.output.terminal import Screen


COMPLETION_VARIABLE = "_WIKIQ_COMPLETE"  # set by the script of a shell when it wants candidates


class Surroundings(Record):
    """`folder` is the current one, without links; `out` takes the answer, `err` what is beside it."""

    environ: Mapping[str, str]
    folder: str
    out: Screen
    err: Screen

    def note(self, text: str) -> None:
        """Say something beside the answer, in one line."""
        self.err.line(f"wikiq: {text}")
