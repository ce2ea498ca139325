"""docs/json.md against the records that the commands print, and against what they print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from indexerd.contract.record import RecordType
from tests.imports import REPOSITORY
from tests.wikiq.running import run_wikiq
from tests.wikiq.sample_index import SampleIndex
from wikiq.answers import check, chunk_feed, line_range, links, outline
from wikiq.index import barrier_client
from wikiq.model import results
from wikiq.shell import all_wikis

DOCUMENT = (REPOSITORY / "docs" / "json.md").read_text("utf-8")
RECORDS = {
    name: kind
    for module in (results, all_wikis, outline, links, line_range, check, chunk_feed, barrier_client)
    for name, kind in vars(module).items()
    if isinstance(kind, RecordType)
}
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", DOCUMENT, re.MULTILINE | re.DOTALL))
ROW = re.compile(r"^\| `(\w+)` \| ([^|]*?) \|", re.MULTILINE)
INDEX = "index"  # a record that stands in a document under this name

# How the document calls the types of the code, but for records, which go by their name.
TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "tuple[tuple[int, int], ...]": "array of [start, end]",
}
# By the ranking's version: no promise is made of its fields.
UNTOLD = {"ScoreParts"}


def called(annotation: str) -> str:
    """What the document calls a type."""
    plain, sign, _ = annotation.partition(" | None")
    if sign:
        return f"{called(plain)} or null"
    if plain in TYPES:
        return TYPES[plain]
    if found := re.fullmatch(r"tuple\[(\w+), \.\.\.\]", plain):
        item = called(found[1])
        return f"array of {item if item in RECORDS else f'{item}s'}"
    if found := re.fullmatch(r"(?:Mapping|dict)\[str, (\w+)\]", plain):
        return f"object of {called(found[1])}s"
    return plain


def named_in_tables() -> Iterator[str]:
    """Every record that a document, a line or a field is said to be."""
    for word in re.findall(r"\b[A-Z]\w+\b", "\n".join(re.findall(r"^\|.*\|$", DOCUMENT, re.MULTILINE))):
        if word in RECORDS:
            yield word


@pytest.mark.parametrize("name", sorted(SECTIONS.keys() - UNTOLD))
def test_a_record_is_described_field_by_field(name: str) -> None:
    kind = RECORDS[name]
    own = {field: called(str(kind.__annotations__[field])) for field in kind.__annotations__}
    assert dict(ROW.findall(SECTIONS[name])) == own
    base = kind.__bases__[0].__name__
    if base != "Record":
        assert SECTIONS[name].strip().startswith(f"A {base}, and")


def test_every_record_that_is_named_is_described() -> None:
    assert set(named_in_tables()) - SECTIONS.keys() == set()


def documents() -> Iterator[tuple[str, list[str]]]:
    """The commands, each with the names its document has."""
    (table,) = re.findall(r"^## Documents\n(.*?)(?=^##)", DOCUMENT, re.MULTILINE | re.DOTALL)
    for commands, fields in re.findall(r"^\| (`.*?`) \| (`.*?) \|", table, re.MULTILINE):
        names: list[str] = []
        for name in re.findall(r"`(\w+)`", fields):
            names += RECORDS[name].fields if name in RECORDS else [name]
        for command in re.findall(r"`([^`]*)`", commands):
            yield command, names


WORDS = {
    "search": ["agent"],
    "search --explain": ["agent"],
    "search --all": ["agent"],
    "outline --all": ["guide"],
    "links --all": ["guide"],
    "backlinks --all": ["paths"],
    "show": ["guide"],
    "show PATH:FROM-TO": [],
    "outline": ["guide"],
    "expand": ["guide"],
    "links": ["guide"],
    "backlinks": ["paths"],
    "changes": ["--since", "0"],
    "sql": ["SELECT slug FROM v1_pages"],
}


@pytest.mark.parametrize("command, names", list(documents()))
def test_a_document_has_the_fields_that_are_told(
    shared_index: SampleIndex, command: str, names: list[str]
) -> None:
    words = [*command.replace("PATH:FROM-TO", "paths.md:1-3").split(), *WORDS.get(command, [])]
    printed = run_wikiq(*words, "--json", index=shared_index).json
    assert list(printed) == names
    if INDEX in names:
        assert list(printed[INDEX]) == list(results.IndexAge.fields)


def test_a_feed_has_the_lines_that_are_told(shared_index: SampleIndex) -> None:
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in run_wikiq("chunks", "--since", "0", index=shared_index).out.splitlines()
    ]
    told = {"start": "Start", "replace": "Replacement", "chunk": "ChunkEvent", "end": "End"}
    assert {line["op"] for line in lines} >= {"start", "replace", "end"}
    for line in lines:
        assert list(line) == list(RECORDS[told[line["op"]]].fields)
