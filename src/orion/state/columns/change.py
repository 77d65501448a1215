"""Changes of a table over whole columns: each row's old self, taken out, and itself, added."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from orion.model import Field
from orion.state.columns.fact import FactColumns
from orion.state.columns.group import key_values
from orion.state.columns.segment import Flags, Ints, Segments, codes_of, is_plain, take
from orion.state.layout import IN, OUT, SILENT_OUT
from orion.state.store import StateStore, store_key
from orion.state.value import read_column, write_column


def run_changes(
    identity: Sequence[Field],
    columns: Sequence[Field],
    keys: int,
    table: pa.Table,
    state: StateStore,
) -> pa.Table | None:
    """Return up to two changes for every row of a sorted table.

    Args:
        keys: How many of the columns, from the first, are what is grouped by.
    """
    plain = all(is_plain(field.type) for field in (*identity, *columns[:keys]))
    if table.num_rows == 0 or not plain:
        return None
    own, facts = FactColumns.split(table)
    ids, parts = own[: len(identity)], own[len(identity) :]
    segments = Segments.of(codes_of(ids))
    heads = segments.order[segments.first]
    names = [store_key(key) for key in key_values(identity, ids, heads)]
    kept = state.get_all(names)
    before = kept_columns(kept, columns)
    both = [
        pa.concat_arrays([take(part, segments.order), old])
        for part, old in zip(parts, before, strict=True)
    ]
    there = _is_there(both[:keys], facts.is_absent[segments.order], kept)
    previous = segments.previous
    stays = codes_of(both[:keys])
    same = (stays[: len(previous)] == stays[previous]) & there[: len(previous)]
    _keep(names, columns, both, segments, there, state)
    # In the order of rows: the row's old self, then the row.
    place = segments.positions
    outs = there[previous][place]
    ins = there[: len(previous)][place]
    rows = np.repeat(np.arange(len(place)), 2)
    numbers = np.tile([0, 1], len(place))
    sources = np.column_stack([previous[place], place]).ravel()
    old_sign = np.where(same[place], SILENT_OUT, OUT)
    signs = np.column_stack([old_sign, np.full(len(place), IN)]).ravel()
    given = np.column_stack([outs, ins]).ravel()
    rows, numbers, sources, signs = (x[given] for x in (rows, numbers, sources, signs))
    made = [take(column, sources) for column in both]
    return facts.caused([*made, pa.array(signs.astype(np.int32))], rows, numbers, facts.times[rows])


def kept_columns(
    kept: Sequence[tuple[object, ...] | None], fields: Sequence[Field]
) -> list[pa.Array]:
    """Return rows that are kept as columns; null where there is none."""
    if not kept:
        return [write_column([], field.type) for field in fields]
    nothing = (None,) * len(fields)
    values = zip(*(nothing if row is None else row for row in kept), strict=True)
    return [write_column(column, field.type) for column, field in zip(values, fields, strict=True)]


def kept_rows(
    columns: Sequence[pa.Array], fields: Sequence[Field], places: Ints
) -> list[tuple[object, ...]]:
    """Return the rows at some places as they are kept."""
    parts = [
        read_column(take(column, places), field.type)
        for column, field in zip(columns, fields, strict=True)
    ]
    return list(zip(*parts, strict=True))


def _is_there(keys: Sequence[pa.Array], is_absent: Flags, kept: Sequence[object | None]) -> Flags:
    """Tell which rows, and behind them which kept ones, are part of a group."""
    there = np.concatenate([~is_absent, np.array([row is not None for row in kept])])
    for key in keys:
        there &= key.is_valid().to_numpy(zero_copy_only=False)
    return there


def _keep(
    names: Sequence[str | int | bytes],
    columns: Sequence[Field],
    both: Sequence[pa.Array],
    segments: Segments,
    there: Flags,
    state: StateStore,
) -> None:
    rows = kept_rows(both, columns, segments.last)
    lives = there[segments.last].tolist()
    state.put_all(names, [row if lives[n] else None for n, row in enumerate(rows)])
