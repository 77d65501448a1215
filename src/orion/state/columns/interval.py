"""Two streams joined over whole columns: events of a key that lie close enough in time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orion.model import Field
from orion.state.clock import Clock
from orion.state.columns.change import kept_columns
from orion.state.columns.fact import FactColumns
from orion.state.columns.segment import Ints, Segments, codes_of, is_plain, take
from orion.state.file import Key
from orion.state.layout import LEFT, RIGHT, JoinLayout, Values
from orion.state.store import StateStore, store_key
from orion.state.value import read_column

# An event that is kept: its time, its columns, and whether it waits to go out alone.
Event = tuple[int, Values, bool]
_MOST = 1 << 62


@dataclass(frozen=True)
class Reach:
    """How far a right event may lie before and behind a left one, and how long events are kept."""

    before_ms: int
    after_ms: int
    kept_ms: int


@dataclass(frozen=True)
class _Side:
    """The events of one side, those that were kept before those of the batch.

    Args:
        order: Their order of arrival: the row, negative for one that was kept.
    """

    group: Ints
    time: Ints
    order: Ints
    columns: list[pa.Array]


def run_interval(
    layout: JoinLayout, reach: Reach, table: pa.Table, state: StateStore
) -> tuple[pa.Table, int] | None:
    """Return a row for every pair of a sorted table, and events that stay alone; and the time."""
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
    plain = read_column(take(keys, segments.order[segments.first]), layout.key)
    names = [store_key((key,)) for key in plain]
    kept: list[Any] = [value or (None, [], []) for value in state.get_all(names)]
    side, group = sides.to_numpy(), segments.group[segments.positions]
    both = [
        _side(number, fields, own[at : at + len(fields)], (side, group, facts.times), kept)
        for number, fields, at in ((LEFT, layout.left, 0), (RIGHT, layout.right, len(layout.left)))
    ]
    oldest = min(int(part.time.min(initial=_MOST)) for part in both)
    goes_back = bool(np.any(np.diff(now, prepend=before) < 0))
    if goes_back and oldest < int(now.max()) - reach.kept_ms:
        return None
    pairs = _pairs(both[LEFT], both[RIGHT], reach, now)
    if pairs is None:
        return None
    made = _output(layout, both, pairs, keys, facts, side)
    ends = now[segments.order[segments.last]]
    late = np.flatnonzero(facts.times < now - reach.kept_ms)
    clock.drop_all(*facts.of_late(late), now[late] - reach.kept_ms, now[late])
    _keep(layout, reach, both, (names, plain), ends, state)
    clock.keep()
    return made, int(now.max())


def _side(
    number: int,
    fields: Sequence[Field],
    columns: Sequence[pa.Array],
    rows: tuple[Ints, Ints, Ints],
    kept: Sequence[Any],
) -> _Side:
    side, group, times = rows
    events = [(place, event) for place, value in enumerate(kept) for event in value[1 + number]]
    own = np.flatnonzero(side == number)
    before = kept_columns([event[1] for _, event in events], fields)
    return _Side(
        np.concatenate([np.array([place for place, _ in events], np.int64), group[own]]),
        np.concatenate([np.array([event[0] for _, event in events], np.int64), times[own]]),
        np.concatenate([np.arange(-len(events), 0), own]),
        [
            pa.concat_arrays([old, take(column, own)])
            for old, column in zip(before, columns, strict=True)
        ],
    )


def _pairs(left: _Side, right: _Side, reach: Reach, now: Ints) -> tuple[Ints, Ints] | None:
    """Return the events that meet, by place on each side."""
    if not len(left.time) or not len(right.time):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    low = int(right.time.min())
    span = int(right.time.max()) - low + 2
    if span * (int(max(left.group.max(), right.group.max())) + 1) >= _MOST:
        return None
    codes = right.group * span + (right.time - low)
    order = np.argsort(codes, kind="stable")
    floor = left.group * span
    first = floor + np.clip(left.time - reach.before_ms - low, 0, span - 1)
    last = floor + np.clip(left.time + reach.after_ms - low, -1, span - 1)
    begin = np.searchsorted(codes[order], first)
    counts = np.maximum(0, np.searchsorted(codes[order], last, side="right") - begin)
    lefts = np.repeat(np.arange(len(counts)), counts)
    inner = np.arange(len(lefts)) - np.repeat(np.cumsum(counts) - counts, counts)
    rights = order[np.repeat(begin, counts) + inner]
    is_later = left.order[lefts] > right.order[rights]
    cause = np.maximum(left.order[lefts], right.order[rights])
    older = np.where(is_later, right.time[rights], left.time[lefts])
    meets = (cause >= 0) & (older >= now[np.maximum(cause, 0)] - reach.kept_ms)
    return lefts[meets], rights[meets]


def _output(
    layout: JoinLayout,
    both: Sequence[_Side],
    pairs: tuple[Ints, Ints],
    keys: pa.Array,
    facts: FactColumns,
    side: Ints,
) -> pa.Table:
    left, right = both
    lefts, rights = pairs
    orders = left.order[lefts], right.order[rights]
    cause = np.maximum(*orders)
    is_left = orders[0] > orders[1]
    partner = np.where(is_left, right.time[rights], left.time[lefts]), np.minimum(*orders)
    met = np.zeros(len(side), bool)
    met[cause] = True
    keeps = np.where(side == LEFT, layout.keeps_left, layout.keeps_right)
    alone = np.flatnonzero(~met & keeps)
    # Where each event of the batch stands on its side.
    place = np.zeros(len(side), np.int64)
    for part in both:
        place[part.order[part.order >= 0]] = np.flatnonzero(part.order >= 0)
    lefts = np.concatenate([lefts, np.where(side[alone] == LEFT, place[alone], -1)])
    rights = np.concatenate([rights, np.where(side[alone] == RIGHT, place[alone], -1)])
    times = np.maximum(left.time[pairs[0]], right.time[pairs[1]])
    times = np.concatenate([times, facts.times[alone]])
    cause = np.concatenate([cause, alone])
    zeros = np.zeros(len(alone), np.int64)
    by = (np.concatenate([partner[1], zeros]), np.concatenate([partner[0], zeros]), cause)
    order = np.lexsort(by)
    cause, lefts, rights, times = (part[order] for part in (cause, lefts, rights, times))
    numbers = np.arange(len(cause)) - np.searchsorted(cause, cause)
    made = [
        take(keys, cause),
        *(take(column, lefts, lefts >= 0) for column in left.columns),
        *(take(column, rights, rights >= 0) for column in right.columns),
    ]
    return facts.caused(made, cause, numbers, times)


def _keep(
    layout: JoinLayout,
    reach: Reach,
    both: Sequence[_Side],
    keys: tuple[Sequence[Key], Sequence[Any]],
    now: Ints,
    state: StateStore,
) -> None:
    """Keep the events that may still meet others, by key; `now` is that of each key's last row."""
    names, plain = keys
    found: list[tuple[Any, list[Event], list[Event]]] = [(key, [], []) for key in plain]
    for number, (part, fields) in enumerate(zip(both, (layout.left, layout.right), strict=True)):
        recent = np.flatnonzero(part.time >= now[part.group] - reach.kept_ms)
        order = recent[np.lexsort((part.order[recent], part.time[recent]))]
        columns = [
            read_column(take(column, order), field.type)
            for column, field in zip(part.columns, fields, strict=True)
        ]
        rows = zip(*columns, strict=True)
        heads = zip(part.group[order].tolist(), part.time[order].tolist(), strict=True)
        for (group, time), row in zip(heads, rows, strict=True):
            found[group][1 + number].append((time, row, False))
    for name, value in zip(names, found, strict=True):
        ends = [events[-1][0] for events in value[1:] if events]
        due = max(ends) + reach.kept_ms + 1 if ends else None
        state.put(name, value if ends else None, due)
