"""The reader: a typed library over an index that `indexerd` keeps, with a command on top.

from wikiq.database import open_database
from wikiq.request import SearchRequest
from wikiq.search import search

result = search(open_database("…/index.db"), SearchRequest(query="how does a run end"))

Services: `search.search`; `page`, `list_pages`, `topics`, `changes`, `status` of `pages`; the records
they give are in `results`. Nothing here writes, and nothing but the standard library is needed.
"""
