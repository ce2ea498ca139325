"""`wikiq serve` as people start it, and requests to it: by http.client, and byte by byte over a socket."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tests.wikiq.built_wiki import BuiltWiki, build_wiki
from tests.wikiq.running import command, environment

PATIENCE_S: Final = 60.0
PAGES: Final = {
    "index.md": "# Home\n\nStart with [the network](network.md) or [[backup]]. See [nothing](gone.md).\n",
    "network.md": "---\ntopics: [net]\n---\n\n# Network\n\nThe gateway.\n\n## VPN\n\nThe vpn key expires.\n",
    "ops/backup.md": (
        "---\ntopics: [net, ops]\n---\n\n# Backup and restore\n\nCopied by `tools/backup.sh` every night.\n\n"
        "## Restore\n\n### Restore a single table\n\nFetch the dump, then restore the table.\n\n"
        "![a dot](dot.png) and ![[dot.svg]]\n\n## Retention\n\nThirty days.\n"
    ),
    "日本.md": "# 日本の首都\n\n日本の首都は東京です。\n",
    "empty.md": "",
}
DOT: Final = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class Served:
    """A server, and how it is asked. `address` is what it printed."""

    wiki: BuiltWiki
    process: subprocess.Popen[str]
    address: str
    cookie: str = ""
    more: dict[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    def get(self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        """Ask as a browser that was let in."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        cookie = {"Cookie": f"wikiq-{self.port}={self.token}"}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(method, path, body=body, headers=cookie | given)
            answer = connection.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, told, answer.read())
        finally:
            connection.close()

    def send(self, raw: bytes) -> bytes:
        """Send bytes as they are; gives the first line of the answer, and what follows until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S) as client:
            client.sendall(raw)
            parts = []
            while part := client.recv(65536):
                parts.append(part)
            return b"".join(parts)

    def head(self, line: str, **headers: str) -> int:
        """Send a head of our own making; gives the status of the answer."""
        named = {"Host": f"localhost:{self.port}", "Cookie": f"wikiq-{self.port}={self.token}"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [line, *(f"{name}: {value}" for name, value in named.items() if value), "Connection: close"]
        answer = self.send("\r\n".join((*lines, "", "")).encode("latin-1"))
        return int(answer.split(b" ", 2)[1])

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def serving(wiki: BuiltWiki, *options: str, program: tuple[str, ...] = (), **more: str) -> Iterator[Served]:
    """Serve a wiki in a process of its own; `program`: another `wikiq` than that of this environment."""
    process = subprocess.Popen(
        [*program, "serve", *options] if program else command("serve", *options),
        cwd=wiki.index.root,
        env=environment(wiki.index.root.parent, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, process.stderr.read() if process.stderr else ""
        yield Served(wiki, process, address)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_S)


def write_wiki(folder: Path) -> BuiltWiki:
    """A small wiki with pictures, one of them outside of it."""
    wiki = build_wiki(folder, PAGES)
    root = wiki.index.root
    (root / "ops" / "dot.png").write_bytes(DOT)
    (root / "dot.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (root.parent / "secret.png").write_bytes(DOT)
    (root / ".hidden").mkdir(exist_ok=True)
    shutil.copy(root / "ops" / "dot.png", root / ".hidden" / "dot.png")
    for name, target in (("out.png", "../secret.png"), ("page.png", "index.md"), ("in.png", "ops/dot.png")):
        if not (root / name).is_symlink():
            os.symlink(target, root / name)
    return wiki
