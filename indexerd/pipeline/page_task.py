"""From a page's path to what is to be known of it: read, hashed, and projected where that is due.

A page that cannot be projected never stops the others and is not left half-done: it stays listed,
without a body, with the reason. What was known of it and what is written are not decided here.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from indexerd.core.model import Diagnostic, ProjectionOptions
from indexerd.core.project import ProjectionError, oversized_page, project_page
from indexerd.core.sync.plan import Outcome, Projected, Unchanged, Unread
from indexerd.core.sync.reconcile import READ_FAILED, ToRead, is_racy
from indexerd.tree.tree import Content, Oversized, Tree

PARSER_FAILED = "parser_failed"


def look_at(wanted: ToRead, tree: Tree, options: ProjectionOptions) -> Outcome:
    """Read the page and project it unless its bytes are those already known."""
    reading = tree.read(wanted.path)
    if isinstance(reading, Oversized):
        page = oversized_page(wanted.path, reading.stamp.size)
        return Projected(page, reading.stamp, racy=False)  # its bytes are not known: nothing to hash again
    if not isinstance(reading, Content):
        return reading
    if wanted.known_hash == hashlib.sha256(reading.data).hexdigest():
        return Unchanged(wanted.path, reading.stamp, is_racy(reading.stamp, reading.read_ns))
    return _project(reading, wanted.path, options)


def _project(content: Content, path: str, options: ProjectionOptions) -> Projected | Unread:
    racy = is_racy(content.stamp, content.read_ns)
    try:
        page = project_page(content.data, path, options)
    except ProjectionError as error:
        return _failed(content, path, error.diagnostic)
    except MemoryError:  # no fault of the bytes: under their hash it would not be tried again
        message = "cannot be projected (there is not enough memory); it is tried again"
        return Unread(path, Diagnostic(READ_FAILED, message))
    except Exception as error:  # noqa: BLE001 - whatever a parser makes of one page, the others go on
        return _failed(content, path, _failure(f"{type(error).__name__}: {error}"))
    return Projected(page, content.stamp, racy)


def give_up(path: str, tree: Tree, reason: str) -> Outcome:
    """What becomes of a page whose projection had to be ended from outside."""
    reading = tree.read(path)
    if isinstance(reading, Oversized):
        return Projected(oversized_page(path, reading.stamp.size), reading.stamp, racy=False)
    return _failed(reading, path, _failure(reason)) if isinstance(reading, Content) else reading


def without_text(outcome: Projected, reason: str) -> Projected:
    """The page as one that was given up, under its stamp and hash."""
    page = replace(
        oversized_page(outcome.path, outcome.page.size),
        content_hash=outcome.page.content_hash,
        diagnostics=(_failure(reason),),
    )
    return replace(outcome, page=page)


def _failed(content: Content, path: str, diagnostic: Diagnostic) -> Projected:
    """Under the stamp and hash of its bytes, so that it is tried again when it changes, not before."""
    page = replace(
        oversized_page(path, len(content.data)),
        content_hash=hashlib.sha256(content.data).hexdigest(),
        diagnostics=(diagnostic,),
    )
    return Projected(page, content.stamp, is_racy(content.stamp, content.read_ns))


def _failure(reason: str) -> Diagnostic:
    message = f"the page cannot be parsed ({reason}); it is listed without text until it changes"
    return Diagnostic(PARSER_FAILED, message)
