"""The first rows of each key by an order: no more of them are kept than there are places."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orion.model import Down, Field, Scalar, double_place
from orion.sql import step
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.file import Key
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
        run = _RankRun(self, state)
        for row in rows:
            yield from run.take(row)

    def place_of(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what tells, compared with others, where a row stands that is sorted by values."""
        both = zip(values, self.sorts, strict=True)
        return tuple([_comparable(value, sort) for value, sort in both])


class _RankRun:
    """One batch of a ranking."""

    def __init__(self, operator: RankOperator, state: StateStore) -> None:
        self._operator = operator
        self._state = state
        # What the rows of each key are sorted by, computed once.
        self._known: dict[Key, list[tuple[Any, ...]]] = {}

    def take(self, row: Row) -> Iterator[Row]:
        operator = self._operator
        width, middle = len(operator.keys), len(operator.keys) + len(operator.orders)
        end = middle + len(operator.columns)
        at, orders = store_key(row[:width]), row[width:middle]
        placed: list[Placed] = self._state.get(at) or []
        if at not in self._known:
            self._known[at] = [operator.place_of(values) for values, _, _ in placed]
        known, own = self._known[at], operator.place_of(orders)
        place = bisect_right(known, own)
        if place >= operator.count:
            return
        facts = Facts(*row[end:])
        placed = [*placed[:place], (orders, facts.time_ms, row[middle:end]), *placed[place:]]
        known.insert(place, own)
        del placed[operator.count :], known[operator.count :]
        self._state.put(at, placed)
        changed = placed[place:] if operator.is_table else placed[place : place + 1]
        for number, (_, time, columns) in enumerate(changed):
            tail = facts.row(number, time_ms=max(time, facts.time_ms))
            yield (*columns, place + number + 1, *tail)


def _comparable(value: Any, sort: step.Sort) -> tuple[Any, ...]:
    if value is None:
        return (0 if sort.nulls_first else 2,)
    if isinstance(value, float):
        value = double_place(value)
    return (1, Down(value) if sort.descending else value)
