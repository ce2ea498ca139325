"""Records behave as frozen dataclasses do, and cost nothing to import."""

from __future__ import annotations

import pytest

from indexerd.contract.record import Record, RecordType


class Point(Record):
    x: int
    y: int = 0


class Named(Point):
    name: str = "here"


class Positive(Record):
    value: int

    def __post_init__(self) -> None:
        if self.value <= 0:
            raise ValueError(f"{self.value} is not positive")


def test_fields_come_in_order_with_those_of_the_base_first() -> None:
    assert Named.fields == ("x", "y", "name")
    assert Named(x=1).replace(name="there") == Named(x=1, y=0, name="there")
    assert repr(Named(x=1)) == "Named(x=1, y=0, name='here')"


def test_records_compare_and_hash_by_value_within_one_kind() -> None:
    assert Point(x=1) == Point(x=1, y=0)
    assert len({Point(x=1), Point(x=1, y=0), Point(x=2)}) == 2
    assert Point(x=1) != Named(x=1)
    assert Point(x=1) != (1, 0)


@pytest.mark.parametrize(
    "values, told",
    [
        ({}, "Point: x is missing; it takes x, y"),
        ({"x": 1, "z": 2}, "Point: no field z; it takes x, y"),
        ({"y": 1}, "Point: x is missing; it takes x, y"),
        ({"X": 1, "y": 1}, "Point: no field X, x is missing; it takes x, y"),
    ],
)
def test_a_field_too_few_or_too_many_is_refused_by_name(values: dict[str, int], told: str) -> None:
    with pytest.raises(TypeError) as raised:
        Point(**values)
    assert str(raised.value) == told


def test_nothing_can_be_changed_or_added() -> None:
    point = Point(x=1)
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]  # what type checkers refuse must fail when run, too
    with pytest.raises(AttributeError):
        del point.x
    with pytest.raises(AttributeError):
        point.z = 2


def test_what_must_hold_is_checked_when_made_and_when_changed() -> None:
    assert Positive(value=1).value == 1
    with pytest.raises(ValueError, match="0 is not positive"):
        Positive(value=1).replace(value=0)


def test_a_field_may_not_hide_what_the_class_says_of_itself() -> None:
    with pytest.raises(TypeError, match="cannot be called fields"):
        RecordType("Bad", (Record,), {"__annotations__": {"fields": "int"}})
