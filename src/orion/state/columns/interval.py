"""Two streams joined over whole columns: events of a key that lie close enough in time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orion.model import Field
from orion.state.clock import Clock
from orion.state.columns.change import kept_columns
from orion.state.columns.fact import FactColumns
from orion.state.columns.segment import Flags, Ints, Segments, codes_of, is_plain, take
from orion.state.file import Key
from orion.state.layout import LEFT, RIGHT, JoinLayout, Values
from orion.state.piece import rows_a_piece
from orion.state.store import StateStore, store_key
from orion.state.value import read_column

# An event that is kept: its time, its columns, and whether it waits to go out alone.
Event = tuple[int, Values, bool]
_MOST = 1 << 62
# Shorter slots would keep nearly every event by itself.
_LEAST_SLOT_MS = 5_000
# How many pairs are looked at at once: a key that meets itself makes more than memory holds.
_PAIRS = 1 << 17


@dataclass(frozen=True)
class Reach:
    """How far a right event may lie before and behind a left one, and how long events are kept."""

    before_ms: int
    after_ms: int
    kept_ms: int

    @property
    def slot_ms(self) -> int:
        """How much time the events of a key that are kept together span.

        What an event may meet lies in two slots at most, and mostly in one; a key that has had
        many events gives only those back.
        """
        return max(2 * (self.before_ms + self.after_ms), _LEAST_SLOT_MS)

    def around(self, side: int) -> tuple[int, int]:
        """Return how far before and behind an event of a side its partners may lie."""
        both = self.before_ms, self.after_ms
        return both if side == LEFT else both[::-1]


@dataclass(frozen=True)
class _Slots:
    """The slots that events of a batch may meet others in, by key and time; and what they keep.

    Args:
        codes: The number of a key by `span`, and the slot's own, which begins with `low`.
        keys: The key of each.
    """

    codes: Ints
    low: int
    span: int
    keys: Sequence[Any]
    names: Sequence[Key]
    kept: Sequence[Any]

    @property
    def group(self) -> Ints:
        """The number of each one's key."""
        return self.codes // self.span

    def find(self, group: Ints, number: Ints) -> Ints:
        """Return where slots stand that are among these."""
        return np.searchsorted(self.codes, group * self.span + (number - self.low))


@dataclass(frozen=True)
class _Side:
    """The events of one side, those that were kept before those of the batch.

    Args:
        order: Their order of arrival: the row, negative for one that was kept.
        slot: Where the slot of each stands among all.
    """

    group: Ints
    time: Ints
    order: Ints
    slot: Ints
    columns: list[pa.Array]

    @cached_property
    def by_time(self) -> Ints:
        """The events of each key by time, those of one time as they came."""
        return np.lexsort((self.time, self.group))

    @cached_property
    def row_bytes(self) -> int:
        """How large an event is, on average."""
        whole: int = sum(column.nbytes for column in self.columns)
        return whole // max(1, len(self.time))

    def between(self, group: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
        """Return where, by time, the events of keys begin that lie between; and how many do."""
        if not len(self.time):
            return np.zeros(len(group), np.int64), np.zeros(len(group), np.int64)
        low = int(self.time.min())
        span = int(self.time.max()) - low + 2
        codes = (self.group * span + (self.time - low))[self.by_time]
        begin = np.searchsorted(codes, group * span + np.clip(first - low, 0, span - 1))
        end = np.searchsorted(codes, group * span + np.clip(last - low, -1, span - 1), side="right")
        return begin, np.maximum(0, end - begin)


@dataclass(frozen=True)
class _Batch:
    """The events of a batch, as they came, and what each may meet.

    Args:
        now: What the clock showed at each.
        place: Where each stands on its side.
        begin: Where its partners begin on the other side, by time.
        count: How many they are, those behind it in the batch included.
    """

    keys: pa.Array
    facts: FactColumns
    side: Ints
    now: Ints
    place: Ints
    begin: Ints
    count: Ints


def run_interval(
    layout: JoinLayout, reach: Reach, table: pa.Table, state: StateStore
) -> tuple[Iterator[pa.Table], int] | None:
    """Return a row for every pair of a sorted table, and events that stay alone; and the time.

    The rows are made as they are asked for; the state is changed already.
    """
    if not layout.left or not layout.right or not is_plain(layout.key):
        return None
    is_absent = table.column(table.num_columns - 3)
    table = table.filter(pc.and_(table.column(1).is_valid(), pc.invert(is_absent)))
    if table.num_rows == 0:
        return None
    (sides, keys, *own), facts = FactColumns.split(table)
    clock = Clock(state)
    before = clock.now_ms
    now = clock.advance_all(facts.origins, facts.times)
    segments = Segments.of(codes_of([keys]))
    side, group = sides.to_numpy(), segments.group[segments.positions]
    if (int(np.ptp(facts.times)) + 4 * reach.slot_ms) * segments.count >= _MOST:
        return None
    plain = read_column(take(keys, segments.order[segments.first]), layout.key)
    slots = _read_slots(reach, (side, group, facts.times), plain, state)
    both = [
        _side(number, fields, own[at : at + len(fields)], (side, group, facts.times), reach, slots)
        for number, fields, at in ((LEFT, layout.left, 0), (RIGHT, layout.right, len(layout.left)))
    ]
    oldest = min(int(part.time.min(initial=_MOST)) for part in both)
    goes_back = bool(np.any(np.diff(now, prepend=before) < 0))
    if goes_back and oldest < int(now.max()) - reach.kept_ms:
        return None
    is_late = facts.times < now - reach.kept_ms
    late = np.flatnonzero(is_late)
    clock.drop_all(*facts.of_late(late), now[late] - reach.kept_ms, now[late])
    _keep(layout, reach, both, slots, (is_late, now), state)
    clock.keep()
    batch = _Batch(keys, facts, side, now, *_meet(both, reach, side, group, facts.times))
    return _tables(layout, reach, both, batch), int(now.max())


def _read_slots(
    reach: Reach, rows: tuple[Ints, Ints, Ints], plain: Sequence[Any], state: StateStore
) -> _Slots:
    side, group, times = rows
    around = np.array([reach.around(number) for number in (LEFT, RIGHT)])[side]
    ends = [(times + far) // reach.slot_ms for far in (-around[:, 0], around[:, 1])]
    low, high = int(ends[0].min()), int(ends[1].max())
    span = high - low + 1
    codes = np.unique(np.concatenate([group * span + (end - low) for end in ends]))
    keys = [plain[at] for at in (codes // span).tolist()]
    both = zip(keys, (codes % span + low).tolist(), strict=True)
    names = [store_key(key_and_number) for key_and_number in both]
    kept: list[Any] = [value or (None, [], []) for value in state.get_all(names)]
    return _Slots(codes, low, span, keys, names, kept)


def _side(
    number: int,
    fields: Sequence[Field],
    columns: Sequence[pa.Array],
    rows: tuple[Ints, Ints, Ints],
    reach: Reach,
    slots: _Slots,
) -> _Side:
    side, group, times = rows
    events = [(at, event) for at, value in enumerate(slots.kept) for event in value[1 + number]]
    own = np.flatnonzero(side == number)
    before = kept_columns([event[1] for _, event in events], fields)
    at = np.array([at for at, _ in events], np.int64)
    return _Side(
        np.concatenate([slots.group[at], group[own]]),
        np.concatenate([np.array([event[0] for _, event in events], np.int64), times[own]]),
        np.concatenate([np.arange(-len(events), 0), own]),
        np.concatenate([at, slots.find(group[own], times[own] // reach.slot_ms)]),
        [
            pa.concat_arrays([old, take(column, own)])
            for old, column in zip(before, columns, strict=True)
        ],
    )


def _meet(
    both: Sequence[_Side], reach: Reach, side: Ints, group: Ints, times: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return, for each event of a batch, its place, where its partners begin, and their number."""
    place, begin, count = (np.zeros(len(side), np.int64) for _ in range(3))
    for number in (LEFT, RIGHT):
        own = np.flatnonzero(side == number)
        place[own] = np.flatnonzero(both[number].order >= 0)
        before, after = reach.around(number)
        first, last = times[own] - before, times[own] + after
        begin[own], count[own] = both[1 - number].between(group[own], first, last)
    return place, begin, count


def _tables(
    layout: JoinLayout, reach: Reach, both: Sequence[_Side], batch: _Batch
) -> Iterator[pa.Table]:
    """Give the rows that events of a batch cause, some events at a time."""
    ends = np.cumsum(batch.count + 1)
    first = 0
    while first < len(ends):
        most = int(ends[first]) + _PAIRS
        stop = max(first + 1, int(np.searchsorted(ends, most, side="right")))
        yield from _output(layout, reach, both, batch, np.arange(first, stop))
        first = stop


def _output(
    layout: JoinLayout, reach: Reach, both: Sequence[_Side], batch: _Batch, events: Ints
) -> Iterator[pa.Table]:
    """Give the rows that neighbouring events cause: by event, then by the partner's time."""
    counts = batch.count[events]
    cause = np.repeat(events, counts)
    inner = np.arange(len(cause)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = batch.begin[cause] + inner
    partner, arrival, time = (np.zeros(len(cause), np.int64) for _ in range(3))
    for number in (LEFT, RIGHT):
        own, other = batch.side[cause] == number, both[1 - number]
        partner[own] = other.by_time[at[own]]
        arrival[own], time[own] = other.order[partner[own]], other.time[partner[own]]
    # One that comes later causes the pair itself.
    meets = (arrival < cause) & (time >= batch.now[cause] - reach.kept_ms)
    cause, partner, time = cause[meets], partner[meets], time[meets]
    keeps = np.where(batch.side[events] == LEFT, layout.keeps_left, layout.keeps_right)
    alone = np.setdiff1d(events[keeps], cause)
    nobody = np.full(len(alone), -1)
    cause, partner, time = (
        np.concatenate(parts) for parts in ((cause, alone), (partner, nobody), (time, nobody))
    )
    order = np.argsort(cause, kind="stable")
    cause, partner, time = cause[order], partner[order], time[order]
    is_left, own = batch.side[cause] == LEFT, batch.place[cause]
    lefts, rights = np.where(is_left, own, partner), np.where(is_left, partner, own)
    numbers = np.arange(len(cause)) - np.searchsorted(cause, cause)
    times = np.maximum(batch.facts.times[cause], time)
    # An event repeats its columns with every partner: many small partners of a large one are much.
    count = rows_a_piece(1, sum(part.row_bytes for part in both))
    for begin in range(0, len(cause), count):
        some = slice(begin, begin + count)
        left, right = lefts[some], rights[some]
        made = [
            take(batch.keys, cause[some]),
            *(take(column, left, left >= 0) for column in both[LEFT].columns),
            *(take(column, right, right >= 0) for column in both[RIGHT].columns),
        ]
        yield batch.facts.caused(made, cause[some], numbers[some], times[some])


def _keep(
    layout: JoinLayout,
    reach: Reach,
    both: Sequence[_Side],
    slots: _Slots,
    rows: tuple[Flags, Ints],
    state: StateStore,
) -> None:
    """Keep the events that may still meet others, in the slots that have got new ones.

    Args:
        rows: Whether each event of the batch is too late, and what the clock showed at it.
    """
    is_late, now = rows
    # The last event that came into each slot.
    latest = np.full(len(slots.codes), -1)
    for part in both:
        stays = (part.order >= 0) & ~is_late[np.maximum(part.order, 0)]
        np.maximum.at(latest, part.slot[stays], part.order[stays])
    oldest = now[latest] - reach.kept_ms
    found: dict[int, tuple[Any, list[Event], list[Event]]] = {
        at: (slots.keys[at], [], []) for at in np.flatnonzero(latest >= 0).tolist()
    }
    for number, (part, fields) in enumerate(zip(both, (layout.left, layout.right), strict=True)):
        recent = (latest[part.slot] >= 0) & (part.time >= oldest[part.slot])
        order = np.flatnonzero(recent)
        order = order[np.lexsort((part.order[order], part.time[order]))]
        columns = [
            read_column(take(column, order), field.type)
            for column, field in zip(part.columns, fields, strict=True)
        ]
        heads = zip(part.slot[order].tolist(), part.time[order].tolist(), strict=True)
        for (at, time), row in zip(heads, zip(*columns, strict=True), strict=True):
            found[at][1 + number].append((time, row, False))
    for at, value in found.items():
        ends = [events[-1][0] for events in value[1:] if events]
        due = max(ends) + reach.kept_ms + 1 if ends else None
        state.put(slots.names[at], value if ends else None, due)
