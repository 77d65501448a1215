"""The order of rows by several expressions, each up or down, nulls last or first."""

from collections.abc import Callable, Sequence
from typing import Any

from orion.model import Down, double_place
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
    if isinstance(comparable, float):
        comparable = double_place(comparable)
    return (1, Down(comparable) if is_down else comparable)
