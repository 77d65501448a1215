"""What values are sorted and compared by, where that is not the values themselves."""

from functools import total_ordering
from typing import Any


@total_ordering
class Down:
    """A value that comes before the smaller ones.

    >>> sorted([1, 3, 2], key=Down)
    [3, 2, 1]
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Down) and self.value == other.value

    def __lt__(self, other: "Down") -> bool:
        return bool(other.value < self.value)

    __hash__ = None  # type: ignore[assignment]


def double_place(value: float) -> tuple[bool, float]:
    """Return what doubles compare by: NaN equals itself and follows all numbers, as in Spark.

    >>> double_place(float("nan")) > double_place(float("inf"))
    True
    """
    return (True, 0.0) if value != value else (False, value)
