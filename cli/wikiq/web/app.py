"""The routes of the viewer: a request to a question, its answer to HTML, JSON, a picture or a stream.

Whoever asks has passed the guard; what is asked is read by `parameters`, what is shown is made by the views.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TypeVar

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from wikiq.answers.pages import page
from wikiq.errors import (
    CancelledError,
    TooSlowError,
    UnknownPageError,
    UnknownSectionError,
    UnknownTopicError,
    UsageError,
    WikiqError,
)
from wikiq.index.database import Snapshot
from wikiq.web import documents
from wikiq.web.frame import ASSETS, STATIC, Frame, Shown, Templates, frame_of, lost_frame
from wikiq.web.guard import OPEN_PATH, PICTURE_POLICY
from wikiq.web.hit_lists import Answer, show_file, show_results, show_topic
from wikiq.web.live import MOST_STREAMS, Live
from wikiq.web.page_view import Elsewhere, show_page, show_section
from wikiq.web.questions import Questions
from wikiq.web.sources import Picture, read_picture
from wikiq.web.wiki_views import show_changes, show_check, show_error, show_status, show_topics

PART = "x-part"  # the header by which the script asks for the part of a page that changes
OpenEditor = Callable[[Snapshot, str], Callable[[], None]]
T = TypeVar("T")
View = Callable[[Snapshot, Request], Answer | Elsewhere]

_NOT_THERE = (UnknownPageError, UnknownSectionError, UnknownTopicError)
_GONE = 499  # as others number it: whoever asked has gone, and nobody reads the answer


def status_of(error: WikiqError) -> int:
    """Give the status of HTTP for what went wrong."""
    if isinstance(error, _NOT_THERE):
        return 404
    if isinstance(error, UsageError):
        return 400
    if isinstance(error, CancelledError):
        return _GONE
    return 504 if isinstance(error, TooSlowError) else 503


class Viewer:
    """One wiki in a browser. `wiki` is its name, for the pages that say that the index is gone."""

    def __init__(
        self,
        *,
        wiki: str,
        questions: Questions,
        live: Live,
        templates: Templates,
        open_editor: OpenEditor | None,
    ) -> None:
        self._wiki = wiki
        self._questions = questions
        self._live = live
        self._templates = templates
        self._open_editor = open_editor
        self._assets = {name: _asset(name, kind) for name, kind in ASSETS.items()}

    def app(self) -> Starlette:
        """Give the routes."""
        routes = [Route(path, self._page_endpoint(view)) for path, view in VIEWS.items()]
        for name, maker in documents.MAKERS.items():
            endpoint = self._document_endpoint(maker)
            routes.append(Route(f"/api/{name}", endpoint))
            if name in documents.NAMED:
                routes.append(Route(f"/api/{name}/{{name:path}}", endpoint))
        routes += [
            Route("/raw/{path:path}", self._raw),
            Route("/files/{path:path}", self._file),
            Route("/static/{name}", self._static),
            Route("/events", self._events),
            Route(OPEN_PATH, self._open, methods=["POST"]),
            Route("/{path:path}", self._unknown),
        ]
        return Starlette(routes=routes)

    def _page_endpoint(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            part = request.headers.get(PART)

            def question(snapshot: Snapshot) -> Callable[[], Response]:
                frame = frame_of(snapshot)
                try:
                    answer = view(snapshot, request)
                except (*_NOT_THERE, UsageError) as error:
                    found = error
                    return lambda: self._error(found, frame, request)
                if isinstance(answer, Elsewhere):
                    moved = RedirectResponse(answer.location, 303)
                    return lambda: moved
                return lambda: self._html(answer(), part)

            try:
                return await self._ask(request, question)
            except WikiqError as error:
                return self._error(error, lost_frame(self._wiki), request)

        return endpoint

    def _error(self, error: WikiqError, frame: Frame, request: Request) -> Response:
        query = request.query_params.get("q", "")
        return self._html(show_error(error, frame, status_of(error), query), request.headers.get(PART))

    def _html(self, shown: Shown, part: str | None) -> Response:
        headers = {"cache-control": "no-cache", "vary": PART}
        html = self._templates.render(shown, part=part)
        return Response(html, shown.status, headers, media_type="text/html")

    def _document_endpoint(self, maker: documents.Maker) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            name = request.path_params.get("name", "")
            pairs = request.query_params.multi_items()

            def question(snapshot: Snapshot) -> Callable[[], str]:
                document = maker(snapshot, name, pairs) + "\n"
                return lambda: document

            try:
                document = await self._ask(request, question)
            except WikiqError as error:
                return _json(documents.error_document(error), status_of(error))
            etag = documents.etag_of(document)
            if etag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers={"etag": etag})
            return _json(document, 200, {"etag": etag, "cache-control": "no-cache"})

        return endpoint

    async def _raw(self, request: Request) -> Response:
        path = request.path_params["path"]

        def question(snapshot: Snapshot) -> Callable[[], str]:
            view = page(snapshot, path)
            if view.path != path or view.section is not None:
                raise UnknownPageError(path, "there is no page at that path", f"see {view.path}")
            return lambda: view.source

        try:
            return Response(await self._ask(request, question), media_type="text/plain")
        except WikiqError as error:
            return _plain(error)

    async def _file(self, request: Request) -> Response:
        path = request.path_params["path"]

        def question(snapshot: Snapshot) -> Callable[[], Picture]:
            return partial(read_picture, snapshot.root, path)

        try:
            picture = await self._ask(request, question)
        except WikiqError as error:
            return _plain(error)
        headers = {"content-security-policy": PICTURE_POLICY, "cache-control": "no-cache"}
        return Response(picture.content, headers=headers, media_type=picture.media_type)

    async def _static(self, request: Request) -> Response:
        asset = self._assets.get(request.path_params["name"])
        return asset if asset is not None else Response("no such file\n", 404, media_type="text/plain")

    async def _events(self, _request: Request) -> Response:
        if self._live.is_full:
            text = f"{MOST_STREAMS} streams are open already; close some tabs\n"
            return Response(text, 503, media_type="text/plain")
        headers = {"cache-control": "no-store"}
        return StreamingResponse(self._live.follow(), headers=headers, media_type="text/event-stream")

    async def _open(self, request: Request) -> Response:
        """Open the editor at the place that the body names, PATH:LINE."""
        open_editor = self._open_editor
        if open_editor is None:
            return Response("start `wikiq serve` with --editor\n", 405, media_type="text/plain")
        name = (await request.body()).decode("utf-8", "replace")
        try:
            await self._ask(request, lambda snapshot: open_editor(snapshot, name))
        except WikiqError as error:
            return _plain(error)
        return Response(status_code=204)

    async def _unknown(self, request: Request) -> Response:
        error = UnknownPageError(request.url.path, "there is no such address", "go to / or search")
        if request.url.path.startswith("/api/"):
            return _json(documents.error_document(error), 404)
        question = lambda snapshot: partial(self._error, error, frame_of(snapshot), request)  # noqa: E731
        try:
            return await self._ask(request, question)
        except WikiqError:
            return self._error(error, lost_frame(self._wiki), request)

    async def _ask(self, request: Request, question: Callable[[Snapshot], Callable[[], T]]) -> T:
        """Answer a question, as long as whoever asked is there to read it."""
        answer = asyncio.ensure_future(self._questions.ask(question))
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise CancelledError("", "whoever asked has gone", "ask again")
            return answer.result()
        finally:
            for task in (answer, gone):
                task.cancel()
            with suppress(asyncio.CancelledError, WikiqError):
                await answer


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _asset(name: str, media_type: str) -> Response:
    with open(os.path.join(STATIC, name), "rb") as file:
        content = file.read()
    # Its address changes with it.
    headers = {"cache-control": "max-age=31536000, immutable", "content-type": media_type}
    return Response(content, headers=headers)


def _json(document: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return Response(document, status, dict(headers or {}), media_type="application/json")


def _plain(error: WikiqError) -> Response:
    return Response(f"{error}\n", status_of(error), media_type="text/plain")


def _query(request: Request) -> str:
    return request.query_params.get("q", "")


VIEWS: dict[str, View] = {
    "/": lambda snapshot, request: show_results(
        snapshot, request.query_params.multi_items(), datetime.now().astimezone()
    ),
    "/p/{name:path}": lambda snapshot, request: show_page(
        snapshot, request.path_params["name"], _query(request)
    ),
    "/section": lambda snapshot, request: show_section(
        snapshot, request.query_params.get("page", ""), _query(request)
    ),
    "/topics": lambda snapshot, _: show_topics(snapshot),
    "/topics/{name:path}": lambda snapshot, request: show_topic(snapshot, request.path_params["name"]),
    "/file/{path:path}": lambda snapshot, request: show_file(snapshot, request.path_params["path"]),
    "/check": lambda snapshot, _: show_check(snapshot),
    "/changes": lambda snapshot, _: show_changes(snapshot),
    "/status": lambda snapshot, _: show_status(snapshot),
}
