"""What every part of a tree has: its place in the text; and the words that all of them share.

Places take no part in equality, so that a tree written out and read again is the same tree.
"""

import enum
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Place:
    """Where something stands: offsets in the statement's text; line and column count from 1."""

    start: int = 0
    end: int = 0
    line: int = 1
    column: int = 1


@dataclass(frozen=True, kw_only=True)
class Node:
    """Something that stands in the text."""

    place: Place = field(default_factory=Place, compare=False, repr=False)


@dataclass(frozen=True)
class Name(Node):
    """An identifier: upper case unless it was quoted; how it was written does not tell it apart."""

    text: str
    quoted: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return self.text


class TimeUnit(enum.Enum):
    """A unit of time by its plural, with its length in milliseconds."""

    DAYS = 86_400_000
    HOURS = 3_600_000
    MINUTES = 60_000
    SECONDS = 1_000
    MILLISECONDS = 1


@dataclass(frozen=True)
class Duration(Node):
    """An amount of a unit, as windows and joins write it."""

    amount: int
    unit: TimeUnit

    @property
    def ms(self) -> int:
        """The length in milliseconds."""
        return self.amount * self.unit.value
