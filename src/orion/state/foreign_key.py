"""A table joined with another by a column that is the other's key, in two steps.

The first follows the left table by its own key and tells each foreign key who has it; the second
keeps, for each foreign key, the right row and the left rows that have it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orion.model import Field, Scalar, Type
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.layout import JOIN_KEY, LEFT, SIDE, JoinLayout, Values
from orion.state.store import StateStore, store_key
from orion.state.value import Row

OWN_KEY = "$own_key"


@dataclass(frozen=True)
class FollowOperator:
    """Left rows to messages for foreign keys. State: the foreign key of each left row.

    A row that leaves a foreign key tells it so, silently if another one takes it up.
    """

    key: Type
    own_key: Type
    left: tuple[Field, ...]

    @property
    def inputs(self) -> Sequence[Field]:
        """The row's own key, its foreign key, its columns, facts."""
        head = (Field(OWN_KEY, self.own_key), Field(JOIN_KEY, self.key))
        return (*head, *self.left, *FACT_FIELDS)

    @property
    def outputs(self) -> Sequence[Field]:
        """The foreign key, the row's own key, whether to be silent, its columns, facts."""
        silent = Field("$silent", Scalar.BOOLEAN)
        head = (Field(JOIN_KEY, self.key), Field(OWN_KEY, self.own_key), silent)
        return (*head, *self.left, *FACT_FIELDS)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give up to two messages for every change."""
        state.load(store_key((row[0],)) for row in rows)
        end = 2 + len(self.left)
        nothing = (None,) * len(self.left)
        for row in rows:
            own_key, key, facts = row[0], row[1], Facts(*row[end:])
            if own_key is None:
                continue
            at = store_key((own_key,))
            kept = state.get(at)
            new_key = None if facts.is_absent else key
            # A row without a foreign key has no partner, but had one perhaps.
            if kept is not None and kept != (new_key,):
                silent = new_key is not None
                tail = facts.row(0, time_ms=facts.time_ms, is_absent=True)
                yield (kept[0], own_key, silent, *nothing, *tail)
            if not facts.is_absent:
                tail = facts.row(1, time_ms=facts.time_ms)
                yield (key, own_key, False, *row[2:end], *tail)
            state.put(at, None if facts.is_absent else (new_key,))


@dataclass(frozen=True)
class ForeignKeyOperator:
    """Right rows and the left rows that name them. State, by foreign key: both."""

    layout: JoinLayout
    own_key: Type

    @property
    def inputs(self) -> Sequence[Field]:
        """Side, key, the left row's own key, whether to be silent, columns, facts."""
        own, silent = Field(OWN_KEY, self.own_key), Field("$silent", Scalar.BOOLEAN)
        head = (Field(SIDE, Scalar.INTEGER), Field(JOIN_KEY, self.layout.key), own, silent)
        return (*head, *self.layout.left, *self.layout.right, *FACT_FIELDS)

    @property
    def outputs(self) -> Sequence[Field]:
        """The left row's own key, the columns of both sides, facts."""
        key = Field(JOIN_KEY, self.own_key)
        return (key, *self.layout.left, *self.layout.right, *FACT_FIELDS)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give a change for a left row, or for every left row that names a right one."""
        middle = 4 + len(self.layout.left)
        end = middle + len(self.layout.right)
        for row in rows:
            facts = Facts(*row[end:])
            at = store_key((row[1],))
            kept: tuple[Values | None, dict[Any, Any]] = state.get(at) or (None, {})
            if row[0] == LEFT:
                yield from self._left(row, kept, facts, state, at)
            elif row[1] is not None:
                right = None if facts.is_absent else row[middle:end]
                state.put(at, (right, kept[1]) if right is not None or kept[1] else None)
                for number, (own_key, left) in enumerate(kept[1].values()):
                    yield self._joined(own_key, left, right, facts, number)

    def _left(
        self,
        row: Row,
        kept: tuple[Values | None, dict[Any, Any]],
        facts: Facts,
        state: StateStore,
        at: Any,
    ) -> Iterator[Row]:
        own_key, is_silent = row[2], row[3]
        named = store_key((own_key,))
        followers = {k: v for k, v in kept[1].items() if k != named}
        if facts.is_absent:
            state.put(at, (kept[0], followers) if kept[0] is not None or followers else None)
            if not is_silent and (kept[0] is not None or self.layout.keeps_left):
                yield self._joined(own_key, None, None, facts, 0)
            return
        left = row[4 : 4 + len(self.layout.left)]
        right = kept[0] if row[1] is not None else None
        state.put(at, (kept[0], {**followers, named: (own_key, left)}))
        yield self._joined(own_key, left, right, facts, 0)

    def _joined(
        self, own_key: Any, left: Values | None, right: Values | None, facts: Facts, number: int
    ) -> Row:
        there = left is not None and (right is not None or self.layout.keeps_left)
        tail = facts.row(number, time_ms=facts.time_ms, is_absent=not there)
        return (own_key, *self.layout.joined(left, right), *tail)
