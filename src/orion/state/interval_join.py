"""Two streams joined: events of the same key that lie close enough in time."""

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orion.state.clock import Clock
from orion.state.fact import Facts
from orion.state.join import JoinOperator
from orion.state.layout import LEFT, Values
from orion.state.store import Key, StateStore, store_key
from orion.state.value import Row
from orion.state.window import DEFAULT_GRACE_MS

_WAITING = "$waiting"


@dataclass(frozen=True)
class IntervalOperator(JoinOperator):
    """Events of both sides that meet. State: recent events of each side, by key.

    Args:
        before_ms: How far a right event may lie before a left one.
        after_ms: How far a right event may lie behind a left one.
        grace_ms: How late an event may come; None: a day, and an event that finds no partner goes
            out at once, alone; otherwise it goes out when no partner can come any more.
    """

    before_ms: int
    after_ms: int
    grace_ms: int | None

    @property
    def kept_ms(self) -> int:
        """How long an event is kept."""
        grace = DEFAULT_GRACE_MS if self.grace_ms is None else self.grace_ms
        return self.before_ms + self.after_ms + grace

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give a row for every pair, and for events that stay alone."""
        run = _IntervalRun(self, state)
        state.load(store_key((row[1],)) for row in rows)
        for row in rows:
            yield from run.take(row)
        run.clock.keep()


# An event that is kept: its time, its number (events of one time stay in order), its columns.
Event = tuple[int, int, Values]


class _IntervalRun:
    """One batch of two streams."""

    def __init__(self, operator: IntervalOperator, state: StateStore) -> None:
        self._operator = operator
        self._layout = operator.layout
        self._state = state
        self.clock = Clock(state)
        self._number = 0

    def take(self, row: Row) -> Iterator[Row]:
        side, key, own, facts = self._layout.split(row)
        if key is None or facts.is_absent:
            return
        now = max(self.clock.advance(facts.origin, facts.time_ms), self.clock.now_ms)
        self._number = 0
        yield from self._close(now, facts)
        at = store_key((key,))
        sides: list[list[Event]] = self._state.get(at) or [[], []]
        found = list(self._partners(side, facts.time_ms, sides[1 - side]))
        for time, _, other in found:
            pair = (own, other) if side == LEFT else (other, own)
            yield self._row(key, pair, max(time, facts.time_ms), facts)
        if not found:
            yield from self._alone(side, key, own, facts, now)
        self._settle(at, 1 - side, found)
        if facts.time_ms < now - self._operator.kept_ms:
            self.clock.drop()
            return
        kept = [self._recent(events, now) for events in sides]
        insort(kept[side], (facts.time_ms, len(kept[side]), own), key=lambda event: event[:2])
        self._state.put(at, kept)

    def _partners(self, side: int, time: int, events: list[Event]) -> Iterator[Event]:
        before, after = self._operator.before_ms, self._operator.after_ms
        if side != LEFT:
            before, after = after, before
        return (event for event in events if time - before <= event[0] <= time + after)

    def _recent(self, events: list[Event], now: int) -> list[Event]:
        return [event for event in events if event[0] >= now - self._operator.kept_ms]

    def _row(
        self, key: Any, pair: tuple[Values | None, Values | None], time: int, facts: Facts
    ) -> Row:
        row = (key, *self._layout.joined(*pair), *facts.row(self._number, time_ms=time))
        self._number += 1
        return row

    # -- events without a partner

    def _alone(self, side: int, key: Any, own: Values, facts: Facts, now: int) -> Iterator[Row]:
        if not self._layout.keeps(side):
            return
        reach = self._operator.after_ms if side == LEFT else self._operator.before_ms
        if self._operator.grace_ms is None or facts.time_ms + reach < now:
            pair = (own, None) if side == LEFT else (None, own)
            yield self._row(key, pair, facts.time_ms, facts)
            return
        waiting: list[Any] = self._state.get(_WAITING) or []
        self._state.put(_WAITING, [*waiting, (facts.time_ms, side, key, own)])

    def _settle(self, at: Key, side: int, found: list[Event]) -> None:
        """Forget that events wait alone which have a partner now."""
        waiting: list[Any] = self._state.get(_WAITING) or []
        if not waiting or not found:
            return
        met = {event[0] for event in found}
        left = [
            item
            for item in waiting
            if not (item[1] == side and store_key((item[2],)) == at and item[0] in met)
        ]
        self._state.put(_WAITING, left)

    def _close(self, now: int, facts: Facts) -> Iterator[Row]:
        """Give the events that no partner can reach any more, the earliest first."""
        waiting: list[Any] = self._state.get(_WAITING) or []
        if not waiting:
            return
        over = [item for item in waiting if self._is_over(item, now)]
        if not over:
            return
        self._state.put(_WAITING, [item for item in waiting if item not in over])
        for time, side, key, own in sorted(over, key=lambda item: item[:2]):
            pair = (own, None) if side == LEFT else (None, own)
            yield self._row(key, pair, time, facts)

    def _is_over(self, item: Any, now: int) -> bool:
        reach = self._operator.after_ms if item[1] == LEFT else self._operator.before_ms
        return bool(item[0] + reach + (self._operator.grace_ms or 0) < now)
