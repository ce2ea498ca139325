"""Dates of front matter: the forms people write, and which field counts."""

from __future__ import annotations

import pytest

from indexerd.core.model import ProjectionOptions
from indexerd.core.page.dates import MOMENT_FIELDS, parse_moment
from indexerd.core.page.front_matter import parse_front_matter
from indexerd.core.project import project_page


@pytest.mark.parametrize(
    "text, moment",
    [
        ("2024-01-02", "2024-01-02T00:00:00.000Z"),
        ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"),
        ("2024-01-02T03:04:05.678901+02:00", "2024-01-02T01:04:05.678Z"),
        ("2024-01-02 03:04:05", "2024-01-02T03:04:05.000Z"),
        ("'2024-01-02'", "2024-01-02T00:00:00.000Z"),
        ("0099-01-02", "0099-01-02T00:00:00.000Z"),
        ("0001-01-01T00:00:00+05:00", None),
        ("2024-99-99", None),
        ("last week", None),
        ("2024", None),
        ("20240102", "2024-01-02T00:00:00.000Z"),
        ("2021/08/20", "2021-08-20T00:00:00.000Z"),
        ("2021/08/20 10:30", "2021-08-20T10:30:00.000Z"),
        ("2024-1-5", "2024-01-05T00:00:00.000Z"),
        ("2024-1-5 7:05 +0200", "2024-01-05T05:05:00.000Z"),
        ("20 Aug 2021", "2021-08-20T00:00:00.000Z"),
        ("Fri, 20 Aug 2021 10:00:00 GMT", "2021-08-20T10:00:00.000Z"),
        ("Fri, 20 Aug 2021 10:00:00 -0500", "2021-08-20T15:00:00.000Z"),
        ("Fri, 20 Aug 2021 10:00:00 PST", "2021-08-20T18:00:00.000Z"),
        ("1629450000", "2021-08-20T09:00:00.000Z"),
        ("1657227150278", "2022-07-07T20:52:30.278Z"),
        ('"1657227150278"', "2022-07-07T20:52:30.278Z"),
        ('"[[2021-08-20]]"', "2021-08-20T00:00:00.000Z"),
        ("[[2021-08-20]]", "2021-08-20T00:00:00.000Z"),
        ("03/04/2024", None),
        ("31 Foo 2021", None),
        ("2024-02-30", None),
        ("99999999", None),
        ("true", None),
        ("99999999999999", "5138-11-16T09:46:39.999Z"),
        ("[2024-01-02, 2024-01-03]", None),
        ("", None),
    ],
)
def test_a_moment_is_utc_with_milliseconds(text: str, moment: str | None) -> None:
    values = parse_front_matter(f"---\ndate: {text}\n---\n").values
    assert parse_moment(values.get("date")) == moment


def test_updated_comes_before_date_and_a_bad_one_is_said() -> None:
    def updated(block: str) -> tuple[str | None, list[str]]:
        page = project_page(f"---\n{block}\n---\n# A\n".encode(), "p.md", ProjectionOptions())
        return page.updated, [each.kind for each in page.diagnostics]

    said = ["front_matter_invalid"]
    assert updated("date: 2024-01-01\nupdated: 2024-02-02") == ("2024-02-02T00:00:00.000Z", [])
    assert updated("date: 2024-01-01\nupdated: soon") == ("2024-01-01T00:00:00.000Z", said)
    assert updated("date:\nupdated: ''") == (None, [])


@pytest.mark.parametrize("field", MOMENT_FIELDS)
def test_every_dialect_has_its_field_in_any_case(field: str) -> None:
    page = project_page(f"---\n{field.title()}: 2024-03-04\n---\n# A\n".encode(), "p.md", ProjectionOptions())
    assert (page.updated, page.diagnostics) == ("2024-03-04T00:00:00.000Z", ())


@pytest.mark.parametrize(
    "block, updated",
    [
        ("ms.date: 09/20/2019", "2019-09-20"),
        ("date: 2020-01-01\nlastmod: 2024-05-05", "2024-05-05"),
        ("lastmod: 2021-08-20\nmodified: 2022-02-02\nlast_modified_at: 2023-03-03", "2023-03-03"),
        ("date:\n  created: 2026-02-18\n  updated: 2026-04-13", "2026-04-13"),
        ("date:\n  created: 2026-02-18", "2026-02-18"),
        ("created: 1657224242401\nupdated: 1657227150278", "2022-07-07"),
    ],
)
def test_the_best_date_of_a_dialect_counts(block: str, updated: str) -> None:
    page = project_page(f"---\n{block}\n---\n# A\n".encode(), "p.md", ProjectionOptions())
    assert (page.updated or "")[:10] == updated
    assert page.diagnostics == ()


def test_a_date_that_a_template_fills_in_is_no_fault() -> None:
    page = project_page(
        b"---\ndate: <% tp.date.now() %>\nmodified: '{{date}}'\n---\n# A\n", "p.md", ProjectionOptions()
    )
    assert (page.updated, page.diagnostics) == (None, ())
