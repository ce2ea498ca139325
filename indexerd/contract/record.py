"""Frozen, slotted records that type checkers read as dataclasses, for what a search imports.

They stand in for `dataclasses`, whose import costs a search a third of what it may take to start
(docs/decisions/). They refuse: positional arguments, mutation, fields beyond those declared.
"""

from __future__ import annotations

# Type checkers know it by this name; importing typing for it costs as much as opening the index.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        """Stand in for `typing.dataclass_transform`, which does nothing when the program runs."""
        return lambda decorated: decorated


_TAKEN = frozenset({"fields", "defaults", "setters"})  # what every record class says of itself


@dataclass_transform(frozen_default=True, kw_only_default=True)
class RecordType(type):
    """Turns the annotations of a class body into slots and keeps the values given there as defaults."""

    fields: tuple[str, ...]
    defaults: dict[str, Any]
    setters: dict[str, Callable[[Record, Any], None]]  # past the refusal below; twice as fast as by name

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> RecordType:
        """Make the class; fields of the bases come first."""
        own = tuple(namespace.get("__annotations__", ()))
        if taken := _TAKEN.intersection(own):
            raise TypeError(f"{name}: a field cannot be called {min(taken)}")
        defaults = {field: namespace.pop(field) for field in own if field in namespace}
        namespace["__slots__"] = own
        made = super().__new__(cls, name, bases, namespace)
        parent = bases[0] if bases else None
        made.fields = (*parent.fields, *own) if isinstance(parent, RecordType) else own
        made.defaults = {**parent.defaults, **defaults} if isinstance(parent, RecordType) else defaults
        made.setters = {field: getattr(made, field).__set__ for field in made.fields}
        return made


def _wrong_fields(kind: RecordType, given: Iterable[str]) -> str:
    """Say which fields are missing, which are unknown, and which the record has."""
    names = tuple(given)
    wrong = [f"no field {name}" for name in names if name not in kind.fields]
    missing = [f"{name} is missing" for name in kind.fields if name not in names]
    return f"{kind.__name__}: {', '.join(wrong + missing)}; it takes {', '.join(kind.fields)}"


class Record(metaclass=RecordType):
    """The base of every record: built by keyword, compared by value, never changed."""

    def __init__(self, **values: Any) -> None:
        """Set every field; TypeError on one too few or too many."""
        kind = type(self)
        given = {**kind.defaults, **values} if len(values) < len(kind.fields) else values
        if given.keys() != kind.setters.keys():
            raise TypeError(_wrong_fields(kind, {**kind.defaults, **values}))
        for field, put in kind.setters.items():
            put(self, given[field])
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check what must hold between the fields; records that have such a rule say it here."""

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: records are frozen."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name}")

    def __delattr__(self, name: str) -> None:
        """Refuse: records are frozen."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name}")

    def __eq__(self, other: object) -> bool:
        """Tell whether both are of one kind and every field is equal."""
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in type(self).fields)

    def __hash__(self) -> int:
        """Hash by value, for records whose fields can be hashed."""
        return hash(tuple(getattr(self, field) for field in type(self).fields))

    def __repr__(self) -> str:
        """Show the call that makes an equal record."""
        shown = ", ".join(f"{field}={getattr(self, field)!r}" for field in type(self).fields)
        return f"{type(self).__name__}({shown})"

    @classmethod
    def from_row(cls, row: Sequence[Any], **readers: Callable[[Any], Any]) -> Self:
        """Make a record of a row whose columns are its fields, in order.

        `readers` turn a column into a field. ValueError where there are more or fewer columns than fields.
        """
        values = dict(zip(cls.fields, row, strict=True))
        for field, read in readers.items():
            values[field] = read(values[field])
        return cls(**values)

    def replace(self, **changes: Any) -> Self:
        """Make a copy with some fields changed."""
        return type(self)(**{field: getattr(self, field) for field in type(self).fields} | changes)
