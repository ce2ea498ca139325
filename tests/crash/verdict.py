"""How every command here ends: what was found wrong, then one line of JSON with the counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

SHOWN: Final = 20  # faults; one is too many already


def conclude(command: str, faults: Sequence[str], **counts: object) -> int:
    """Prints both; the exit status, 1 on any fault."""
    for fault in faults[:SHOWN]:
        print(f"FAULT {fault}")
    print(json.dumps({"command": command, **counts, "faults": len(faults)}), flush=True)
    return 1 if faults else 0
