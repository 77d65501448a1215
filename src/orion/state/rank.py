"""The first rows of each key by an order: no more of them are kept than there are places."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from orion.model import Field, Scalar
from orion.sql import step
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.store import StateStore, store_key
from orion.state.value import Row

# What is kept of a row: what it is sorted by, its time, its columns.
Placed = tuple[tuple[Any, ...], int, tuple[Any, ...]]


@dataclass(frozen=True)
class RankOperator:
    """Puts each event in its place among those of its key; equal ones stay as they came.

    State: the rows that have a place, by key.

    Args:
        keys: What events are partitioned by.
        sorts: What they are sorted by, and how; the columns are in `orders`.
        columns: What a ranked row shows, besides its rank.
        is_table: Give every place whose row has changed; otherwise only the event that takes one.
    """

    keys: tuple[Field, ...]
    orders: tuple[Field, ...]
    sorts: tuple[step.Sort, ...]
    columns: tuple[Field, ...]
    number: str
    count: int
    is_table: bool

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, what is sorted by, columns, facts."""
        return (*self.keys, *self.orders, *self.columns, *FACT_FIELDS)

    @property
    def outputs(self) -> Sequence[Field]:
        """Columns, the rank, facts."""
        return (*self.columns, Field(self.number, Scalar.BIGINT), *FACT_FIELDS)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give the places that change for every event."""
        width = len(self.keys)
        state.load(store_key(row[:width]) for row in rows)
        for row in rows:
            yield from self._take(row, state)

    def _take(self, row: Row, state: StateStore) -> Iterator[Row]:
        width, middle = len(self.keys), len(self.keys) + len(self.orders)
        end = middle + len(self.columns)
        at, facts = store_key(row[:width]), Facts(*row[end:])
        placed: list[Placed] = list(state.get(at) or ())
        own = (row[width:middle], facts.time_ms, row[middle:end])
        place = bisect_right(placed, self._place(own), key=self._place)
        if place >= self.count:
            return
        placed.insert(place, own)
        del placed[self.count :]
        state.put(at, placed)
        changed = placed[place:] if self.is_table else [own]
        for number, (_, time, columns) in enumerate(changed):
            tail = facts.row(number, time_ms=max(time, facts.time_ms))
            yield (*columns, place + number + 1, *tail)

    def _place(self, placed: Placed) -> tuple[Any, ...]:
        both = zip(placed[0], self.sorts, strict=True)
        return tuple(_comparable(value, sort) for value, sort in both)


def _comparable(value: Any, sort: step.Sort) -> tuple[Any, ...]:
    if value is None:
        return (0 if sort.nulls_first else 2,)
    # What is not a number comes behind all numbers.
    plain = (value != value, value) if isinstance(value, float) else value
    return (1, _Down(plain) if sort.descending else plain)


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
