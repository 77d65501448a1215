"""Sessions: groups by key that last while records come close enough together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from orion.formats import arrow_type
from orion.model import Field
from orion.state.aggregates import Aggregates
from orion.state.clock import Clock
from orion.state.columns import Session, SessionColumns, sorted_table
from orion.state.fact import FACT_FIELDS, SEQUENCE, Facts
from orion.state.file import place_of
from orion.state.layout import BOUNDS, GroupLayout
from orion.state.store import StateStore, store_key
from orion.state.value import Row, read_rows, write_rows
from orion.state.window import SessionWindows


@dataclass(frozen=True)
class SessionOperator:
    """Groups by key and session. State: the open sessions, by key.

    A session that grows is taken back as it was, by a tombstone, and given as it is now; one whose
    bounds stay is only given as it is now, with what it was before.
    """

    layout: GroupLayout
    windows: SessionWindows
    final: bool = False

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, arguments, sign, facts."""
        return self.layout.inputs

    @property
    def outputs(self) -> Sequence[Field]:
        """Keys, results, results before, the session's bounds, facts."""
        layout = self.layout
        return (*layout.keys, *layout.results, *layout.old_results, *BOUNDS, *FACT_FIELDS)

    def run_table(self, table: pa.Table, state: StateStore) -> pa.Table | None:
        """Give the changes of sessions for every row of a sorted table; None: only rows will do."""
        found = SessionColumns.of(self.layout, self.windows, table, state, final=self.final)
        if found is None:
            return None
        run = _SessionRun(self, state, found.clock)
        tables = [found.run(state)]
        if len(found.strays):
            rows = read_rows(table.take(found.strays).to_batches(), self.inputs)
            given = zip(rows, found.now[found.strays].tolist(), strict=True)
            made = [change for row, now in given for change in run.take(row, now)]
            tables.append(pa.Table.from_batches([write_rows(made, self.outputs)]))
        found.clock.keep()
        closed = run.forget(int(found.now.max()))
        if self.final:
            return found.last_changes(closed)
        return self._together([part for part in tables if part is not None])

    def _together(self, tables: Sequence[pa.Table]) -> pa.Table | None:
        """Return the changes of keys that went by columns and by rows, in the order of rows."""
        if len(tables) == 1:
            return tables[0]
        order = [field.name for field in self.outputs].index(SEQUENCE)
        kinds = pa.schema(
            [pa.field(f"c{n}", arrow_type(f.type)) for n, f in enumerate(self.outputs)]
        )
        return sorted_table(pa.concat_tables([table.cast(kinds) for table in tables]), order)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give the changes of sessions for every row."""
        clock = Clock(state)
        run = _SessionRun(self, state, clock)
        width = len(self.layout.keys)
        state.load(store_key(row[:width]) for row in rows)
        latest = -1
        for row in rows:
            facts = self.layout.split(row)[-1]
            now = clock.advance(facts.origin, facts.time_ms)
            latest = max(latest, now)
            yield from run.take(row, now)
            if self.final:
                yield from run.close(now, facts)
        clock.keep()
        run.forget(latest)


class _SessionRun:
    """One batch of sessions. State, by key: its sessions, and the key where it will be told of.

    Sessions are kept in the order in which their first records came.
    """

    def __init__(self, operator: SessionOperator, state: StateStore, clock: Clock) -> None:
        self._is_final = operator.final
        self._layout = operator.layout
        self._windows = operator.windows
        self._aggregates = Aggregates(operator.layout.calls)
        self._state = state
        self._clock = clock

    def take(self, row: Row, now: int) -> Iterator[Row]:
        """Give the changes of a row.

        Args:
            now: What the clock shows behind it.
        """
        key, arguments, _, facts = self._layout.split(row)
        time, gap = facts.time_ms, self._windows.gap_ms
        at = store_key(key)
        sessions = self._sessions(at)
        near = [
            session
            for session in sessions
            if not self._is_over(session, now) and session[0] - gap <= time <= session[1] + gap
        ]
        start = min([time, *(session[0] for session in near)])
        end = max([time, *(session[1] for session in near)])
        if self._windows.due(end) <= now:
            self._clock.drop(facts, end, now)
            return
        by_time = sorted(near, key=_end_and_start)
        states = self._aggregates.merge([s[2] for s in near], [s[2] for s in by_time])
        merged = (start, end, self._aggregates.add(states, arguments))
        self._keep(at, key, _with(sessions, near, merged))
        if self._is_final:
            return
        if near and (start, end) == (time, time):
            yield self._row(key, merged, facts, len(near), old=near[0])
            return
        for number, session in enumerate(by_time):
            yield self._row(key, session, facts, number, old=session, is_absent=True)
        yield self._row(key, merged, facts, len(near))

    def _sessions(self, at: Any) -> list[Session]:
        kept = self._state.get(at)
        found: list[Session] = [] if kept is None else kept[0]
        return found

    def _is_over(self, session: Session, now: int) -> bool:
        return self._windows.due(session[1]) <= now

    def _keep(self, at: Any, key: tuple[Any, ...] | None, sessions: list[Session]) -> None:
        if not sessions:
            self._state.put(at, None)
            return
        title = (key,) if self._is_final else ()
        due = self._windows.due(min(session[1] for session in sessions))
        self._state.put(at, (sessions, *title), due)

    def _row(
        self,
        key: tuple[Any, ...],
        session: Session,
        facts: Facts,
        number: int,
        *,
        old: Session | None = None,
        is_absent: bool = False,
    ) -> Row:
        start, end, states = session
        results = self._aggregates.results(states)
        return (
            *key,
            *results,
            *([None] * len(results) if old is None else self._aggregates.results(old[2])),
            old is not None,
            start,
            end,
            *facts.row(number, time_ms=end, is_absent=is_absent),
        )

    def forget(self, now: int) -> list[tuple[tuple[Any, ...], Session]]:
        """Drop the sessions that no record can reach any more; return them, the earliest first."""
        closed = []
        for at in self._state.due_keys(now):
            sessions, *title = self._state.get(at)
            ended = [session for session in sessions if self._is_over(session, now)]
            key = title[0] if title else ()
            closed += [(session[1], place_of(at), key, session) for session in ended]
            self._keep(at, key, [session for session in sessions if session not in ended])
        closed.sort(key=lambda item: item[:2])
        return [(key, session) for _, _, key, session in closed]

    def close(self, now: int, facts: Facts) -> Iterator[Row]:
        """Give the last changes of sessions that are over."""
        for number, (key, session) in enumerate(self.forget(now)):
            yield self._row(key, session, facts, number)


def _with(sessions: list[Session], near: list[Session], merged: Session) -> list[Session]:
    """Return sessions with some of them made one, which stands where the first of them stood."""
    if not near:
        return [*sessions, merged]
    taken = {id(session) for session in near}
    placed = (merged if session is near[0] else session for session in sessions)
    return [session for session in placed if id(session) not in taken]


def _end_and_start(session: Session) -> tuple[int, int]:
    return session[1], session[0]
