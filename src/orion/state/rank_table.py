"""The first rows of each key of a table, whose rows change and go: all of them are kept."""

from bisect import bisect_left, insort_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orion.model import Field, Scalar
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.file import Key
from orion.state.layout import IN, SIGN, SILENT_OUT
from orion.state.rank import Placed, RankOperator
from orion.state.store import StateStore, store_key
from orion.state.value import Row


@dataclass(frozen=True)
class RankTableOperator:
    """Takes what a table's partitions lose and gain, and gives the places that change.

    State: every row of a partition in its order, by key; a row behind the places may come up.
    """

    ranking: RankOperator

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, what is sorted by, columns, whether they are added or taken out, facts."""
        own = self.ranking
        sign = Field(SIGN, Scalar.INTEGER)
        return (*own.keys, *own.orders, *own.columns, sign, *FACT_FIELDS)

    @property
    def outputs(self) -> Sequence[Field]:
        """Columns, the rank, facts."""
        return self.ranking.outputs

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give the places that change, and a tombstone for the last one when it is empty."""
        width = len(self.ranking.keys)
        state.load(store_key(row[:width]) for row in rows)
        shown: list[Placed] | None = None
        # Copied once: what the state has given is not changed, since a batch may be given up.
        partitions: dict[Key, list[Placed]] = {}
        for row in rows:
            at, sign, own, facts = self._split(row)
            if at not in partitions:
                partitions[at] = list(state.get(at) or [])
            placed = partitions[at]
            before = placed[: self.ranking.count] if shown is None else shown
            if sign == IN:
                insort_right(placed, own, key=self._place)
            else:
                self._remove(placed, own)
            # A row that is replaced within its partition is one change, told with the new one.
            shown = before if sign == SILENT_OUT else None
            if sign != SILENT_OUT:
                yield from self._changes(before, placed[: self.ranking.count], facts)
        for at, placed in partitions.items():
            state.put(at, placed or None)

    def _split(self, row: Row) -> tuple[Key, int, Placed, Facts]:
        ranking = self.ranking
        width, middle = len(ranking.keys), len(ranking.keys) + len(ranking.orders)
        end = middle + len(ranking.columns)
        facts = Facts(*row[end + 1 :])
        own = (row[width:middle], facts.time_ms, row[middle:end])
        return store_key(row[:width]), row[end], own, facts

    def _remove(self, placed: list[Placed], own: Placed) -> None:
        first = bisect_left(placed, self._place(own), key=self._place)
        places = range(first, len(placed))
        found = next((place for place in places if placed[place][2] == own[2]), None)
        if found is None:
            # What is not a number does not equal itself, but is spelled alike.
            name = store_key(own[2])
            found = next((p for p in places if store_key(placed[p][2]) == name), None)
        if found is not None:
            del placed[found]

    def _place(self, placed: Placed) -> tuple[Any, ...]:
        return self.ranking.place_of(placed[0])

    def _changes(self, before: list[Placed], after: list[Placed], facts: Facts) -> Iterator[Row]:
        places = range(max(len(before), len(after)))
        changed = [p for p in places if _columns(before, p) != _columns(after, p)]
        for number, place in enumerate(changed):
            is_absent = place >= len(after)
            _, time, columns = before[place] if is_absent else after[place]
            tail = facts.row(number, time_ms=max(time, facts.time_ms), is_absent=is_absent)
            yield (*columns, place + 1, *tail)


def _columns(placed: list[Placed], place: int) -> tuple[Any, ...] | None:
    return placed[place][2] if place < len(placed) else None
