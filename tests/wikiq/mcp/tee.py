"""`python tee.py RECORD COMMAND...`: runs a server and records both ways, `> ` to it and `< ` from it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO


def copy(sign: bytes, source: Iterable[bytes], target: IO[bytes], record: IO[bytes]) -> None:
    """Pass lines on until they end; what is answered is recorded after what was asked."""
    for line in source:
        record.write(sign + line)
        record.flush()
        target.write(line)
        target.flush()
    target.close()


def main() -> int:
    """Gives the exit status of the server."""
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    with Path(sys.argv[1]).open("ab") as record:
        asking = (b"> ", sys.stdin.buffer, process.stdin, record)
        threading.Thread(target=copy, args=asking, daemon=True).start()
        copy(b"< ", process.stdout, sys.stdout.buffer, record)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
