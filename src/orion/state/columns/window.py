"""Time windows over whole columns: a row in each of its windows, which are groups of their own."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from orion.state.aggregates import Aggregates
from orion.state.clock import Clock
from orion.state.columns.group import (
    GroupColumns,
    GroupRows,
    change_groups,
    key_values,
    runs_in_columns,
)
from orion.state.columns.segment import Ints, Segments, codes_of
from orion.state.layout import GroupLayout
from orion.state.store import StateStore, store_key
from orion.state.window import TimeWindows


@dataclass(frozen=True)
class _Falls:
    """Rows in the windows that are open for them.

    Args:
        row: The row.
        number: Which one of the row's windows it is.
        start: Where the window begins.
        late: Rows whose windows were closed; where those begin.
    """

    row: Ints
    number: Ints
    start: Ints
    late: tuple[Ints, Ints]


def run_windows(
    layout: GroupLayout, windows: TimeWindows, table: pa.Table, state: StateStore, *, final: bool
) -> pa.Table | None:
    """Return a change for every row and window of a sorted table, or the last ones of windows."""
    if table.num_rows == 0 or not runs_in_columns(layout):
        return None
    columns, clock = GroupColumns.of(layout, table), Clock(state)
    now = clock.advance_all(columns.facts.origins, columns.facts.times)
    falls = _fall(windows, columns.facts.times, now)
    if falls is None or len(falls.row) == 0:
        return None
    codes = codes_of([pa.array(codes_of(columns.keys)[falls.row]), pa.array(falls.start)])
    segments = Segments.of(codes)
    rows = _rows(layout, windows, columns, falls, segments, is_named=final)
    changed = change_groups(layout.calls, rows, state)
    late, starts = falls.late
    closed_at = starts + windows.size_ms
    clock.drop_all(*columns.facts.of_late(late), closed_at, now[late], columns.sign[late])
    clock.keep()
    closed = close_windows(Aggregates(layout.calls), state, int(now.max()))
    if final:
        dues = np.array([row[-1] + windows.grace_ms for row, _ in closed], np.int64)
        times = np.array([latest for _, latest in closed], np.int64)
        return columns.last_changes(layout, [row for row, _ in closed], times, dues, now)
    bounds = [pa.array(falls.start), pa.array(falls.start + windows.size_ms)]
    return columns.output(changed, falls.row, segments.positions, falls.number, bounds)


def _rows(
    layout: GroupLayout,
    windows: TimeWindows,
    columns: GroupColumns,
    falls: _Falls,
    segments: Segments,
    *,
    is_named: bool,
) -> GroupRows:
    heads = segments.order[segments.first]
    starts = falls.start[heads].tolist()
    keys = key_values(layout.keys, columns.keys, falls.row[heads])
    names = [store_key((*key, start)) for key, start in zip(keys, starts, strict=True)]
    rows = columns.rows(segments, falls.row[segments.order], names)
    dues = [windows.due(start) for start in starts]
    if not is_named:
        return replace(rows, dues=dues)
    titles = [
        (key, start, start + windows.size_ms) for key, start in zip(keys, starts, strict=True)
    ]
    return replace(rows, dues=dues, titles=titles)


def close_windows(
    aggregates: Aggregates, state: StateStore, now: int
) -> list[tuple[tuple[Any, ...], int]]:
    """Forget the windows that are over; return their last changes and times, the earliest first."""
    closed = []
    for name in state.due_keys(now):
        states, latest, *title = state.get(name)
        state.put(name, None)
        if title:
            key, start, end = title
            results = aggregates.results(states)
            closed.append(((*key, *results, *[None] * len(results), False, start, end), latest))
    return closed


def _fall(windows: TimeWindows, times: Ints, now: Ints) -> _Falls | None:
    """Return the windows of rows; None where time went back behind a window that was closed."""
    size, advance = windows.size_ms, windows.advance_ms
    first = np.maximum(0, times - size + advance) // advance
    counts = np.maximum(0, times // advance - first + 1)
    row = np.repeat(np.arange(len(times)), counts)
    number = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    start = (first[row] + number) * advance
    due = start + size + windows.grace_ms
    is_open = due > now[row]
    if np.any(is_open & (due <= np.maximum.accumulate(now)[row])):
        return None
    late = row[~is_open], start[~is_open]
    return _Falls(row[is_open], number[is_open], start[is_open], late)
