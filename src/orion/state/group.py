"""GROUP BY: one change of the group for every row, in order; with time windows or without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from orion.formats import arrow_type
from orion.model import Field, Scalar
from orion.sql import Aggregation, step
from orion.state.clock import Clock
from orion.state.column_group import can_run, cast_results, run_columns
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.store import Key, StateStore, store_key
from orion.state.task import Row
from orion.state.window import TimeWindows

SIGN = "$sign"
# A row is added, taken out, or taken out without a word since the same group gets another.
IN, OUT, SILENT_OUT = 1, -1, -2
OLD = "$old."
HAD_OLD = "$had_old"
_STARTS = "$starts"
BOUNDS = (Field("WINDOWSTART", Scalar.BIGINT), Field("WINDOWEND", Scalar.BIGINT))


@dataclass(frozen=True)
class GroupLayout:
    """The columns of groups: keys, and the arguments and result of each aggregate."""

    keys: tuple[Field, ...]
    calls: tuple[step.AggregateCall, ...]

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, arguments, whether the row is added or taken out, facts."""
        return (*self.columns, Field(SIGN, Scalar.INTEGER), *FACT_FIELDS)

    @property
    def columns(self) -> tuple[Field, ...]:
        """The keys and the arguments of each aggregate."""
        arguments = (
            Field(f"{call.name}.{number}", argument.type or Scalar.STRING)
            for call in self.calls
            for number, argument in enumerate(call.arguments)
        )
        return (*self.keys, *arguments)

    @property
    def results(self) -> tuple[Field, ...]:
        """The result of each aggregate."""
        return tuple(Field(call.name, call.function.returns) for call in self.calls)

    @property
    def old_results(self) -> tuple[Field, ...]:
        """The results before the row, and whether there were any."""
        old = (Field(f"{OLD}{field.name}", field.type) for field in self.results)
        return (*old, Field(HAD_OLD, Scalar.BOOLEAN))

    def split(self, row: Row) -> tuple[tuple[Any, ...], list[tuple[Any, ...]], int, Facts]:
        """Return the key, the arguments of each aggregate, the sign and the facts of a row."""
        at = len(self.keys)
        arguments = []
        for call in self.calls:
            arguments.append(row[at : at + len(call.arguments)])
            at += len(call.arguments)
        return row[: len(self.keys)], arguments, row[at], Facts(*row[at + 1 :])


class Aggregates:
    """The aggregates of a group, as one state."""

    def __init__(self, calls: Sequence[step.AggregateCall]) -> None:
        self._parts: list[Aggregation] = [call.aggregation() for call in calls]

    def initial(self) -> list[Any]:
        """Return the state of a group without rows."""
        return [part.initial() for part in self._parts]

    def add(self, states: list[Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Return the state with a row added."""
        zipped = zip(self._parts, states, arguments, strict=True)
        return [part.add(state, *given) for part, state, given in zipped]

    def undo(self, states: list[Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Return the state with a row taken out."""
        zipped = zip(self._parts, states, arguments, strict=True)
        return [part.undo(state, *given) if part.undo else state for part, state, given in zipped]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Return the state of two groups together."""
        zipped = zip(self._parts, one, other, strict=True)
        return [part.merge(left, right) for part, left, right in zipped]

    def results(self, states: list[Any]) -> list[Any]:
        """Return the values of a state."""
        return [part.result(state) for part, state in zip(self._parts, states, strict=True)]


@dataclass(frozen=True)
class GroupOperator:
    """Groups without windows. State: the aggregates and the latest time, by key."""

    layout: GroupLayout

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, arguments, sign, facts."""
        return self.layout.inputs

    @property
    def outputs(self) -> Sequence[Field]:
        """Keys, results, results before, facts."""
        layout = self.layout
        return (*layout.keys, *layout.results, *layout.old_results, *FACT_FIELDS)

    def run_table(self, table: pa.Table, state: StateStore) -> pa.Table | None:
        """Give one change for every row of a sorted table; None where only rows will do."""
        if not can_run(self.layout.keys, self.layout.calls):
            return None
        found = run_columns(table, len(self.layout.keys), self.layout.calls, state)
        if found is None:
            return None
        return cast_results(found, [arrow_type(field.type) for field in self.outputs])

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give one change for every row."""
        aggregates = Aggregates(self.layout.calls)
        width = len(self.layout.keys)
        state.load(store_key(row[:width]) for row in rows)
        pending: list[Any] | None = None
        for row in rows:
            key, arguments, sign, facts = self.layout.split(row)
            at = store_key(key)
            kept = state.get(at)
            states, latest = kept or (aggregates.initial(), facts.time_ms)
            old = aggregates.results(states)
            change = aggregates.add if sign == IN else aggregates.undo
            states = change(states, arguments)
            latest = max(latest, facts.time_ms)
            before = old if pending is None else pending
            pending = before if sign == SILENT_OUT else None
            state.put(at, (states, latest))
            if sign != SILENT_OUT:
                tail = facts.row(0, time_ms=latest)
                yield (*key, *aggregates.results(states), *before, kept is not None, *tail)


@dataclass(frozen=True)
class WindowOperator:
    """Groups by key and time window. State: by key and window, dropped when the window closes.

    Args:
        final: Give only the last result of a window, when it closes.
    """

    layout: GroupLayout
    windows: TimeWindows
    final: bool = False

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, arguments, sign, facts."""
        return self.layout.inputs

    @property
    def outputs(self) -> Sequence[Field]:
        """Keys, results, results before, the window's bounds, facts."""
        layout = self.layout
        return (*layout.keys, *layout.results, *layout.old_results, *BOUNDS, *FACT_FIELDS)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give a change for every row and window, or the last ones of windows that close."""
        run = _WindowRun(self, state)
        for row in rows:
            yield from run.take(row)
        run.clock.keep()


class _WindowRun:
    """One batch of windows."""

    def __init__(self, operator: WindowOperator, state: StateStore) -> None:
        self._operator = operator
        self._layout = operator.layout
        self._windows = operator.windows
        self._state = state
        self.clock = Clock(state)

    @cached_property
    def _aggregates(self) -> Aggregates:
        return Aggregates(self._layout.calls)

    def take(self, row: Row) -> Iterator[Row]:
        key, arguments, _, facts = self._layout.split(row)
        now = self.clock.advance(facts.origin, facts.time_ms)
        for number, start in enumerate(self._windows.starts(facts.time_ms)):
            if self._windows.is_closed(start, now):
                self.clock.drop()
                continue
            change = self._change(key, start, arguments, facts)
            if not self._operator.final:
                yield (*change, *self._bounds(start), *facts.row(number, time_ms=self._latest))
        yield from self._close(now, facts)

    def _change(
        self, key: tuple[Any, ...], start: int, arguments: list[tuple[Any, ...]], facts: Facts
    ) -> tuple[Any, ...]:
        """Add a row to a window; return key, results and results before."""
        at = store_key((*key, start))
        kept = self._state.get(at)
        states, latest = kept or (self._aggregates.initial(), facts.time_ms)
        old = self._aggregates.results(states)
        states = self._aggregates.add(states, arguments)
        self._latest = max(latest, facts.time_ms)
        self._state.put(at, (states, self._latest))
        if kept is None:
            self._note(start, at, key)
        return (*key, *self._aggregates.results(states), *old, kept is not None)

    def _bounds(self, start: int) -> tuple[int, int]:
        return start, start + self._windows.size_ms

    def _note(self, start: int, at: Key, key: tuple[Any, ...]) -> None:
        """Remember which windows are open, so that they can be closed."""
        starts: list[int] = self._state.get(_STARTS) or []
        if start not in starts:
            self._state.put(_STARTS, sorted([*starts, start]))
        name = f"{_STARTS}:{start}"
        self._state.put(name, {**(self._state.get(name) or {}), at: key})

    def _close(self, now: int, facts: Facts) -> Iterator[Row]:
        starts: list[int] = self._state.get(_STARTS) or []
        closed = [start for start in starts if self._windows.is_closed(start, now)]
        if not closed:
            return
        self._state.put(_STARTS, [start for start in starts if start not in closed])
        number = 0
        for start in closed:
            name = f"{_STARTS}:{start}"
            for at, key in (self._state.get(name) or {}).items():
                if self._operator.final:
                    yield self._last(at, key, start, facts, number)
                    number += 1
                self._state.put(at, None)
            self._state.put(name, None)

    def _last(self, at: Key, key: tuple[Any, ...], start: int, facts: Facts, number: int) -> Row:
        states, latest = self._state.get(at)
        old = [None] * len(self._layout.results)
        return (
            *key,
            *self._aggregates.results(states),
            *old,
            False,
            *self._bounds(start),
            *facts.row(number, time_ms=latest),
        )
