"""What stands around every answer: the wiki, how current it is, and the templates that put it on a page."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from indexerd.contract.record import Record
from wikiq.answers.status import status
from wikiq.index.database import Snapshot
from wikiq.index.freshness import COPY, freshness_of, freshness_words, staleness
from wikiq.output.terminal import counted
from wikiq.web import addresses

HERE = os.path.dirname(os.path.abspath(__file__))
STATIC = os.path.join(HERE, "static")
ASSETS = {"wikiq.css": "text/css; charset=utf-8", "wikiq.js": "text/javascript; charset=utf-8"}
OWN_IDS = "wq-"  # what the ids of the frame begin with


class Frame(Record):
    """The state of the index that an answer is from. `at` names it; `warning`: why it may be stale."""

    wiki: str
    at: str
    state: str
    words: str
    warning: str | None = None
    building: str | None = None


class Shown(Record):
    """An answer as a template and what it shows. `status` is that of HTTP."""

    template: str
    values: Mapping[str, Any]
    frame: Frame
    title: str
    query: str = ""
    status: int = 200
    ids: str = OWN_IDS


def frame_of(snapshot: Snapshot) -> Frame:
    """Say of a snapshot what every page tells."""
    told = freshness_of(snapshot)
    usual = "copy" if told.mode == COPY else "live"
    building = None
    if snapshot.meta.get("building"):
        building = f"The first build is at work: {counted(status(snapshot).pages, 'page')} so far."
    return Frame(
        wiki=snapshot.wiki,
        at=f"{snapshot.index_id}:{snapshot.generation}:{state_digest(snapshot)}",
        state="behind" if told.stale else usual,
        words=freshness_words(told),
        warning=staleness(told, snapshot.root),
        building=building,
    )


def lost_frame(wiki: str) -> Frame:
    """Stand for the state of an index that cannot be read."""
    return Frame(wiki=wiki, at=":0:", state="lost", words="no index")


def state_digest(snapshot: Snapshot) -> str:
    """Give a name to how current the index is, apart from its age: another name, another state to show."""
    told = freshness_of(snapshot)
    state = (told.stale, told.daemon, told.mode, told.reason, told.pending > 0, snapshot.meta.get("building"))
    return f"{zlib.crc32(repr(state).encode()):x}"


class Templates:
    """Turns answers into HTML: whole pages, or the part of them that changes."""

    def __init__(self, *, opens_editor: bool) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(os.path.join(HERE, "templates")),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.globals.update(
            to=addresses, opens_editor=opens_editor, asset=_asset_addresses(), counted=counted
        )

    def render(self, shown: Shown, *, part: str | None) -> str:
        """Write an answer; with a `part` what the script puts in the place of the one before."""
        layout = "part.html" if part is not None else "frame.html"
        template = self._environment.get_template(shown.template)
        return template.render(
            layout=layout,
            frame=shown.frame,
            title=shown.title,
            query=shown.query,
            ids=shown.ids,
            **shown.values,
        )


def _asset_addresses() -> dict[str, str]:
    """The addresses of script and style sheet, which change with what they hold."""
    found = {}
    for name in ASSETS:
        with open(os.path.join(STATIC, name), "rb") as file:
            found[name] = f"/static/{name}?{hashlib.sha256(file.read()).hexdigest()[:12]}"
    return found
