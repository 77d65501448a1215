"""Joins: the rows of two sides by their common key, in the order they came."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from orion.model import Field
from orion.state.columns import run_stream_table
from orion.state.layout import LEFT, RIGHT, JoinLayout, Values
from orion.state.store import StateStore, store_key
from orion.state.value import Row


@dataclass(frozen=True)
class JoinOperator:
    """What all joins have: rows of either side in, rows of both out."""

    layout: JoinLayout

    @property
    def inputs(self) -> Sequence[Field]:
        """See the layout."""
        return self.layout.inputs

    @property
    def outputs(self) -> Sequence[Field]:
        """See the layout."""
        return self.layout.outputs


@dataclass(frozen=True)
class StreamTableOperator(JoinOperator):
    """Each event with the table's row as it is when the event comes. State: the table."""

    def run_table(self, table: pa.Table, state: StateStore) -> pa.Table | None:
        """Give up to one row for every event of a sorted table; None where only rows will do."""
        return run_stream_table(self.layout, table, state)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give up to one row for every event."""
        state.load(store_key((row[1],)) for row in rows)
        for row in rows:
            side, key, own, facts = self.layout.split(row)
            if key is None:
                continue
            at = store_key((key,))
            if side == RIGHT:
                state.put(at, None if facts.is_absent else own)
                continue
            found = state.get(at)
            if facts.is_absent or (found is None and not self.layout.keeps_left):
                continue
            joined = self.layout.joined(own, found)
            yield (key, *joined, *facts.row(0, time_ms=facts.time_ms))


@dataclass(frozen=True)
class TableTableOperator(JoinOperator):
    """The rows of two tables with the same key. State: the row of each side, by key."""

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give up to one change for every change of a side."""
        state.load(store_key((row[1],)) for row in rows)
        for row in rows:
            side, key, own, facts = self.layout.split(row)
            if key is None:
                continue
            at = store_key((key,))
            kept = state.get(at) or ((None, 0), (None, 0))
            old, (other, other_time) = kept[side][0], kept[1 - side]
            new = None if facts.is_absent else own
            mine = (new, facts.time_ms)
            pair = (mine, kept[RIGHT]) if side == LEFT else (kept[LEFT], mine)
            state.put(at, None if new is None and other is None else pair)
            if other is None and not self.layout.keeps(side):
                continue
            if new is None and old is None and other is None:
                continue
            left, right = pair[LEFT][0], pair[RIGHT][0]
            time = facts.time_ms if other is None else max(facts.time_ms, other_time)
            joined = self.layout.joined(left, right)
            is_absent = not self._is_there(left, right)
            yield (key, *joined, *facts.row(0, time_ms=time, is_absent=is_absent))

    def _is_there(self, left: Values | None, right: Values | None) -> bool:
        if left is not None and right is not None:
            return True
        if left is not None:
            return self.layout.keeps_left
        return right is not None and self.layout.keeps_right
