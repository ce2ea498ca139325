"""A PostgreSQL server of the tests: a Unix socket in a temporary folder, run by who is not root."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.another_user import AS_NOBODY, NOBODY

OWNER: Final = "owner"  # superuser of the server, whoever runs it
PASSWORD: Final = "right"
START_S: Final = 60.0
# Several servers may run: little shared memory, and no promise about a power failure.
SETTINGS: Final = (
    "-c listen_addresses='' -c shared_buffers=32MB -c max_connections=30 -c fsync=off -c autovacuum=off"
)


def find_programs() -> Path | None:
    """The folder with initdb and postgres of the newest version there is; None without one."""
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).resolve().parent
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parent.parent.name)
    )
    return found[-1].parent if found else None


@dataclass(frozen=True, slots=True)
class Server:
    """A server whose files lie in `folder`; `programs` are its commands."""

    folder: Path
    programs: Path

    def url(self, *, user: str = OWNER, schema: str | None = None, password: str | None = None) -> str:
        """The address of its one database."""
        login = user if password is None else f"{user}:{password}"
        asked = f"host={self.folder}" + (f"&schema={schema}" if schema else "")
        return f"postgresql://{login}@/postgres?{asked}"

    def make(self) -> None:
        """Create the database files; everybody on the socket is let in but `locked`, who needs a password."""
        words = ["-D", str(self._data), "-U", OWNER, "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync"]
        self._run("initdb", *words)
        rules = "local all locked scram-sha-256\nlocal all all trust\n"
        (self._data / "pg_hba.conf").write_text(rules)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"{SETTINGS} -c unix_socket_directories={self.folder}"
        log = str(self.folder / "log")
        self._control("start", "-w", "-t", str(int(START_S)), "-o", options, "-l", log)

    def stop(self, mode: str = "fast") -> None:
        """Stop it: `fast` ends its connections, `immediate` is as if it crashed."""
        self._control("stop", "-w", "-m", mode)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _control(self, *words: str) -> None:
        self._run("pg_ctl", "-D", str(self._data), "-s", *words)

    def _run(self, program: str, *words: str) -> None:
        command: Sequence[str] = (str(self.programs / program), *words)
        if os.geteuid() == 0:
            command = (*AS_NOBODY, *command)
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            check=False, cwd=self.folder, timeout=2 * START_S,
        )  # fmt: skip
        if done.returncode:
            log = self.folder / "log"
            told = log.read_text()[-2000:] if log.exists() else ""
            raise RuntimeError(f"{program}: {done.stderr.decode()}{told}")


@contextmanager
def running_server(programs: Path) -> Iterator[Server]:
    """A server of its own for the block. Its folder is short: a socket's path may have 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o755)
        server = Server(folder, programs)
        server.make()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def schema_named(text: str) -> str:
    """A name of a schema made of the name of a test."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower())[:60].strip("_") or "t"
