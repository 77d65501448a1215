"""Aggregates over whole columns: every row's result, and the state that each group ends with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orion.model import Scalar, Type
from orion.sql import step
from orion.state.columns.segment import Doubles, Flags, Ints, Segments, is_plain, take
from orion.state.value import read_column, write_column

# Whole numbers beyond are not exact as doubles.
_EXACT = 1 << 53
_WHOLE = (Scalar.INTEGER, Scalar.BIGINT)
_NUMBERS = (*_WHOLE, Scalar.DOUBLE)


@dataclass(frozen=True)
class Part:
    """What an aggregate is given, in the order of groups.

    Args:
        column: The argument.
        weight: 1 for a row that is added, -1 for one that is taken out.
        states: The state of each group before its first row.
    """

    kind: Type
    column: pa.Array
    weight: Ints
    segments: Segments
    states: Sequence[Any]
    constants: tuple[object, ...]

    @property
    def present(self) -> Flags:
        """Whether the argument of a row is not null."""
        found: Flags = self.column.is_valid().to_numpy(zero_copy_only=False)
        return found

    def numbers(self) -> Any:
        """Return the argument, 0 for null, negative where it is taken out."""
        filled = self.column.fill_null(0).to_numpy(zero_copy_only=False)
        wide = filled.astype(np.float64 if self.kind is Scalar.DOUBLE else np.int64)
        return wide * self.weight


@dataclass(frozen=True)
class Made:
    """What an aggregate makes.

    Args:
        results: The result behind each row, in the order of groups.
        before: The result of each group before its first row.
        states: The state of each group behind its last row.
    """

    results: pa.Array
    before: pa.Array
    states: list[Any]


def runs_by_columns(call: step.AggregateCall) -> bool:
    """Tell whether an aggregate has a way over whole columns."""
    name = call.function.name
    if len(call.arguments) != 1 or name not in _WAYS:
        return False
    kind = call.arguments[0].type
    if name in ("SUM", "AVG"):
        return kind in _NUMBERS
    if name in ("MIN", "MAX"):
        return kind is not None and (kind is Scalar.DOUBLE or is_plain(kind))
    # Of several values, lists are kept.
    return all(isinstance(constant, bool) for constant in call.constants)


def aggregate(
    call: step.AggregateCall,
    column: pa.Array,
    sign: Ints,
    segments: Segments,
    kept: Sequence[Any],
) -> Made:
    """Return what an aggregate makes of a column.

    Args:
        column: The argument, in the order of groups; the sign likewise.
        kept: The state of each group; None: it is new.
    """
    meaning = call.aggregation()
    states = [meaning.initial() if state is None else state for state in kept]
    kind = call.arguments[0].type or Scalar.STRING
    weight = np.where(sign < 0, -1, 1)
    part = Part(kind, column, weight, segments, states, call.constants)
    # Doubles may come to infinity and from there to NaN, as they do one by one.
    with np.errstate(over="ignore", invalid="ignore"):
        return _WAYS[call.function.name](part)


def _count(part: Part) -> Made:
    before = np.array(part.states, np.int64)
    totals = part.segments.running(part.present * part.weight, before)
    return Made(pa.array(totals), pa.array(before), totals[part.segments.last].tolist())


def _sum(part: Part) -> Made:
    totals, before = _totals(part, part.states)
    return Made(pa.array(totals), pa.array(before), totals[part.segments.last].tolist())


def _totals(part: Part, states: Sequence[Any]) -> tuple[Any, Any]:
    if part.kind is Scalar.DOUBLE:
        doubles: Doubles = np.array(states, np.float64)
        return part.segments.running_sum(part.numbers(), doubles), doubles
    before: Ints = np.array(states, np.int64)
    totals = part.segments.running(part.numbers(), before)
    if part.kind is Scalar.INTEGER:
        # They overflow as 32 bits do; 64 bits do so by themselves.
        half = 1 << 31
        totals = (totals + half) % (1 << 32) - half
    return totals, before


def _average(part: Part) -> Made:
    totals, total = _totals(part, [state[0] for state in part.states])
    before: Ints = np.array([state[1] for state in part.states], np.int64)
    counts = part.segments.running(part.present * part.weight, before)
    last = part.segments.last
    ends = zip(totals[last].tolist(), counts[last].tolist(), strict=True)
    return Made(_quotient(totals, counts), _quotient(total, before), [list(end) for end in ends])


def _quotient(totals: Any, counts: Ints) -> pa.Array:
    found: Doubles = np.zeros(len(totals))
    np.divide(totals, counts, out=found, where=counts != 0)
    if totals.dtype == np.int64:
        large = ((totals > _EXACT) | (totals < -_EXACT)) & (counts != 0)
        for place in np.flatnonzero(large).tolist():
            found[place] = int(totals[place]) / int(counts[place])
    return pa.array(found)


def _extreme(part: Part, direction: int) -> Made:
    """Rank all values, take the greatest rank so far, and look up what has it."""
    rows, groups = len(part.column), part.segments.count
    values = pa.concat_arrays([part.column, write_column(part.states, part.kind)])
    encoded = _comparable(values, part.kind).dictionary_encode()
    ranks = np.empty(len(encoded.dictionary), np.int64)
    ranks[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(ranks))
    codes = encoded.indices.fill_null(0).to_numpy()
    there = encoded.is_valid().to_numpy(zero_copy_only=False)
    # A row that is taken out leaves an extreme as it is.
    there[:rows] &= part.weight > 0
    ranked = np.zeros(rows + groups, np.int64)
    if len(ranks):
        scale = ranks + 1 if direction > 0 else len(ranks) - ranks
        ranked = np.where(there, scale[codes], 0)
    best = part.segments.running_max(ranked[:rows], ranked[rows:])
    holder = np.zeros(len(ranks) + 1, np.int64)
    holder[ranked] = np.arange(rows + groups)
    results = take(values, holder[best], best > 0)
    ends = best[part.segments.last]
    states = read_column(take(values, holder[ends], ends > 0), part.kind)
    return Made(results, values.slice(rows), states)


def _comparable(values: pa.Array, kind: Type) -> pa.Array:
    """Return doubles as whole numbers of the same order: -0.0 below 0.0, NaN above all."""
    if kind is not Scalar.DOUBLE:
        return values
    doubles = values.fill_null(0.0).to_numpy(zero_copy_only=False)
    bits = np.where(np.isnan(doubles), np.nan, doubles).view(np.int64)
    order = bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))
    return pa.array(order, mask=values.is_null().to_numpy(zero_copy_only=False))


def _by_offset(part: Part, *, is_first: bool) -> Made:
    """Find the row that holds the value, or the group's state behind all rows."""
    rows, segments = len(part.column), part.segments
    ignores_nulls = next(iter(part.constants), True)
    counts = (part.present if ignores_nulls else np.ones(rows, bool)) & (part.weight > 0)
    has = np.array([bool(state) for state in part.states])
    held = [state[0] if state else None for state in part.states]
    values = pa.concat_arrays([part.column, write_column(held, part.kind)])
    found = segments.earliest(counts) if is_first else segments.latest(counts)
    known = has[segments.group]
    use_kept = known if is_first else known & (found < 0)
    places = np.where(use_kept, rows + segments.group, found)
    ends = places[segments.last]
    lasts = read_column(take(values, ends, ends >= 0), part.kind)
    states = [[last] if end >= 0 else [] for last, end in zip(lasts, ends.tolist(), strict=True)]
    return Made(take(values, places, places >= 0), values.slice(rows), states)


_WAYS: dict[str, Callable[[Part], Made]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _average,
    "MIN": lambda part: _extreme(part, -1),
    "MAX": lambda part: _extreme(part, 1),
    "EARLIEST_BY_OFFSET": lambda part: _by_offset(part, is_first=True),
    "LATEST_BY_OFFSET": lambda part: _by_offset(part, is_first=False),
}
