"""Values in the opposite of their own order."""

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
