"""Joins: the rows of two sides by their common key, in the order they came."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orion.model import Field, Scalar, Type
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.store import StateStore, store_key
from orion.state.task import Row

SIDE, JOIN_KEY = "$side", "$join_key"
LEFT, RIGHT = 0, 1
Values = tuple[Any, ...]


@dataclass(frozen=True)
class JoinLayout:
    """The columns of a join: side, key, those of the left, those of the right, facts.

    Args:
        keeps_left: Whether left rows without a partner go out too.
        keeps_right: Whether right rows without a partner go out too.
    """

    key: Type
    left: tuple[Field, ...]
    right: tuple[Field, ...]
    keeps_left: bool
    keeps_right: bool

    @property
    def inputs(self) -> Sequence[Field]:
        """The columns of a row of either side; the other side's are null."""
        head = (Field(SIDE, Scalar.INTEGER), Field(JOIN_KEY, self.key))
        return (*head, *self.left, *self.right, *FACT_FIELDS)

    @property
    def outputs(self) -> Sequence[Field]:
        """The key, the columns of both sides, facts."""
        return (Field(JOIN_KEY, self.key), *self.left, *self.right, *FACT_FIELDS)

    def split(self, row: Row) -> tuple[int, Any, Values, Facts]:
        """Return the side, the key, the side's own columns and the facts of a row."""
        middle, end = 2 + len(self.left), 2 + len(self.left) + len(self.right)
        own = row[2:middle] if row[0] == LEFT else row[middle:end]
        return row[0], row[1], own, Facts(*row[end:])

    def joined(self, left: Values | None, right: Values | None) -> Values:
        """Return the columns of both sides; one that is missing is null."""
        return (
            *((None,) * len(self.left) if left is None else left),
            *((None,) * len(self.right) if right is None else right),
        )

    def keeps(self, side: int) -> bool:
        """Tell whether a side's rows go out without a partner."""
        return self.keeps_left if side == LEFT else self.keeps_right


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
