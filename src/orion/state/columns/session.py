"""Sessions over whole columns, of keys whose records come in order or nearly so.

A record that lies before its key's last session may join others together; such keys are strays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from orion.state.aggregates import Aggregates
from orion.state.clock import Clock
from orion.state.columns.group import (
    GroupColumns,
    key_values,
    make_results,
    runs_in_columns,
)
from orion.state.columns.segment import Flags, Ints, Segments, codes_of, take
from orion.state.file import Key
from orion.state.layout import GroupLayout
from orion.state.store import StateStore, store_key
from orion.state.window import SessionWindows

# Its first and last moment, and the states of its aggregates.
Session = tuple[int, int, list[Any]]
# Before all times.
_NOTHING: Session = (-(1 << 60), -(1 << 60), [])


@dataclass(frozen=True)
class _Course:
    """How sessions go on with the rows of their keys, in the order of keys.

    Args:
        begins: Whether a row begins a session.
        parts: The rows by session.
        start: Where a row's session begins; the end behind it and before it likewise.
        is_stray: Whether the key of a row cannot go by columns.
    """

    begins: Flags
    parts: Segments
    start: Ints
    end: Ints
    end_before: Ints
    is_stray: Flags


class SessionColumns:
    """The rows of a batch, and the sessions of their keys."""

    def __init__(
        self,
        layout: GroupLayout,
        windows: SessionWindows,
        columns: GroupColumns,
        clock: Clock,
        now: Ints,
        *,
        final: bool,
    ) -> None:
        self.clock, self.now = clock, now
        self.strays: Ints = np.zeros(0, np.int64)
        self._layout, self._windows, self._columns = layout, windows, columns
        self._is_final = final

    @classmethod
    def of(
        cls,
        layout: GroupLayout,
        windows: SessionWindows,
        table: pa.Table,
        state: StateStore,
        *,
        final: bool,
    ) -> "SessionColumns | None":
        """Take a sorted table; None where only rows will do."""
        if table.num_rows == 0 or not runs_in_columns(layout):
            return None
        columns, clock = GroupColumns.of(layout, table), Clock(state)
        before = clock.now_ms
        now = clock.advance_all(columns.facts.origins, columns.facts.times)
        made = cls(layout, windows, columns, clock, now, final=final)
        goes_back = bool(np.any(np.diff(now, prepend=before) < 0))
        return None if goes_back and made._has_ended(state) else made

    def _has_ended(self, state: StateStore) -> bool:
        """Tell whether a session may be over at some moment of the batch and not at a later one."""
        over = int(self.now.max()) - self._windows.due(0)
        names = self._keys(np.arange(len(self.now)))[1]
        ends: list[int] = [s[1] for kept in state.get_all(names) if kept for s in kept[0]]
        return min([int(self._columns.facts.times.min()), *ends]) <= over

    def _keys(self, rows: Ints) -> tuple[Segments, list[Key], list[tuple[object, ...]]]:
        columns = [take(column, rows) for column in self._columns.keys]
        segments = Segments.of(codes_of(columns))
        heads = segments.order[segments.first]
        keys = key_values(self._layout.keys, columns, heads)
        return segments, [store_key(key) for key in keys], keys

    def run(self, state: StateStore) -> pa.Table | None:
        """Take all rows but the strays; return their changes, if these are to be told."""
        rows = np.arange(len(self.now))
        segments, names, keys = self._keys(rows)
        kept = [[] if value is None else value[0] for value in state.get_all(names)]
        course = self._course(segments, rows, kept)
        if course.is_stray.any():
            stray = course.is_stray[segments.positions]
            self.strays, rows = np.flatnonzero(stray), np.flatnonzero(~stray)
            if not len(rows):
                return None
            segments, names, keys = self._keys(rows)
            kept = [[] if value is None else value[0] for value in state.get_all(names)]
            course = self._course(segments, rows, kept)
        made = self._make(rows, segments, course, kept)
        found = self._found(kept, segments, course, [part.states for part in made])
        dues = [self._windows.due(min([end for _, end, _ in sessions])) for sessions in found]
        values: list[tuple[Any, ...]] = [(sessions,) for sessions in found]
        if self._is_final:
            values = list(zip(found, keys, strict=True))
        state.put_all(names, values, dues)
        if self._is_final:
            return None
        results = [pa.concat_arrays([part.results, part.before]) for part in made]
        return self._changes(rows, segments, course, results)

    def _course(self, segments: Segments, rows: Ints, kept: Sequence[list[Session]]) -> _Course:
        order = rows[segments.order]
        times = self._columns.facts.times[order]
        # Sessions that end later can be reached by a row.
        over = self.now[order] - self._windows.due(0)
        latest = [_latest(sessions) for sessions in kept]
        starts = np.array([start for start, _, _ in latest], np.int64)
        ends = np.array([end for _, end, _ in latest], np.int64)
        reached = segments.running_max(times, ends)
        before = np.concatenate([reached, ends])[segments.previous]
        begins = (times > before + self._windows.gap_ms) | (before <= over)
        parts = segments.split(begins)
        heads = parts.first[parts.group]
        start = np.where(begins[heads], times[heads], starts[segments.group])
        is_odd = (times < start) | (times <= over)
        is_stray = np.bitwise_or.reduceat(is_odd, segments.first)[segments.group]
        return _Course(begins, parts, start, reached, before, is_stray)

    def _make(
        self, rows: Ints, segments: Segments, course: _Course, kept: Sequence[list[Session]]
    ) -> Any:
        parts = course.parts
        goes_on = (~course.begins[parts.first]).tolist()
        groups = segments.group[parts.first].tolist()
        states = [
            _latest(kept[group])[2] if on else None
            for group, on in zip(groups, goes_on, strict=True)
        ]
        given = self._columns.rows(parts, rows[segments.order], ())
        return make_results(self._layout.calls, given, states)

    @staticmethod
    def _found(
        kept: Sequence[list[Session]],
        segments: Segments,
        course: _Course,
        states: Sequence[list[Any]],
    ) -> list[list[Session]]:
        """Return the sessions of each key behind its rows."""
        parts = course.parts
        ends, starts = course.end[parts.last].tolist(), course.start[parts.first].tolist()
        goes_on = (~course.begins[parts.first]).tolist()
        found: list[list[Session]] = [list(sessions) for sessions in kept]
        groups = segments.group[parts.first].tolist()
        for number, (group, own) in enumerate(zip(groups, zip(*states, strict=True), strict=True)):
            session = (starts[number], ends[number], list(own))
            if goes_on[number]:
                # Where it stood: sessions lie in the order of their first records.
                found[group][kept[group].index(_latest(kept[group]))] = session
            else:
                found[group].append(session)
        return found

    def last_changes(self, closed: Sequence[tuple[tuple[Any, ...], Session]]) -> pa.Table:
        """Return sessions that are over, given in the order of their ends, with their keys."""
        aggregates = Aggregates(self._layout.calls)
        nothing = (*[None] * len(self._layout.calls), False)
        rows = [
            (*key, *aggregates.results(states), *nothing, start, end)
            for key, (start, end, states) in closed
        ]
        ends = np.array([end for _, (_, end, _) in closed], np.int64)
        dues = ends + self._windows.due(0)
        return self._columns.last_changes(self._layout, rows, ends, dues, self.now)

    def _changes(
        self, rows: Ints, segments: Segments, course: _Course, results: Sequence[pa.Array]
    ) -> pa.Table:
        """Return, in the order of rows, a row's session taken back as it was, and as it is now."""
        place = segments.positions
        count = len(place)
        times = self._columns.facts.times[rows]
        begins, start = course.begins[place], course.start[place]
        end, before = course.end[place], course.end_before[place]
        grown = ~begins & ((start != times) | (end != times))
        given = np.column_stack([grown, np.ones(count, bool)]).ravel()
        is_back = np.tile([True, False], count)[given]
        previous = course.parts.previous[place]
        source = np.column_stack([previous, place]).ravel()[given]
        # A session whose bounds stay is not taken back first, but was there all the same.
        had_old = np.column_stack([grown, ~begins & ~grown]).ravel()[given]
        old_source = np.repeat(previous, 2)[given]
        ends = np.column_stack([before, end]).ravel()[given]
        numbers = np.column_stack([np.zeros(count, np.int64), ~begins]).ravel()[given]
        causes = np.repeat(rows, 2)[given]
        own = [
            *(take(column, causes) for column in self._columns.keys),
            *(take(column, source) for column in results),
            *(take(column, old_source, had_old) for column in results),
            pa.array(had_old),
            pa.array(np.repeat(start, 2)[given]),
            pa.array(ends),
        ]
        return self._columns.facts.caused(own, causes, numbers, ends, is_back)


def _latest(sessions: Sequence[Session]) -> Session:
    """Return the session that ends last; without any, one before all times."""
    if len(sessions) < 2:
        return sessions[0] if sessions else _NOTHING
    return max(sessions, key=lambda session: session[1])
