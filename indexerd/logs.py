"""The log: one event a fact, named `noun.past_tense`; JSON lines for machines, columns for people.

Everything goes to stderr. File names are other people's text: what could steer a terminal or break
a line is escaped here, once, for every event.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from indexerd.core.names import escape_name


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
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            escape_values,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger("warning" if quiet else "info"),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )


def get_logger() -> Any:
    """A logger that follows `configure_logs`, whenever that is called."""
    return structlog.get_logger()


def escape_values(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape every string but a traceback, which is this program's own text in lines."""
    for key, value in event.items():
        if isinstance(value, str) and key != "exception":
            event[key] = escape_name(value)
    return event
