"""The order of rows by several expressions, each up or down, nulls last or first."""

from collections.abc import Callable, Sequence
from functools import total_ordering
from typing import Any

from orion.sql import Computation, answer, typed
from orion.views.reader import Row, hashable

Compute = Callable[[typed.Typed], Computation]


def sort_key(
    sortings: Sequence[answer.Sorting], compute: Compute
) -> Callable[[Row], tuple[Any, ...]]:
    """Return what rows are sorted by."""
    parts = [(compute(s.expression), s.descending, s.nulls_first) for s in sortings]

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(_place(value(row), down, first) for value, down, first in parts)

    return key


def _place(value: Any, is_down: bool, nulls_first: bool) -> tuple[Any, ...]:
    if value is None:
        return (0 if nulls_first else 2,)
    comparable = hashable(value)
    return (1, _Down(comparable) if is_down else comparable)


@total_ordering
class _Down:
    """A value that comes before the smaller ones."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Down) and self.value == other.value

    def __lt__(self, other: "_Down") -> bool:
        return bool(other.value < self.value)

    __hash__ = None  # type: ignore[assignment]
