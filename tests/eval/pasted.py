"""`python -m tests.eval.pasted`: makes questions of lines that stand in code, as somebody pastes them.

Commands and error lines by turns, from the code blocks of a corpus; only their text and `--seed` decide
which. Right is every page that holds the words of the line in a row. `tests/eval/sets` keeps some.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexerd.contract.terms import tokens
from tests.eval.collection import Collection
from tests.shared_data import SHARED
from wikiq.eval.evaluate import PATIENCE_S
from wikiq.index.database import Snapshot, open_database
from wikiq.query.match import quoted

SHORTEST, LONGEST = 3, 24  # words of a line: fewer say little, more are prose or data
SPREAD_MAX = 12  # pages that hold a line: what stands everywhere asks for no page

_CODE = "SELECT content FROM v1_chunks WHERE kind = 'code' ORDER BY page_id, section_id, part"
_HOLDING = """
SELECT DISTINCT p.path FROM sections_fts f
JOIN v1_section_pages v ON v.section_rowid = f.rowid JOIN v1_pages p ON p.page_id = v.page_id
WHERE sections_fts MATCH ?"""
_FENCE = re.compile(r"^\s*(?:```+|~~~+)\s*([\w.-]*)")
_PROMPT = re.compile(r"^(?:PS(?: [A-Za-z]:[^>]*)?>|[$>#%]|\w:\\[^>]*>)\s+")
_SHELLS = frozenset({"powershell", "pwsh", "sh", "bash", "shell", "console", "cmd", "zsh"})
_OUTPUTS = frozenset({"", "output", "text", "console", "none"})
_ERROR = re.compile(r"error|exception|cannot|failed|denied|not found|not recognized|panicked", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pasted:
    """A line as it is pasted, and the paths of the pages that hold its words in a row."""

    text: str
    pages: tuple[str, ...]


def pasted_lines(snapshot: Snapshot, count: int, seed: int) -> list[Pasted]:
    """`count` lines of an index, fewer where it has no more: error lines and commands by turns."""
    errors, commands = (_in_order(snapshot, seed, is_error=is_error) for is_error in (True, False))
    found: list[Pasted] = []
    while len(found) < count:
        taken = [one for one in (next(errors, None), next(commands, None)) if one is not None]
        if not taken:
            break
        found += taken
    return found[:count]


def set_text(corpus: str, lines: list[Pasted]) -> str:
    """Write the lines as a judged set."""
    return "".join(
        json.dumps(
            {
                "id": f"pasted-{corpus}-{number}",
                "query": one.text,
                "corpus": corpus,
                "relevant": [{"page": page} for page in one.pages],
            },
            ensure_ascii=False,
        )
        + "\n"
        for number, one in enumerate(lines, 1)
    )


def _in_order(snapshot: Snapshot, seed: int, *, is_error: bool) -> Iterator[Pasted]:
    lines = dict.fromkeys(_lines(snapshot, is_error=is_error))
    for line in sorted(lines, key=lambda one: hashlib.sha256(f"{seed} {one}".encode()).digest()):
        rows = snapshot.rows(_HOLDING, (quoted(" ".join(tokens(line))),))
        if 0 < len(rows) <= SPREAD_MAX:
            yield Pasted(text=line, pages=tuple(sorted(path for (path,) in rows)))


def _lines(snapshot: Snapshot, *, is_error: bool) -> Iterator[str]:
    for (content,) in snapshot.rows(_CODE):
        fence = _FENCE.match(content)
        language = fence[1].lower() if fence else ""
        for line in content.split("\n")[1 if fence else 0 :]:
            prompt = _PROMPT.match(line)
            text = line[prompt.end() :].strip() if prompt else line.strip()
            if _FENCE.match(line) or not SHORTEST <= len(tokens(text)) <= LONGEST:
                continue
            said = bool(_ERROR.search(text)) and language in _OUTPUTS and not prompt
            typed = language in _SHELLS and (bool(prompt) or language != "console") and text[0].isalpha()
            if said if is_error else typed and not said:
                yield text


def main() -> int:
    """Write the set of one corpus."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval.pasted", description=__doc__)
    parser.add_argument("corpus", help="a name of corpora.json")
    parser.add_argument("--corpora", type=Path, default=SHARED / "eval", help="folder of corpora.json")
    parser.add_argument("--work", type=Path, required=True, help="folder for unpacked corpora and indexes")
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    collection = Collection(sets=Path(), corpora=options.corpora, work=options.work)
    database = open_database(str(collection.index_of(options.corpus)))
    with database.snapshot(PATIENCE_S) as snapshot:
        lines = pasted_lines(snapshot, options.count, options.seed)
    database.close()
    print(set_text(options.corpus, lines), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
