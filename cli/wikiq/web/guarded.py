"""Puts the guard before the routes, and the headers of every answer behind them."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wikiq.web.guard import HEADERS, LARGEST_REQUEST, Entrance, Guard, Head

_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Guarded:
    """An application that only answers what `guard` lets through."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message.get("headers", [])
                names = {name for name, _ in given}
                message["headers"] = [*given, *(pair for pair in _HEADERS if pair[0] not in names)]
            await send(message)

        answer = self._judged(scope)
        await (answer or self._app)(scope, _bounded(receive), send_with_headers)

    def _judged(self, scope: Scope) -> Response | None:
        verdict = self._guard.judge(read_head(scope))
        if verdict is None:
            return None
        if isinstance(verdict, Entrance):
            return RedirectResponse(
                verdict.location, 303, {"set-cookie": verdict.cookie, "cache-control": "no-store"}
            )
        headers = {"allow": "GET, HEAD"} if verdict.status == 405 else {}
        text = f"{verdict.problem}; {verdict.remedy}\n"
        return Response(text, verdict.status, headers, media_type="text/plain")


def read_head(scope: Scope) -> Head:
    """Read the head of a request; a header that stands there twice counts as all its values together."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    query = scope["query_string"].decode("latin-1")
    length = headers.get("content-length", "0")
    size = int(length) if length.isascii() and length.isdecimal() else 0
    size += len(scope.get("raw_path") or b"") + len(query) + sum(map(len, (*headers, *headers.values())))
    return Head(method=scope["method"], path=scope["path"], query=query, headers=headers, size=size)


def _bounded(receive: Receive) -> Receive:
    """Hear no more of a body, whatever its head said of its length."""
    heard = 0

    async def receive_bounded() -> Message:
        nonlocal heard
        message = await receive()
        heard += len(message.get("body", b""))
        return message if heard <= LARGEST_REQUEST else {"type": "http.disconnect"}

    return receive_bounded
