"""Sessions: groups by key that last while records come close enough together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from orion.model import Field
from orion.state.clock import Clock
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.group import BOUNDS, Aggregates, GroupLayout
from orion.state.store import StateStore, store_key
from orion.state.task import Row
from orion.state.window import SessionWindows

_OPEN = "$open"


@dataclass(frozen=True)
class Session:
    """A session and its aggregates."""

    start: int
    end: int
    states: list[Any]


@dataclass(frozen=True)
class SessionOperator:
    """Groups by key and session. State: the open sessions, by key.

    A session that grows is taken back as it was, by a tombstone, and given as it is now.
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

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give the changes of sessions for every row."""
        run = _SessionRun(self, state)
        width = len(self.layout.keys)
        state.load(store_key(row[:width]) for row in rows)
        for row in rows:
            yield from run.take(row)
        run.keep()


class _SessionRun:
    """One batch of sessions."""

    def __init__(self, operator: SessionOperator, state: StateStore) -> None:
        self._operator = operator
        self._layout = operator.layout
        self._gap = operator.windows.gap_ms
        self._grace = operator.windows.grace_ms
        self._aggregates = Aggregates(operator.layout.calls)
        self._state = state
        self._clock = Clock(state)
        # The keys with open sessions, by an end that none of them lies before; a heap, so that a
        # record looks only at sessions that may be over.
        self._open: list[tuple[int, int, tuple[Any, ...]]] = list(state.get(_OPEN) or ())
        self._count = len(self._open)

    def keep(self) -> None:
        """Make what was noted part of the state."""
        self._clock.keep()
        if self._operator.final:
            # Numbered anew: a number only tells entries of the same end apart.
            entries = sorted(self._open, key=lambda entry: entry[:2])
            self._state.put(_OPEN, [(end, n, key) for n, (end, _, key) in enumerate(entries)])

    def take(self, row: Row) -> Iterator[Row]:
        key, arguments, _, facts = self._layout.split(row)
        now, time = self._clock.advance(facts.origin, facts.time_ms), facts.time_ms
        at = store_key(key)
        sessions: list[Session] = self._state.get(at) or []
        closed = now - self._grace - self._gap
        near = [
            s
            for s in sessions
            if s.end >= closed and s.start - self._gap <= time <= s.end + self._gap
        ]
        start = min([time, *(s.start for s in near)])
        end = max([time, *(s.end for s in near)])
        if end < closed:
            self._clock.drop()
        else:
            yield from self._merge(key, near, Session(start, end, []), arguments, facts)
            rest = [s for s in sessions if s not in near]
            self._state.put(at, [*rest, self._merged])
        if self._operator.final:
            yield from self._close(now, facts)

    def _merge(
        self,
        key: tuple[Any, ...],
        near: list[Session],
        shape: Session,
        arguments: list[tuple[Any, ...]],
        facts: Facts,
    ) -> Iterator[Row]:
        states = self._aggregates.initial()
        for session in near:
            states = self._aggregates.merge(states, session.states)
        states = self._aggregates.add(states, arguments)
        self._merged = Session(shape.start, shape.end, states)
        if self._operator.final:
            # A session that grows ends later than noted, never earlier.
            if not near:
                self._note(self._merged.end, key)
            return
        grown = (shape.start, shape.end) != (facts.time_ms, facts.time_ms)
        for number, session in enumerate(near if grown else []):
            yield self._row(key, session, facts, number, is_absent=True)
        yield self._row(key, self._merged, facts, len(near))

    def _row(
        self,
        key: tuple[Any, ...],
        session: Session,
        facts: Facts,
        number: int,
        *,
        is_absent: bool = False,
    ) -> Row:
        results = self._aggregates.results(session.states)
        return (
            *key,
            *results,
            *(results if is_absent else [None] * len(results)),
            is_absent,
            session.start,
            session.end,
            *facts.row(number, time_ms=session.end, is_absent=is_absent),
        )

    def _note(self, end: int, key: tuple[Any, ...]) -> None:
        heappush(self._open, (end, self._count, key))
        self._count += 1

    def _close(self, now: int, facts: Facts) -> Iterator[Row]:
        """Give the sessions that no record can reach any more, the earliest end first."""
        closed: list[tuple[int, tuple[Any, ...], Session]] = []
        over = now - self._gap - self._grace
        while self._open and self._open[0][0] < over:
            _, _, key = heappop(self._open)
            at = store_key(key)
            sessions: list[Session] = self._state.get(at) or []
            closed += [(s.end, key, s) for s in sessions if s.end < over]
            left = [s for s in sessions if s.end >= over]
            self._state.put(at, left or None)
            if left:
                self._note(min(s.end for s in left), key)
        closed.sort(key=lambda item: item[0])
        for number, (_, key, session) in enumerate(closed):
            yield self._row(key, session, facts, number)
