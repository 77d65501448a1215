"""GROUP BY: one change of the group for every row, in order; with time windows or without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from orion.model import Field
from orion.state.aggregates import Aggregates
from orion.state.clock import Clock
from orion.state.columns import close_windows, run_groups, run_windows
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.layout import BOUNDS, IN, SILENT_OUT, GroupLayout
from orion.state.store import StateStore, store_key
from orion.state.value import Row
from orion.state.window import TimeWindows


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
        return run_groups(self.layout, table, state)

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
            change = aggregates.add if sign >= IN else aggregates.undo
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

    def run_table(self, table: pa.Table, state: StateStore) -> pa.Table | None:
        """Give a change for every row and window of a sorted table; None: only rows will do."""
        return run_windows(self.layout, self.windows, table, state, final=self.final)

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
        key, arguments, rows, facts = self._layout.split(row)
        now = self.clock.advance(facts.origin, facts.time_ms)
        for number, start in enumerate(self._windows.starts(facts.time_ms)):
            due = self._windows.due(start)
            if due <= now:
                self.clock.drop(facts, self._bounds(start)[1], now, rows)
                continue
            change = self._change(key, start, arguments, facts)
            if not self._operator.final:
                yield (*change, *self._bounds(start), *facts.row(number, time_ms=self._latest))
        closed = close_windows(self._aggregates, self._state, now)
        if self._operator.final:
            for number, (last, latest) in enumerate(closed):
                yield (*last, *facts.row(number, time_ms=latest))

    def _change(
        self, key: tuple[Any, ...], start: int, arguments: list[tuple[Any, ...]], facts: Facts
    ) -> tuple[Any, ...]:
        """Add a row to a window; return key, results and results before."""
        at = store_key((*key, start))
        kept = self._state.get(at)
        states, latest = kept[:2] if kept else (self._aggregates.initial(), facts.time_ms)
        old = self._aggregates.results(states)
        states = self._aggregates.add(states, arguments)
        self._latest = max(latest, facts.time_ms)
        # A window that will be told of when it closes must know what it is.
        name = (key, *self._bounds(start)) if self._operator.final else ()
        self._state.put(at, (states, self._latest, *name), self._windows.due(start))
        return (*key, *self._aggregates.results(states), *old, kept is not None)

    def _bounds(self, start: int) -> tuple[int, int]:
        return start, start + self._windows.size_ms
