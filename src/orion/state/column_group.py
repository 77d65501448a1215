"""GROUP BY over whole columns: the same changes as row by row, for aggregates of whole numbers.

Rows are brought together by key; a running total over each stretch gives every row's result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from orion.model import Field, Scalar
from orion.sql import step
from orion.state.store import Key, StateStore, store_key

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_WHOLE = (Scalar.INTEGER, Scalar.BIGINT)
_PLAIN_KEYS = (*_WHOLE, Scalar.STRING, Scalar.BOOLEAN, Scalar.BYTES)
# A group's number and a time share 64 bits: times until the year 2109, two million groups.
_TIME_BITS = 42
_MOST_GROUPS = 1 << (62 - _TIME_BITS)
_BITS = {Scalar.INTEGER: 32, Scalar.BIGINT: 64}


def can_run(keys: Sequence[Field], calls: Sequence[step.AggregateCall]) -> bool:
    """Tell whether keys are plain and all aggregates count, sum or average whole numbers."""
    return all(key.type in _PLAIN_KEYS for key in keys) and all(
        call.function.name == "COUNT"
        or (call.function.name in ("SUM", "AVG") and call.arguments[0].type in _WHOLE)
        for call in calls
    )


@dataclass(frozen=True)
class _Groups:
    """Rows in the order of their groups.

    Args:
        order: The rows, those of one group together, each group in the order of its rows.
        group: The group of each of them.
        first: Where each group begins.
        keys: The key of each group.
    """

    order: Ints
    group: Ints
    first: Ints
    keys: list[tuple[Any, ...]]

    def running(self, values: Ints, base: Ints) -> Ints:
        """Return running totals within each group, beginning with its base."""
        totals = np.cumsum(values)
        before = totals[self.first] - values[self.first]
        found: Ints = totals - before[self.group] + base[self.group]
        return found

    def latest(self, times: Ints, base: Ints) -> Ints:
        """Return the latest time so far within each group."""
        tagged = (self.group << _TIME_BITS) | times
        found: Ints = np.maximum.accumulate(tagged) & ((1 << _TIME_BITS) - 1)
        return np.maximum(found, base[self.group])

    def before(self, values: npt.NDArray[Any], base: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return, for each row, the value of the row before it in its group, or the base."""
        shifted = np.roll(values, 1)
        shifted[self.first] = base
        return shifted

    def last(self, values: npt.NDArray[Any]) -> list[Any]:
        """Return the last value of each group."""
        ends = np.append(self.first[1:], len(values)) - 1
        found: list[Any] = values[ends].tolist()
        return found

    def as_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return values in the order of the rows that came in."""
        found = np.empty_like(values)
        found[self.order] = values
        return found


def run_columns(
    table: pa.Table, keys: int, calls: Sequence[step.AggregateCall], state: StateStore
) -> pa.Table | None:
    """Return a change of its group for every row of a table; None where rows must be looked at.

    Args:
        table: Keys, arguments of the calls, sign, time, sequence, absent, headers, origin; sorted.
    """
    sign, time, sequence = (table.column(table.num_columns - 6 + n) for n in range(3))
    if table.num_rows == 0 or np.any(sign.to_numpy() != 1):
        return None
    groups = _groups(table, keys)
    times = time.to_numpy()[groups.order]
    if len(groups.keys) > _MOST_GROUPS or times.min() < 0 or times.max() >> _TIME_BITS:
        return None
    names: list[Key] = [store_key(key) for key in groups.keys]
    state.load(names)
    kept = [state.get(name) for name in names]
    made = [_aggregate(table, keys, calls, n, groups, kept) for n in range(len(calls))]
    base = np.array([0 if k is None else k[1] for k in kept], np.int64)
    latest = groups.latest(times, base)
    lasts = zip(names, zip(*(part.states for part in made), strict=True), strict=True)
    for (name, states), moment in zip(lasts, groups.last(latest), strict=True):
        state.put(name, (list(states), moment))
    had = groups.before(np.ones(len(times), bool), np.array([k is not None for k in kept]))
    return _table(table, keys, made, groups, (latest, had, sequence))


def _groups(table: pa.Table, keys: int) -> _Groups:
    codes = np.zeros(table.num_rows, np.int64)
    for number in range(keys):
        column = table.column(number).combine_chunks().dictionary_encode()
        codes = codes * len(column.dictionary) + column.indices.to_numpy()
    _, firsts, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    group = inverse[order].astype(np.int64)
    first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    found = zip(*(table.column(n).take(firsts).to_pylist() for n in range(keys)), strict=True)
    return _Groups(order, group, first, list(found))


@dataclass(frozen=True)
class _Made:
    """An aggregate's results, the ones before, and the state of each group behind them."""

    results: npt.NDArray[Any]
    old: npt.NDArray[Any]
    states: list[Any]


def _aggregate(
    table: pa.Table,
    keys: int,
    calls: Sequence[step.AggregateCall],
    number: int,
    groups: _Groups,
    kept: Sequence[Any],
) -> _Made:
    call = calls[number]
    at = keys + sum(len(other.arguments) for other in calls[:number])
    column = table.column(at).combine_chunks()
    present = column.is_valid().to_numpy(zero_copy_only=False)[groups.order]
    states = [None if k is None else k[0][number] for k in kept]
    if call.function.name == "COUNT":
        return _count(present, states, groups)
    whole = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)[groups.order]
    kind = call.arguments[0].type
    assert isinstance(kind, Scalar)
    if call.function.name == "SUM":
        return _sum(whole, states, groups, _fitter(kind))
    return _average(whole, present, states, groups, _fitter(kind))


def _count(present: Flags, states: Sequence[Any], groups: _Groups) -> _Made:
    base = np.array([s or 0 for s in states], np.int64)
    results = groups.running(present.astype(np.int64), base)
    return _Made(results, groups.before(results, base), groups.last(results))


def _fitter(kind: Scalar) -> Callable[[Ints], Ints]:
    """Return what makes totals overflow as the type does; 64 bits do so by themselves."""
    half = 1 << 31
    if _BITS[kind] == 64:
        return lambda values: values
    return lambda values: (values + half) % (1 << 32) - half


def _sum(whole: Ints, states: Sequence[Any], groups: _Groups, fit: Callable[[Ints], Ints]) -> _Made:
    base = np.array([s or 0 for s in states], np.int64)
    results = fit(groups.running(whole, base))
    return _Made(results, groups.before(results, base), groups.last(results))


def _average(
    whole: Ints,
    present: Flags,
    states: Sequence[Any],
    groups: _Groups,
    fit: Callable[[Ints], Ints],
) -> _Made:
    sums = _sum(whole, [s and s[0] for s in states], groups, fit)
    counts = _count(present, [s and s[1] for s in states], groups)
    pairs = zip(sums.states, counts.states, strict=True)
    return _Made(
        _quotient(sums.results, counts.results),
        _quotient(sums.old, counts.old),
        [list(pair) for pair in pairs],
    )


def _quotient(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = np.zeros(len(sums))
    np.divide(sums, counts, out=found, where=counts != 0)
    return found


def _table(
    table: pa.Table,
    keys: int,
    made: Sequence[_Made],
    groups: _Groups,
    facts: tuple[Ints, Flags, pa.ChunkedArray],
) -> pa.Table:
    latest, had, sequence = facts
    columns: list[Any] = [table.column(n) for n in range(keys)]
    columns += [pa.array(groups.as_rows(part.results)) for part in made]
    columns += [pa.array(groups.as_rows(part.old)) for part in made]
    columns.append(pa.array(groups.as_rows(had)))
    columns.append(pa.array(groups.as_rows(latest)))
    columns.append(_appended(sequence.combine_chunks()))
    columns.append(pa.repeat(False, table.num_rows))
    columns += [table.column(table.num_columns - 2), table.column(table.num_columns - 1)]
    return pa.Table.from_arrays(columns, names=[f"c{n}" for n in range(len(columns))])


def _appended(sequences: pa.ListArray) -> pa.ListArray:
    """Return places with that of the first output appended."""
    width = len(sequences.flatten()) // len(sequences)
    flat = sequences.flatten().to_numpy().reshape(-1, width)
    grown = np.hstack([flat, np.zeros((len(flat), 1), np.int64)])
    offsets = np.arange(0, grown.size + 1, width + 1, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(grown.ravel()))


def sorted_table(table: pa.Table, order: int) -> pa.Table | None:
    """Return a table in the order of its places; None where places differ in length."""
    places = table.column(order).combine_chunks()
    if table.num_rows == 0:
        return table
    lengths = np.diff(places.offsets.to_numpy())
    if lengths.min() != lengths.max() or places.null_count:
        return None
    flat = places.flatten().to_numpy().reshape(-1, lengths[0])
    return table.take(pa.array(np.lexsort(flat.T[::-1])))


def cast_results(table: pa.Table, types: Sequence[Any]) -> pa.Table:
    """Return a table whose columns have the types that Spark was told."""
    columns = [
        column if column.type == kind else column.cast(kind)
        for column, kind in zip(table.columns, types, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)
