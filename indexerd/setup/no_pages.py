"""Why a wiki has no page: its texts have other extensions, or a rule leaves its pages out.

Scans again with wider rules and compares; reads no page, writes nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from indexerd.contract.which_index import shell_word
from indexerd.setup.compose import Wiki
from indexerd.tree.scanner import TreeSettings
from indexerd.tree.tree import Tree

# What people keep text in: some of it is Markdown, and of the rest plain words can be found.
TEXT_EXTENSIONS: Final = ("md", "markdown", "mdx", "mdown", "mkd", "qmd", "rmd", "txt", "org", "rst", "adoc")


def explain_no_pages(wiki: Wiki) -> str | None:
    """Say in one line what could be taken in and how, None where nothing could. Raises as a scan does."""
    settings = wiki.tree_settings
    others = _texts_of(wiki.root, replace(settings, extensions=TEXT_EXTENSIONS))
    kinds = Counter(path.rpartition(".")[2].lower() for path in others)
    if kinds:
        kind, files = kinds.most_common(1)[0]
        taken = ", ".join(f'"{extension}"' for extension in (*settings.extensions, kind))
        place = f"{wiki.root}/.wikiq.toml"
        them = "it" if files == 1 else "them"
        return (
            f"no page, but {files} .{kind} file{'s' * (files > 1)}; to take {them} in, write "
            f"`extensions = [{taken}]` below `[wiki]` in {place}"
        )
    hidden = _texts_of(wiki.root, replace(settings, gitignore=False, ignore=()))
    if hidden:
        asked = shell_word(f"{wiki.root}/{hidden[0]}")
        return f"no page; rules leave out {len(hidden)}: `indexerd why {asked}` names one of them"
    return None


def _texts_of(root: str, settings: TreeSettings) -> list[str]:
    return sorted(Tree(root, settings).scan().stamps)
