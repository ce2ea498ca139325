"""The manual page of `wikiq`, made of the same tables and texts as its help; docs/wikiq.1 is its output.

No command: `python -m tests.tools.manual > docs/wikiq.1` writes it anew, and a test compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from wikiq.commands.group import STATUSES, wikiq
from wikiq.shell.options import COMMANDS, FILTERS, FORMS, INDEX

DATE = "2026-12-01"  # of the last change of the page
DESCRIPTION = """
wikiq finds pages of a tree of Markdown files that indexerd keeps indexed in one SQLite file. It only
reads. WORDS that begin with no command are a search: pages that answer them, the best first, each with
the section that explains it.

The index is that of --db, else of WIKIQ_DB, else the one whose root holds the current folder, else the
only one there is.
"""
DOCUMENTS = """
In docs/ of the source: search.md on how words are matched and ranked, json.md on the fields of the JSON
forms, library.md on the same from Python, database.md on the index file for readers in any language.
"""
ENVIRONMENT = (
    ("WIKIQ_DB", "The index file, or the folder that holds it."),
    ("XDG_STATE_HOME", "Below it indexes are looked for; ~/.local/state where it is not set."),
    ("VISUAL, EDITOR", "What `wikiq open` starts; vi where neither is set."),
    ("PAGER", "What long pages are shown with on a terminal; less where it is not set."),
    ("NO_COLOR", "If set, nothing is coloured."),
    ("FORCE_HYPERLINK", "1 makes paths links on terminals that are not known for it, 0 takes them away."),
)
SHARED = (("FILTERS", FILTERS), ("FORMS OF OUTPUT", FORMS), ("WHICH INDEX", INDEX))


def render_manual() -> str:
    """Give the page in the roff of man(7)."""
    lines: list[str] = []
    for line in _lines():
        if line == ".PP" and lines[-1].startswith((".SH ", ".SS ")):
            continue  # a heading begins a paragraph itself; mandoc warns of a second one
        lines.append(line)
    return "\n".join(lines) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH WIKIQ 1 "{DATE}" "indexerd" "User Commands"'
    yield from (".SH NAME", _escaped("wikiq - find pages of a wiki that indexerd keeps indexed"))
    yield from (".SH SYNOPSIS", ".B wikiq", ".I WORDS...", ".br", ".B wikiq", ".I COMMAND", "[OPTIONS]")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(DESCRIPTION)
    yield ".SH COMMANDS"
    context = click.Context(wikiq, info_name="wikiq")
    for name in sorted(COMMANDS):
        command = wikiq.get_command(context, name)
        if command is not None:
            yield from _command_lines(name, command, click.Context(command, context, info_name=name))
    for heading, table in SHARED:
        yield f".SH {heading}"
        for name, option in table.items():
            term = f"{name} {option.metavar}".strip()
            yield from (".TP", f".B {_escaped(term)}", _escaped(option.help))
    for heading, rows in (("ENVIRONMENT", ENVIRONMENT), ("EXIT STATUS", STATUSES)):
        yield f".SH {heading}"
        for term, meaning in rows:
            yield from (".TP", f".B {_escaped(term)}", _escaped(meaning))
    yield from (".SH SEE ALSO", ".BR indexerd (1),", ".BR sqlite3 (1)")
    yield from _paragraphs(DOCUMENTS)


def _command_lines(title: str, command: click.Command, context: click.Context) -> Iterator[str]:
    """Usage, help and options of a command; of those that many commands have, the names alone."""
    yield f".SS {_escaped(' '.join(['wikiq', title, *command.collect_usage_pieces(context)]))}"
    yield from _paragraphs(command.help or "")
    also = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if not isinstance(parameter, click.Option) or record is None:
            continue
        name = parameter.opts[0]
        if any(name in table and table[name].help == parameter.help for _, table in SHARED):
            also.append(name)
        else:
            yield from (".TP", f".B {_escaped(record[0])}", _escaped(record[1]))
    if also:
        yield from (".PP", _escaped(f"Also: {', '.join(also)}."))


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs of a help text; click's sign before one keeps its lines as they are."""
    for paragraph in text.strip().split("\n\n"):
        lines = [_escaped(line.strip()) for line in paragraph.strip().removeprefix("\b").strip().split("\n")]
        keeps_lines = paragraph.strip().startswith("\b")
        yield from (".nf", *lines, ".fi") if keeps_lines else (".PP", " ".join(lines))


def _escaped(text: str) -> str:
    """Text that roff takes for text: a line that begins with a control sign would be a request."""
    shown = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{shown}" if shown.startswith((".", "'")) else shown


if __name__ == "__main__":
    sys.stdout.write(render_manual())
