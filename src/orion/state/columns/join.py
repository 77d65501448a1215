"""Events and a table over whole columns: each event with the table's row of its moment."""

import numpy as np
import pyarrow as pa

from orion.state.columns.change import kept_columns, kept_rows
from orion.state.columns.fact import FactColumns
from orion.state.columns.segment import Segments, codes_of, is_plain, take
from orion.state.layout import LEFT, RIGHT, JoinLayout
from orion.state.store import StateStore, store_key
from orion.state.value import read_column


def run_stream_table(layout: JoinLayout, table: pa.Table, state: StateStore) -> pa.Table | None:
    """Return up to one row for every event of a sorted table."""
    if not layout.right or not is_plain(layout.key):
        return None
    table = table.filter(table.column(1).is_valid())
    if table.num_rows == 0:
        return None
    (sides, keys, *own), facts = FactColumns.split(table)
    width = len(layout.left)
    segments = Segments.of(codes_of([keys]))
    order = segments.order
    side = sides.to_numpy()[order]
    heads = take(keys, order[segments.first])
    names = [store_key((key,)) for key in read_column(heads, layout.key)]
    kept = state.get_all(names)
    rights = [
        pa.concat_arrays([take(column, order), before])
        for column, before in zip(own[width:], kept_columns(kept, layout.right), strict=True)
    ]
    there = np.concatenate([~facts.is_absent[order], np.array([row is not None for row in kept])])
    # The table's row as of each event: one of this batch ahead of it, or the one that is kept.
    latest = segments.latest(side == RIGHT)
    source = np.where(latest < 0, len(order) + segments.group, latest)
    has = there[source]
    touched = np.flatnonzero(latest[segments.last] >= 0)
    ends = latest[segments.last][touched]
    rows = kept_rows(rights, layout.right, ends)
    lives = there[ends].tolist()
    state.put_all(
        [names[n] for n in touched.tolist()],
        [row if lives[n] else None for n, row in enumerate(rows)],
    )
    given = (side == LEFT) & there[: len(order)] & (has | layout.keeps_left)
    places = segments.positions[given[segments.positions]]
    events = order[places]
    made = [
        take(keys, events),
        *(take(column, events) for column in own[:width]),
        *(take(column, source[places], has[places]) for column in rights),
    ]
    zeros = np.zeros(len(events), np.int64)
    return facts.caused(made, events, zeros, facts.times[events])
