"""`wikiq serve` as a process: sockets of this machine, one server, until it is told to end."""

from __future__ import annotations

import asyncio
import errno
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import uvicorn

from indexerd.contract.record import Record
from wikiq.answers.pages import page, split_line
from wikiq.errors import FOUND, UsageError, WikiqError
from wikiq.index.database import Database, Snapshot
from wikiq.index.locate import open_index
from wikiq.model.request import Source
from wikiq.output.context import Surroundings
from wikiq.shell.editor import open_page
from wikiq.web.app import OpenEditor, Viewer
from wikiq.web.frame import Templates
from wikiq.web.guard import TOKEN_FIELD, Guard
from wikiq.web.guarded import Guarded
from wikiq.web.live import Live, Watcher
from wikiq.web.questions import Questions

TOKEN_BYTES = 16  # 128 bits
LOOPBACK = ("127.0.0.1", "::1")
LOCAL_HOSTS = (*LOOPBACK, "localhost")
PORT_TRIES = 20  # to find one port that is free on both
LAST_WAIT_S = 1  # for answers that are being sent when the server ends
RENDERING = "wikiq.web.rendering.page"
_TAKEN = (errno.EADDRINUSE, errno.EACCES)
_ENDING = (signal.SIGINT, signal.SIGTERM)


class Serving(Record):
    """How the viewer is served. `names`: further ones it answers to, as hosts are written."""

    host: str = LOOPBACK[0]
    port: int = 0
    names: tuple[str, ...] = ()
    opens_browser: bool = True
    opens_editor: bool = False


def serve(source: Source, serving: Serving, surroundings: Surroundings) -> int:
    """Serve one wiki until SIGINT or SIGTERM; gives the exit status."""
    if serving.host not in LOCAL_HOSTS and not serving.names:
        remedy = "say by which name it is reached: --allow-host NAME"
        raise UsageError(serving.host, "is an address that other machines can reach", remedy)
    found = open_index(
        db=source.db, wiki=source.wiki, environ=surroundings.environ, folder=surroundings.folder
    )
    found.close()
    opened = partial(_opened, found, source)
    sockets = _bound(serving)
    port = sockets[0].getsockname()[1]
    token = secrets.token_urlsafe(TOKEN_BYTES)
    if serving.host not in LOCAL_HOSTS:
        surroundings.note("other machines can reach this server; who has the address can read the wiki")
    name = serving.names[0] if serving.host not in LOCAL_HOSTS else "localhost"
    address = f"http://{name}:{port}/?{TOKEN_FIELD}={token}"
    guard = Guard(port=port, token=token, names=serving.names, opens_editor=serving.opens_editor)

    def ready() -> None:
        surroundings.out.text(f"{address}\n")
        surroundings.out.stream.flush()
        # A third of the start, and the list that is asked for first needs none of it.
        threading.Thread(target=import_module, args=(RENDERING,), daemon=True).start()
        if serving.opens_browser and surroundings.out.is_terminal:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    editor = partial(_edit, surroundings) if serving.opens_editor else None
    asyncio.run(_serve(opened, sockets, guard=guard, open_editor=editor, ready=ready))
    return FOUND


def _opened(found: Database, source: Source) -> Database:
    database = found.another()
    database.is_copy, database.max_age_s = source.copy, source.max_age
    return database


def _bound(serving: Serving) -> list[socket.socket]:
    """Bind one port: on both loopback addresses, or on the one address that was asked for."""
    hosts = LOOPBACK if serving.host in LOCAL_HOSTS else (serving.host,)
    for attempt in range(PORT_TRIES):
        sockets: list[socket.socket] = []
        port = serving.port
        try:
            for host in hosts:
                sockets.append(_listening(host, port))
                port = sockets[0].getsockname()[1]
            return sockets
        except OSError as error:
            if sockets and error.errno not in _TAKEN:
                return sockets  # a machine without IPv6
            for one in sockets:
                one.close()
            if serving.port or not sockets or attempt == PORT_TRIES - 1:
                problem = f"cannot be listened on ({error.strerror})"
                remedy = "give another --port, or leave it out"
                raise UsageError(f"{serving.host}:{port}", problem, remedy) from error
    raise AssertionError("the last try returns or raises")


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


async def _serve(
    opened: Callable[[], Database],
    sockets: Sequence[socket.socket],
    *,
    guard: Guard,
    open_editor: OpenEditor | None,
    ready: Callable[[], None],
) -> None:
    questions, live = Questions(opened), Live(Watcher(opened))
    viewer = Viewer(
        wiki=await questions.ask(lambda snapshot: partial(str, snapshot.wiki)),
        questions=questions,
        live=live,
        templates=Templates(opens_editor=open_editor is not None),
        open_editor=open_editor,
    )
    config = uvicorn.Config(
        Guarded(viewer.app(), guard),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=LAST_WAIT_S,
    )
    server = _Server(config, ready)

    def stop() -> None:
        server.should_exit = True
        live.end()
        questions.cancel()

    for number in _ENDING:
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        await server.serve(list(sockets))
    finally:
        live.close()
        questions.close()


class _Server(uvicorn.Server):
    """A server that says when it is ready, and leaves signals to the loop."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do nothing: uvicorn would raise them once more at the end, and the process would die of them."""
        yield


def _edit(surroundings: Surroundings, snapshot: Snapshot, name: str) -> Callable[[], None]:
    """Open the editor at PATH:LINE, in a thread that nobody waits for: an editor may stay open."""
    view = page(snapshot, name)
    line = split_line(name)[1] or (view.section.start_line if view.section is not None else 1)

    def edit() -> None:
        try:
            open_page(root, view.path, view.status, line, surroundings)
        except WikiqError as error:
            surroundings.note(str(error))

    root = snapshot.root
    return threading.Thread(target=edit, daemon=True).start
