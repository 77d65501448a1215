"""A table joined with another by a column that is the other's key, in two steps.

The first follows the left table by its own key and tells each foreign key who has it; the second
keeps, for each foreign key, the right row and the left rows that have it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from orion.model import Field, Scalar, Type
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.file import Key
from orion.state.layout import JOIN_KEY, LEFT, SIDE, JoinLayout, Values
from orion.state.store import StateStore, store_key
from orion.state.value import Row

OWN_KEY = "$own_key"
# Left rows that are kept in one bundle, on average at most, and how many more bundles follow then.
_TOGETHER, _MORE = 64, 4
# A left row that is kept: its own key, its columns.
_Left = tuple[Any, Values]
# Of a foreign key: its right row, how many left rows there are, in how many bundles, and the right
# row's time.
_Head = tuple[Values | None, int, int, int]


@dataclass(frozen=True)
class FollowOperator:
    """Left rows to messages for foreign keys. State: the foreign key of each left row.

    A row that leaves a foreign key tells it so, silently if there still is a row. One that comes
    where none can have had a partner is silent too: without a partner there is nothing to tell.
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
            old_key = None if kept is None else kept[0]
            # As the store tells keys apart: 0.0 and -0.0 are equal and have a place each.
            stays = not facts.is_absent and store_key((key,)) == store_key((old_key,))
            if kept is not None and (facts.is_absent or (old_key is not None and not stays)):
                tail = facts.row(0, time_ms=facts.time_ms, is_absent=True)
                yield (old_key, own_key, not facts.is_absent, *nothing, *tail)
            if not facts.is_absent:
                tail = facts.row(1, time_ms=facts.time_ms)
                yield (key, own_key, old_key is None or stays, *row[2:end], *tail)
            state.put(at, None if facts.is_absent else (key,))


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
        named = _load(rows, state)
        for row in rows:
            facts = Facts(*row[end:])
            if row[0] == LEFT:
                yield from self._left(row, facts, named)
            elif row[1] is not None:
                own = named[_head(row[1])]
                own.put_right(None if facts.is_absent else row[middle:end], facts.time_ms)
                for number, (own_key, left) in enumerate(own.lefts()):
                    yield self._joined(own_key, left, own.right, facts, facts.time_ms, number)
        for own in named.values():
            own.keep()

    def _left(self, row: Row, facts: Facts, named: Mapping[Key, "_Named"]) -> Iterator[Row]:
        key, own_key, is_silent = row[1:4]
        left = None if facts.is_absent else row[4 : 4 + len(self.layout.left)]
        right, time = None, facts.time_ms
        # A row without a foreign key waits for nobody.
        if key is not None:
            own = named[_head(key)]
            own.put_left(own_key, left)
            right, time = own.right, max(time, own.right_ms)
        if left is None:
            # One that had a foreign key may have had a partner once.
            is_told = not is_silent and (key is not None or self.layout.keeps_left)
        else:
            is_told = not is_silent or right is not None or self.layout.keeps_left
        if is_told:
            yield self._joined(own_key, left, right, facts, time, 0)

    def _joined(
        self,
        own_key: Any,
        left: Values | None,
        right: Values | None,
        facts: Facts,
        time_ms: int,
        number: int,
    ) -> Row:
        there = left is not None and (right is not None or self.layout.keeps_left)
        tail = facts.row(number, time_ms=time_ms, is_absent=not there)
        return (own_key, *self.layout.joined(left, None if left is None else right), *tail)


class _Named:
    """A foreign key: its right row, and the left rows that name it, in bundles.

    State, by foreign key: `_Head`; by foreign key and bundle: left rows by their own key. So the
    change of one left row costs the same, however many others name the same right row.
    """

    def __init__(self, key: Any, state: StateStore) -> None:
        self._key = key
        self._state = state
        self._kept: tuple[Any, ...] = state.get(_head(key)) or (None, 0, 1, 0)
        self.right: Values | None = self._kept[0]
        self._count: int = self._kept[1]
        # States of earlier versions do not tell it.
        self.right_ms: int = self._kept[3] if len(self._kept) > 3 else 0
        self._spread(self._kept[2])

    def _spread(self, bundles: int) -> None:
        self._bundles = [store_key((self._key, number)) for number in range(bundles)]

    def put_right(self, right: Values | None, time_ms: int) -> None:
        """Keep the right row and its time; None: it has gone."""
        self.right, self.right_ms = right, 0 if right is None else time_ms

    def bundle_of(self, name: Key) -> Key:
        """Return where a left row is kept, by the name of its own key."""
        if len(self._bundles) == 1:
            return self._bundles[0]
        return self._bundles[crc32(str(name).encode()) % len(self._bundles)]

    def put_left(self, own_key: Any, left: Values | None) -> None:
        """Keep a left row; None: it has gone."""
        name = store_key((own_key,))
        at = self.bundle_of(name)
        before: Mapping[Key, _Left] = self._state.get(at) or {}
        # What the state has given is not changed: a batch may be given up.
        after = {other: kept for other, kept in before.items() if other != name}
        if left is not None:
            after[name] = (own_key, left)
        self._state.put(at, after or None)
        self._count += len(after) - len(before)
        if self._count > _TOGETHER * len(self._bundles):
            self._spread_further()

    def lefts(self) -> Iterator[_Left]:
        """Give the left rows."""
        for bundle in self._state.get_all(self._bundles):
            yield from (bundle or {}).values()

    def _spread_further(self) -> None:
        """Keep the left rows in more bundles than before."""
        lefts = list(self.lefts())
        self._spread(_MORE * len(self._bundles))
        bundles: dict[Key, dict[Key, _Left]] = {at: {} for at in self._bundles}
        for own_key, left in lefts:
            name = store_key((own_key,))
            bundles[self.bundle_of(name)][name] = (own_key, left)
        self._state.put_all(list(bundles), [bundle or None for bundle in bundles.values()])

    def keep(self) -> None:
        """Make the right row part of the state, and how many left ones there are."""
        found: _Head = self.right, self._count, len(self._bundles), self.right_ms
        if found != self._kept:
            there = self.right is not None or self._count
            self._state.put(_head(self._key), found if there else None)


def _head(key: Any) -> Key:
    return store_key((key, "right"))


def _load(rows: Sequence[Row], state: StateStore) -> dict[Key, _Named]:
    """Return the foreign keys of rows, and read what these will ask for, many at a time."""
    heads = {_head(row[1]): row[1] for row in rows if row[1] is not None}
    state.load(heads)
    named = {head: _Named(key, state) for head, key in heads.items()}
    lefts = (row for row in rows if row[0] == LEFT and row[1] is not None)
    state.load(named[_head(row[1])].bundle_of(store_key((row[2],))) for row in lefts)
    return named
