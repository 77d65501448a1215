"""Groups over whole columns: a change of its group for every row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from orion.model import Field
from orion.sql import step
from orion.state.columns.aggregate import Made, aggregate, runs_by_columns
from orion.state.columns.fact import FactColumns
from orion.state.columns.segment import Flags, Ints, Segments, codes_of, is_plain, take
from orion.state.file import Key
from orion.state.layout import BOUNDS, SILENT_OUT, GroupLayout
from orion.state.store import StateStore, store_key
from orion.state.value import Row, read_column, write_rows


@dataclass(frozen=True)
class GroupRows:
    """Rows of groups in the order of groups.

    Args:
        arguments: A column for each aggregate.
        names: The store's key of each group.
        dues: When each group is over; None: never.
        titles: What is kept with each group, to tell of it when it is over.
    """

    segments: Segments
    arguments: Sequence[pa.Array]
    sign: Ints
    times: Ints
    names: Sequence[Key]
    dues: Sequence[int] | None = None
    titles: Sequence[tuple[Any, ...]] | None = None


@dataclass(frozen=True)
class Changed:
    """What rows make of their groups, in the order of groups.

    Args:
        old: The results before each row.
        had: Whether its group was there before a row.
        latest: The latest time of its group.
    """

    results: list[pa.Array]
    old: list[pa.Array]
    had: Flags
    latest: Ints


def runs_in_columns(layout: GroupLayout) -> bool:
    """Tell whether all keys and aggregates have a way over whole columns."""
    keys, calls = layout.keys, layout.calls
    plain = all(is_plain(key.type) for key in keys)
    return plain and len(calls) > 0 and all(runs_by_columns(call) for call in calls)


def run_groups(
    layout: GroupLayout, table: pa.Table, state: StateStore, *, once: bool = False
) -> pa.Table | None:
    """Return one change for every row of a sorted table but those that are silent.

    Args:
        once: Only the last change of each group, with what the group was before the first.
    """
    if table.num_rows == 0 or not runs_in_columns(layout):
        return None
    columns = GroupColumns.of(layout, table)
    segments = Segments.of(codes_of(columns.keys))
    keys = key_values(layout.keys, columns.keys, segments.order[segments.first])
    rows = columns.rows(segments, segments.order, [store_key(key) for key in keys])
    changed = change_groups(layout.calls, rows, state)
    if once:
        places, before = segments.last, segments.first
        # In the order of their rows; a group's last one is never silent.
        turn = np.argsort(segments.order[places])
        places, before = places[turn], before[turn]
        spoken = segments.order[places]
    else:
        spoken = np.flatnonzero(columns.sign != SILENT_OUT)
        places = before = segments.positions[spoken]
    numbers = np.zeros(len(spoken), np.int64)
    return columns.output(changed, spoken, places, numbers, before=before)


@dataclass(frozen=True)
class GroupColumns:
    """The columns of a table whose rows are grouped."""

    keys: list[pa.Array]
    arguments: list[pa.Array]
    sign: Ints
    facts: FactColumns

    @classmethod
    def of(cls, layout: GroupLayout, table: pa.Table) -> "GroupColumns":
        """Take a table apart."""
        (*own, sign), facts = FactColumns.split(table)
        width = len(layout.keys)
        return cls(own[:width], own[width:], sign.to_numpy().astype(np.int64), facts)

    def rows(self, segments: Segments, order: Ints, names: Sequence[Key]) -> GroupRows:
        """Return the rows in the order of groups."""
        arguments = [take(column, order) for column in self.arguments]
        return GroupRows(segments, arguments, self.sign[order], self.facts.times[order], names)

    def output(
        self,
        changed: Changed,
        rows: Ints,
        places: Ints,
        numbers: Ints,
        bounds: Sequence[pa.Array] = (),
        *,
        before: Ints | None = None,
    ) -> pa.Table:
        """Return changes as a table.

        Args:
            rows: The row that each of them is caused by.
            places: Where it stands in the order of groups.
            numbers: Which one it is of its row's.
            before: Where the row stands that it was before; None: the same.
        """
        old_places = places if before is None else before
        own = [
            *(take(column, rows) for column in self.keys),
            *(take(column, places) for column in changed.results),
            *(take(column, old_places) for column in changed.old),
            pa.array(changed.had[old_places]),
            *bounds,
        ]
        return self.facts.caused(own, rows, numbers, changed.latest[places])

    def last_changes(
        self, layout: GroupLayout, rows: Sequence[Row], times: Ints, dues: Ints, now: Ints
    ) -> pa.Table:
        """Return the last changes of windows, each caused by the row that closed it.

        Args:
            rows: Keys, results, results before and bounds, in the order of closing.
            times: When the last record of each came.
            dues: When each is over.
            now: What the clock shows behind each row of the table.
        """
        fields = (*layout.keys, *layout.results, *layout.old_results, *BOUNDS)
        causes = np.searchsorted(np.maximum.accumulate(now), dues)
        first = np.searchsorted(causes, causes)
        own = write_rows(rows, fields).columns
        return self.facts.caused(own, causes, np.arange(len(causes)) - first, times)


def key_values(
    fields: Sequence[Field], columns: Sequence[pa.Array], rows: Ints
) -> list[tuple[object, ...]]:
    """Return the keys of some rows as plain values."""
    parts = [
        read_column(take(column, rows), field.type)
        for field, column in zip(fields, columns, strict=True)
    ]
    return list(zip(*parts, strict=True))


def change_groups(
    calls: Sequence[step.AggregateCall], rows: GroupRows, state: StateStore
) -> Changed:
    """Bring the state of groups forward by their rows."""
    segments = rows.segments
    kept = state.get_all(rows.names)
    is_kept = np.array([value is not None for value in kept])
    made = make_results(calls, rows, [None if k is None else k[0] for k in kept])
    times_before = np.array([-1 if k is None else k[1] for k in kept], np.int64)
    latest = segments.running_max(rows.times, times_before)
    ends = latest[segments.last].tolist()
    states = map(list, zip(*(part.states for part in made), strict=True))
    values: list[tuple[Any, ...]] = list(zip(states, ends, strict=True))
    if rows.titles is not None:
        values = [(*value, *title) for value, title in zip(values, rows.titles, strict=True)]
    state.put_all(rows.names, values, rows.dues)
    previous = _spoken_before(segments, rows.sign)
    had = np.concatenate([np.ones(len(latest), bool), is_kept])[segments.previous]
    old = [take(pa.concat_arrays([part.results, part.before]), previous) for part in made]
    return Changed([part.results for part in made], old, had, latest)


def make_results(
    calls: Sequence[step.AggregateCall], rows: GroupRows, kept: Sequence[list[object] | None]
) -> list[Made]:
    """Return what each aggregate makes of its column.

    Args:
        kept: The states of each group; None: it is new.
    """
    return [
        aggregate(
            call,
            column,
            rows.sign,
            rows.segments,
            [None if states is None else states[number] for states in kept],
        )
        for number, (call, column) in enumerate(zip(calls, rows.arguments, strict=True))
    ]


def _spoken_before(segments: Segments, sign: Ints) -> Ints:
    """Return where each row finds the results before it, those of silent rows left out.

    A silent row is always followed by one that is added to the same group.
    """
    previous = segments.previous
    if not np.any(sign == SILENT_OUT):
        return previous
    ahead = np.zeros(segments.count, np.int64)
    silent = np.append(sign == SILENT_OUT, ahead.astype(bool))
    return np.where(silent[previous], np.append(previous, ahead)[previous], previous)
