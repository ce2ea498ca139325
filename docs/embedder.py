"""Keeps vectors of a wiki's chunks in a file of its own.

Only texts that were not seen before are embedded. A vector that nothing uses any more is kept for
30 days, so a folder that goes and comes back costs nothing. `embed` stands for a model: it hashes words.
"""

import argparse
import hashlib
import json
import sqlite3
import subprocess
import sys

KEEP_DAYS = 30  # what a vector is kept after its text has gone


def embed(text):
    """A vector of a text; this one tells which of 64 buckets its words fall into."""
    vector = bytearray(64)
    for word in text.lower().split():
        vector[hashlib.sha256(word.encode()).digest()[0] % 64] |= 1
    return bytes(vector)


def follow(db, chunks_since):
    """Bring the tables up to date; `chunks_since` gives the lines of `wikiq chunks --since CURSOR`."""
    db.executescript("""CREATE TABLE IF NOT EXISTS vector(chunk_key PRIMARY KEY, value);
        CREATE TABLE IF NOT EXISTS chunk(slug, section_id, part, chunk_key);
        CREATE INDEX IF NOT EXISTS chunk_slug ON chunk(slug);
        CREATE TABLE IF NOT EXISTS unused(chunk_key PRIMARY KEY, since);
        CREATE TABLE IF NOT EXISTS seen(cursor);""")
    embedded, (cursor,) = 0, db.execute("SELECT coalesce(max(cursor), '0') FROM seen").fetchone()
    for row in map(json.loads, chunks_since(cursor)):
        if row["op"] == "start" and row["complete"]:
            db.execute("DELETE FROM chunk")
        elif row["op"] in ("replace", "delete"):
            db.execute("DELETE FROM chunk WHERE slug = :slug", row)
        elif row["op"] == "chunk":
            db.execute("INSERT INTO chunk VALUES (:slug, :section_id, :part, :chunk_key)", row)
            if not db.execute("SELECT 1 FROM vector WHERE chunk_key = :chunk_key", row).fetchone():
                db.execute("INSERT INTO vector VALUES (?, ?)", (row["chunk_key"], embed(row["embed_text"])))
                embedded += 1
        elif row["op"] == "end":
            db.execute("DELETE FROM seen")
            db.execute("INSERT INTO seen VALUES (?)", (row["cursor"],))
            drop_unused(db)
            db.commit()  # without an `end` nothing is kept, and the next run does it all again
    return embedded


def drop_unused(db):
    """Note which vectors no chunk uses, and since when (a Julian day); drop those of long ago."""
    db.execute("DELETE FROM unused WHERE chunk_key IN (SELECT chunk_key FROM chunk)")
    db.execute("""INSERT OR IGNORE INTO unused SELECT chunk_key, julianday('now') FROM vector
        WHERE chunk_key NOT IN (SELECT chunk_key FROM chunk)""")
    old = "(SELECT chunk_key FROM unused WHERE since < julianday('now') - ?)"
    db.execute(f"DELETE FROM vector WHERE chunk_key IN {old}", (KEEP_DAYS,))
    db.execute("DELETE FROM unused WHERE chunk_key NOT IN (SELECT chunk_key FROM vector)")


def chunks(cursor, options):
    """Run the command, which writes one JSON document a line."""
    words = ["wikiq", "chunks", "--since", cursor, *options]
    return subprocess.Popen(words, stdout=subprocess.PIPE).stdout


def command_line():
    """Read the arguments; what is not meant here is for `wikiq chunks`, such as `--db INDEX`."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Other options are handed to `wikiq chunks`: --db, --wiki, --topic…"
    )
    parser.add_argument(
        "vectors", metavar="VECTORS.db", help="the SQLite file of the vectors; made if need be"
    )
    return parser.parse_known_args()


if __name__ == "__main__":
    arguments, options = command_line()
    db = sqlite3.connect(arguments.vectors)
    embedded = follow(db, lambda cursor: chunks(cursor, options))
    sys.stdout.write(f"{embedded} embedded\n")
