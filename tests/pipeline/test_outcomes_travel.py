"""What arrives at the other end of a pipe is what was sent."""

from __future__ import annotations

import pickle

from indexerd.core.model import ProjectionOptions, Stamp
from indexerd.core.project import oversized_page, project_page
from indexerd.core.sync.plan import Projected, Vanished
from indexerd.errors import RootError

PAGE = b"""---
title: A page
sources: [{id: s, type: file, path: src/x.py}]
---
# A

Text [with a link](b.md) and `src/y.py`.

| a | b |
|---|---|
| 1 | 2 |

## B

```
code
```
"""


def test_records_arrive_as_they_were_sent() -> None:
    page = project_page(PAGE, "a.md", ProjectionOptions())
    assert page.mentions
    assert any(section.links for section in page.sections)
    assert any(section.chunks for section in page.sections)
    for message in (
        Projected(page, Stamp(1, 2, 3, 4, 5), racy=True),
        Projected(oversized_page("b.md", 10), Stamp(1, 2, 3, 4, 5), racy=False),
        Vanished("c.md"),
        None,
    ):
        assert pickle.loads(pickle.dumps(message)) == message


def test_an_error_arrives_with_its_remedy() -> None:
    error = pickle.loads(pickle.dumps(RootError("/wiki", "does not exist", "put it back")))
    assert str(error) == "/wiki: does not exist; put it back"
    assert isinstance(error, RootError)
