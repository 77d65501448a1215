"""Two streams joined: events of the same key that lie close enough in time."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from orion.sql import computation_or_null, typed
from orion.state.clock import Clock
from orion.state.columns import Event, Reach, run_interval
from orion.state.fact import Facts
from orion.state.file import Key
from orion.state.join import JoinOperator
from orion.state.layout import LEFT, Values
from orion.state.store import StateStore, store_key
from orion.state.value import Row
from orion.state.window import DEFAULT_GRACE_MS


@dataclass(frozen=True)
class IntervalOperator(JoinOperator):
    """Events of both sides that meet. State: recent events of each side, by key and slot of time.

    Args:
        before_ms: How far a right event may lie before a left one.
        after_ms: How far a right event may lie behind a left one.
        grace_ms: How late an event may come; None: a day, and an event that finds no partner goes
            out at once, alone; otherwise it goes out when no partner can come any more.
        condition: What must hold of a pair besides.
    """

    before_ms: int
    after_ms: int
    grace_ms: int | None
    condition: typed.Typed | None = None

    @cached_property
    def reach(self) -> Reach:
        """How far events reach, and how long they are kept."""
        grace = DEFAULT_GRACE_MS if self.grace_ms is None else self.grace_ms
        kept_ms = self.before_ms + self.after_ms + grace
        return Reach(self.before_ms, self.after_ms, kept_ms)

    def run_table(self, table: pa.Table, state: StateStore) -> Iterator[pa.Table] | None:
        """Give a row for every pair of a sorted table, and for events that stay alone."""
        layout = self.layout
        waits = self.grace_ms is not None and (layout.keeps_left or layout.keeps_right)
        if waits or self.condition is not None:
            # Events that wait to go out alone are looked at one by one.
            return None
        found = run_interval(layout, self.reach, table, state)
        if found is None:
            return None
        _IntervalRun(self, state).close(found[1])
        return found[0]

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give a row for every pair, and for events that stay alone."""
        run = _IntervalRun(self, state)
        run.load(rows)
        for row in rows:
            yield from run.take(row)
        run.clock.keep()


# What goes out alone: its time, its side, its key, its columns.
Lonely = tuple[int, int, Any, Values]


class _IntervalRun:
    """One batch of two streams. State, by key and slot: the key, and the events of each side."""

    def __init__(self, operator: IntervalOperator, state: StateStore) -> None:
        self._operator = operator
        self._layout = operator.layout
        self._reach = operator.reach
        self._state = state
        self.clock = Clock(state)
        self._number = 0
        condition = operator.condition
        self._holds = None if condition is None else computation_or_null(condition)
        self._names = [field.name for field in (*self._layout.left, *self._layout.right)]

    def load(self, rows: Sequence[Row]) -> None:
        """Read what rows may meet, many at a time."""
        self._state.load(
            store_key((key, slot))
            for side, key, _, facts in map(self._layout.split, rows)
            if key is not None
            for slot in self._slots(side, facts.time_ms)
        )

    def take(self, row: Row) -> Iterator[Row]:
        side, key, own, facts = self._layout.split(row)
        if key is None or facts.is_absent:
            return
        now = self.clock.advance(facts.origin, facts.time_ms)
        self._number = 0
        for time, lonely_side, lonely_key, lonely in self.close(now):
            yield self._alone(lonely_key, lonely_side, lonely, time, facts)
        has_met = False
        for slot in self._slots(side, facts.time_ms):
            for other in self._meet(side, key, own, facts.time_ms, slot, now):
                has_met = True
                pair = (own, other[1]) if side == LEFT else (other[1], own)
                yield self._row(key, pair, max(other[0], facts.time_ms), facts)
        waits = False
        if not has_met and self._layout.keeps(side):
            waits = self._operator.grace_ms is not None and self._over(side, facts.time_ms) > now
            if not waits:
                yield self._alone(key, side, own, facts.time_ms, facts)
        if facts.time_ms < now - self._reach.kept_ms:
            self.clock.drop(facts, now - self._reach.kept_ms, now)
            return
        slot = facts.time_ms // self._reach.slot_ms
        sides = self._recent_sides(key, slot, now)
        # Events of one time stay in the order they came.
        insort(sides[side], (facts.time_ms, own, waits), key=_time)
        self._keep(store_key((key, slot)), key, sides)

    def _slots(self, side: int, time: int) -> range:
        """Return the slots in which partners of an event may lie."""
        before, after = self._reach.around(side)
        length = self._reach.slot_ms
        return range((time - before) // length, (time + after) // length + 1)

    def _recent_sides(self, key: Any, slot: int, now: int) -> list[list[Event]]:
        kept = self._state.get(store_key((key, slot)))
        return [self._recent(events, now) for events in (kept[1:] if kept else ([], []))]

    def _meet(
        self, side: int, key: Any, own: Values, time: int, slot: int, now: int
    ) -> list[Event]:
        """Return the partners of an event in a slot; none of them waits any more."""
        sides = self._recent_sides(key, slot, now)
        events = sides[1 - side]
        before, after = self._reach.around(side)
        first = bisect_left(events, time - before, key=_time)
        end = bisect_right(events, time + after, key=_time)
        met = [n for n in range(first, end) if self._meets(side, own, events[n][1])]
        found = [events[n] for n in met]
        if any(waits for _, _, waits in found):
            for n in met:
                events[n] = (*events[n][:2], False)
            self._keep(store_key((key, slot)), key, sides)
        return found

    def _meets(self, side: int, own: Values, other: Values) -> bool:
        if self._holds is None:
            return True
        left, right = (own, other) if side == LEFT else (other, own)
        return self._holds(dict(zip(self._names, (*left, *right), strict=True))) is True

    def _recent(self, events: list[Event], now: int) -> list[Event]:
        return events[bisect_left(events, now - self._reach.kept_ms, key=_time) :]

    def _row(
        self, key: Any, pair: tuple[Values | None, Values | None], time: int, facts: Facts
    ) -> Row:
        row = (key, *self._layout.joined(*pair), *facts.row(self._number, time_ms=time))
        self._number += 1
        return row

    def _alone(self, key: Any, side: int, own: Values, time: int, facts: Facts) -> Row:
        pair = (own, None) if side == LEFT else (None, own)
        return self._row(key, pair, time, facts)

    def _over(self, side: int, time: int) -> int:
        """Return the moment from which no partner can come any more."""
        _, after = self._reach.around(side)
        return time + after + (self._operator.grace_ms or 0) + 1

    def _keep(self, at: Key, key: Any, sides: list[list[Event]]) -> None:
        if not any(sides):
            self._state.put(at, None)
            return
        # When all of its events are forgotten, or the first that waits goes out.
        dues = [max(events[-1][0] for events in sides if events) + self._reach.kept_ms + 1]
        dues += [self._over(s, e[0]) for s, events in enumerate(sides) for e in events if e[2]]
        self._state.put(at, (key, *sides), min(dues))

    def close(self, now: int) -> list[Lonely]:
        """Forget what is over; return the events that no partner can reach any more."""
        found: list[Lonely] = []
        for at in self._state.due_keys(now):
            key, *sides = self._state.get(at)
            kept: list[list[Event]] = []
            for side, events in enumerate(sides):
                over = [e for e in events if e[2] and self._over(side, e[0]) <= now]
                found += [(time, side, key, own) for time, own, _ in over]
                left = [(*e[:2], False) if e in over else e for e in events] if over else events
                kept.append(self._recent(left, now))
            self._keep(at, key, kept)
        return sorted(found, key=lambda item: item[:2])


def _time(event: Event) -> int:
    return event[0]
