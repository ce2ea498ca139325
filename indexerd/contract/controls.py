"""The characters that neither a stored name nor a terminal may get: controls, and what reorders text."""

from __future__ import annotations

# Code points: C0, DEL and C1, then the line separators and bidirectional controls of UAX #9.
CONTROLS = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x061C,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
)
