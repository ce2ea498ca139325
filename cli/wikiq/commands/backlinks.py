"""`wikiq backlinks PAGE`: the links of other pages that lead to a page."""

from __future__ import annotations

from wikiq.commands.links import link_command
from wikiq.linking import backlinks

command = link_command("backlinks", backlinks)
