"""The log: one event a fact, named `noun.past_tense`; JSON lines for machines, columns for people.

Everything goes to stderr. File names are other people's text: what could steer a terminal or break
a line is escaped here, once, for every event.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, Final, TextIO

import structlog

from indexerd.core.page.names import escape_name

# What a line for the journal starts with (sd-daemon(3)).
PRIORITIES: Final = {"debug": "<7>", "info": "<6>", "warning": "<4>", "error": "<3>", "critical": "<2>"}


def configure_logs(stream: TextIO | None = None, *, quiet: bool = False) -> None:
    """Set up structlog for this process: readable on a terminal, JSON lines elsewhere.

    `quiet` keeps warnings and errors only: a command with a progress bar says the rest itself.
    """
    out = sys.stderr if stream is None else stream
    if out.isatty():
        renderer: Any = structlog.dev.ConsoleRenderer(
            exception_formatter=structlog.dev.plain_traceback, pad_event_to=24
        )
    else:
        renderer = structlog.processors.JSONRenderer()
    if is_journal(out, os.environ):
        renderer = with_priority(renderer)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            escape_values,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger("warning" if quiet else "info"),
        # Whatever stderr is when something is logged: it may be another stream by then.
        logger_factory=lambda *_: _ForgivingLogger(sys.stderr if stream is None else stream),
        cache_logger_on_first_use=False,
    )


class _ForgivingLogger(structlog.WriteLogger):
    """A log on a full disk, or one that nobody reads any more, must not end a daemon."""

    def msg(self, message: str) -> None:
        with contextlib.suppress(OSError):
            super().msg(message)

    debug = info = warning = error = critical = exception = log = msg


def is_journal(out: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether what is written to `out` goes to systemd's journal (systemd.exec(5), JOURNAL_STREAM)."""
    try:
        facts = os.fstat(out.fileno())
    except OSError:
        return False
    return environ.get("JOURNAL_STREAM") == f"{facts.st_dev}:{facts.st_ino}"


def with_priority(renderer: Any) -> Any:
    """The same line with the event's priority before it, which the journal takes off again."""

    def render(logger: object, method: str, event: MutableMapping[str, Any]) -> str:
        priority = PRIORITIES.get(event.get("level", method), PRIORITIES["info"])
        return f"{priority}{renderer(logger, method, event)}"

    return render


def get_logger() -> Any:
    """A logger that follows `configure_logs`, whenever that is called."""
    return structlog.get_logger()


def escape_values(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape every string but a traceback, which is this program's own text in lines."""
    for key, value in event.items():
        if isinstance(value, str) and key != "exception":
            event[key] = escape_name(value)
    return event
