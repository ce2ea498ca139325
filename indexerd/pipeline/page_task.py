"""Reads one page, hashes it, and projects it where its bytes are new.

A page that cannot be projected never stops the others and is not left half-done: it stays listed,
without a body, with the reason. What was known of it and what is written are not decided here.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import Final

from indexerd.core.model import Diagnostic, ProjectionOptions
from indexerd.core.project import ProjectionError, oversized_page, project_page
from indexerd.core.sync.plan import Outcome, Projected, Unchanged, Unread
from indexerd.core.sync.reconcile import READ_FAILED, ToRead, is_racy
from indexerd.tree.tree import Content, Oversized, Tree

PARSER_FAILED = "parser_failed"

# Containers in containers cost .5 ms a byte: such a page is projected where it can be ended.
_NESTED: Final = re.compile(rb"^(?:[ \t]*(?:[>*+-]|[0-9]{1,9}[.)])){12}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Expensive:
    """A page that may take more than a second; nothing was done about it."""


def look_at(
    wanted: ToRead, tree: Tree, options: ProjectionOptions, *, limited: bool = False
) -> Outcome | Expensive:
    """Read the page and project it unless its bytes are those already known.

    `limited`: this process may use so much time and memory and no more, so that no page is Expensive and
    one for which memory does not suffice is given up.
    """
    reading = tree.read(wanted.path)
    if isinstance(reading, Oversized):
        page = oversized_page(wanted.path, reading.stamp.size)
        return Projected(page, reading.stamp, racy=False)  # its bytes are not known: nothing to hash again
    if not isinstance(reading, Content):
        return reading
    if wanted.known_hash == hashlib.sha256(reading.data).hexdigest():
        return Unchanged(wanted.path, reading.stamp, is_racy(reading.stamp, wanted.now_ns))
    if not limited and _NESTED.search(reading.data):
        return Expensive()
    return _project(reading, wanted, options, limited=limited)


def _project(
    content: Content, wanted: ToRead, options: ProjectionOptions, *, limited: bool
) -> Projected | Unread:
    path, racy = wanted.path, is_racy(content.stamp, wanted.now_ns)
    fallbacks: list[str] = []
    try:
        page = project_page(content.data, path, options, fallbacks.append)
    except ProjectionError as error:
        return _failed(content, path, error.diagnostic, racy=racy)
    except MemoryError:  # no fault of the bytes: under their hash it would not be tried again
        if limited:
            return _given_up(content, path, "it needs too much memory")
        message = "cannot be projected (there is not enough memory); it is tried again"
        return Unread(path, Diagnostic(READ_FAILED, message))
    except Exception as error:  # noqa: BLE001 - whatever a parser makes of one page, the others go on
        return _failed(content, path, _failure(f"{type(error).__name__}: {error}"), racy=racy)
    return Projected(page, content.stamp, racy, fallbacks[0] if fallbacks else None)


def give_up(path: str, tree: Tree, reason: str) -> Outcome:
    """The outcome of a page whose projection had to be killed."""
    reading = tree.read(path)
    if isinstance(reading, Oversized):
        return Projected(oversized_page(path, reading.stamp.size), reading.stamp, racy=False)
    return _given_up(reading, path, reason) if isinstance(reading, Content) else reading


def is_given_up(outcome: Outcome) -> bool:
    """Whether the page went over its budget of time or memory, which another time may suffice."""
    if not isinstance(outcome, Projected) or outcome.page.content_hash is not None:
        return False
    return any(found.kind == PARSER_FAILED for found in outcome.page.diagnostics)


def _given_up(content: Content, path: str, reason: str) -> Projected:
    """Without the hash of its bytes, so that they count as not read yet."""
    message = f"the page cannot be parsed ({reason}); it is tried again later and at the next start"
    page = replace(oversized_page(path, len(content.data)), diagnostics=(Diagnostic(PARSER_FAILED, message),))
    return Projected(page, content.stamp, racy=True)


def without_text(outcome: Projected, reason: str) -> Projected:
    """The page as one that was given up, under its stamp and hash."""
    page = replace(
        oversized_page(outcome.path, outcome.page.size),
        content_hash=outcome.page.content_hash,
        diagnostics=(_failure(reason),),
    )
    return replace(outcome, page=page)


def _failed(content: Content, path: str, diagnostic: Diagnostic, *, racy: bool) -> Projected:
    """Under the stamp and hash of its bytes, so that it is tried again when it changes, not before."""
    page = replace(
        oversized_page(path, len(content.data)),
        content_hash=hashlib.sha256(content.data).hexdigest(),
        diagnostics=(diagnostic,),
    )
    return Projected(page, content.stamp, racy)


def _failure(reason: str) -> Diagnostic:
    message = f"the page cannot be parsed ({reason}); it is listed without text until it changes"
    return Diagnostic(PARSER_FAILED, message)
