"""Every SELECT of the reader, side by side, over the public part of the index only.

Values are always bound. Nothing here runs a statement.
"""

from __future__ import annotations

SELECT_META = "SELECT key, value FROM meta"

SELECT_LAST_COMMIT = "SELECT committed_at FROM v1_changes ORDER BY generation DESC LIMIT 1"

SELECT_LAST_SCAN = """
SELECT started_at, finished_at, reason, pages_seen, pages_changed, missed_by_events
FROM v1_scans ORDER BY finished_at DESC LIMIT 1"""
