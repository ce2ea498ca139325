"""A page on a terminal: set off, never changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wikiq.output.source_view import text_lines
from wikiq.output.terminal import FAINT, PLACE, Span

TEXT = """---
title: x
# not a heading
---
# Heading

Some `code` and a lone ` sign.
A lone ` sign.

~~~
# no heading
```
~~~
> quote
#tag
"""


def styled(source: str) -> list[tuple[str, set[str]]]:
    """Every line with the styles in it."""
    return [
        (
            "".join(span if isinstance(span, str) else span.text for span in line),
            {span.style for span in line if isinstance(span, Span) and span.style},
        )
        for line in text_lines(source)
    ]


def test_front_matter_headings_code_and_quotes_are_set_off() -> None:
    heading = "1;4"
    assert [styles for _, styles in styled(TEXT)] == [
        *[{FAINT}] * 4,
        {heading},
        set(),
        set(),
        set(),
        set(),
        *[{PLACE}] * 4,
        {FAINT},
        set(),
    ]
    assert styled("Some `code` here")[0][1] == {PLACE}


def test_front_matter_is_only_at_the_beginning() -> None:
    assert styled("text\n---\n# Heading\n")[2][1] == {"1;4"}


@given(st.text(alphabet="ab `~#>|-+ \n", max_size=80))
def test_every_character_of_the_text_is_shown(source: str) -> None:
    assert "\n".join(text for text, _ in styled(source)) == source.removesuffix("\n")
