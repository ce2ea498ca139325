"""`python -m tests.benchmarks agents`: what it costs an agent to find a section and read it, in tokens.

Ten sessions a corpus, each a search and the reading of its first hit, three ways: as `wikiq mcp` answers,
the same records as compact JSON, and with ripgrep, which reads the two files that hold most of the
words around their matches. Tokens are bytes / 4; only ratios are claims.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.eval.collection import Collection
from tests.imports import REPOSITORY
from wikiq.answers.passages import passage
from wikiq.answers.search import search
from wikiq.index.database import Database, open_database
from wikiq.mcp.calls import Calls
from wikiq.mcp.tools import TOOLS
from wikiq.model.request import SearchRequest, Source
from wikiq.model.results import json_form

SETS: Final = ("claudedocs", "awsqa")
SESSIONS: Final = 10
FILES_LISTED: Final = 8  # as many as hits
FILES_READ: Final = 2  # after ripgrep
LINES_AROUND: Final = 5  # of a match


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of the sessions of one way, and how many read the page that was judged right."""

    tokens: int
    found: int


def question_words(query: str) -> list[str]:
    """Words an agent would grep for: the longer ones."""
    return [
        word
        for word in ("".join(sign for sign in part if sign.isalnum()) for part in query.split())
        if len(word) > 3
    ]


def run_agents() -> None:
    """Print a table of tokens and pages found for each corpus."""
    shared = REPOSITORY.parent / "shared" / "eval"
    if not shared.is_dir():
        print(f"skipped: {shared} is not there")
        return
    with tempfile.TemporaryDirectory(prefix="agents-") as work:
        collection = Collection(sets=shared / "sets", corpora=shared, work=Path(work))
        for name in SETS:
            _print_set(collection, name)


def _print_set(collection: Collection, name: str) -> None:
    lines = (collection.sets / f"{name}.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line) for line in lines[:: max(1, len(lines) // SESSIONS)]][:SESSIONS]
    db = collection.index_of(asked[0]["corpus"])
    with closing(open_database(str(db))) as database:
        with database.snapshot() as snapshot:
            root = Path(snapshot.root)
        text = _sessions(asked, lambda query: _text_session(db, query))
        form = _sessions(asked, lambda query: _json_session(database, query))
    print(f"{name}: {len(asked)} sessions, tokens each, pages found")
    print(f"  mcp text       {text.tokens:>7} {text.found:>3}")
    print(
        f"  compact JSON   {form.tokens:>7} {form.found:>3}   text is {text.tokens / form.tokens:.2f} of it"
    )
    if shutil.which("rg") is None:
        print("  ripgrep        skipped: rg is not installed")
        return
    grep = _sessions(asked, lambda query: _grep_session(root, query))
    print(
        f"  ripgrep        {grep.tokens:>7} {grep.found:>3}   text is {text.tokens / grep.tokens:.2f} of it"
    )


def _sessions(asked: Sequence[dict[str, Any]], session: Callable[[str], tuple[str, tuple[str, ...]]]) -> Cost:
    """`session` gives all that the agent was sent, and the paths it read."""
    tokens = found = 0
    for question in asked:
        sent, paths = session(question["query"])
        tokens += len(sent.encode()) // 4
        judged = {one["page"].casefold() for one in question["relevant"]}
        found += any(path.casefold() in judged for path in paths)
    return Cost(tokens // len(asked), found)


def _text_session(db: Path, query: str) -> tuple[str, tuple[str, ...]]:
    calls = Calls(Source(db=str(db)), {}, "/")
    with closing(calls):
        found = calls.call(TOOLS["search"], {"query": query}).text
        places = [line.split()[1] for line in found.splitlines()[1:2]]
        read = calls.call(TOOLS["read"], {"page": places[0]}).text if places else ""
    return found + read, tuple(place.rpartition(":")[0] for place in places)


def _json_session(database: Database, query: str) -> tuple[str, tuple[str, ...]]:
    with database.snapshot() as snapshot:
        result = search(snapshot, SearchRequest(query=query, limit=8))
        sent = json.dumps(json_form(result), ensure_ascii=False, separators=(",", ":"))
        if not result.hits or result.hits[0].evidence is None:
            return sent, ()
        hit = result.hits[0]
        evidence = hit.evidence
        assert evidence is not None
        read = passage(snapshot, f"{hit.path}:{evidence.start_line}-{evidence.end_line}")
    return sent + json.dumps(json_form(read), ensure_ascii=False, separators=(",", ":")), (hit.path,)


def _grep_session(root: Path, query: str) -> tuple[str, tuple[str, ...]]:
    """Rank files by how many of the words they hold, then by matches; read the best around their matches."""
    pattern = "|".join(question_words(query)) or query
    matched: dict[str, list[str]] = {}
    for line in _ripgrep(root, "--only-matching", "--with-filename", pattern, ".").splitlines():
        path, _, word = line.rpartition(":")
        matched.setdefault(path, []).append(word.casefold())
    best = sorted(matched, key=lambda path: (-len(set(matched[path])), -len(matched[path]), path))
    sent = "\n".join(f"{path}:{len(matched[path])}" for path in best[:FILES_LISTED])
    for path in best[:FILES_READ]:
        sent += _ripgrep(root, "--line-number", "--context", str(LINES_AROUND), pattern, path)
    return sent, tuple(path.removeprefix("./") for path in best[:FILES_READ])


def _ripgrep(root: Path, *arguments: str) -> str:
    command = ["rg", "--ignore-case", "--no-heading", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
