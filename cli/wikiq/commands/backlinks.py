"""`wikiq backlinks PAGE`: the links of other pages that lead to a page."""

from __future__ import annotations

from wikiq.answers.links import backlinks
from wikiq.commands.links import link_command

command = link_command("backlinks", backlinks)
