"""Rows brought together by key: running totals, extremes and last values within each stretch."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from orion.model import Decimal, Scalar, Struct, Type

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]

# Numbers that are put together from two must stay below this.
_MOST = 1 << 62
# A stretch that is longer is added up by itself, the others all at once, a row of each at a time.
_LONG = 64


def is_plain(kind: Type) -> bool:
    """Tell whether values of a type are equal when their columns are, so that they can be keys."""
    if isinstance(kind, Struct):
        return all(is_plain(field.type) for field in kind.fields)
    # -0.0 equals 0.0, and NaN nothing.
    return isinstance(kind, Decimal) or (isinstance(kind, Scalar) and kind is not Scalar.DOUBLE)


def codes_of(columns: Sequence[pa.Array]) -> Ints:
    """Return a number for each row, the same for those whose columns are all the same."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        if pa.types.is_struct(column.type):
            there = column.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
            own = _both(there, codes_of(column.flatten()))
        elif pa.types.is_integer(column.type) and column.null_count == 0:
            own = column.to_numpy(zero_copy_only=False).astype(np.int64)
        else:
            encoded = column.dictionary_encode(null_encoding="encode")
            own = encoded.indices.to_numpy().astype(np.int64)
        codes = _both(codes, own)
    return codes


def _both(one: Ints, other: Ints) -> Ints:
    """Return a number for each pair of two."""
    if len(one) == 0:
        return one
    if not one.any():
        return other
    low, high = int(other.min()), int(other.max())
    if high - low >= _MOST or (int(one.max()) + 1) * (high - low + 1) >= _MOST or one.min() < 0:
        one = np.unique(one, return_inverse=True)[1].astype(np.int64)
        other = np.unique(other, return_inverse=True)[1].astype(np.int64)
        low, high = 0, int(other.max())
    return one * (high - low + 1) + (other - low)


@dataclass(frozen=True)
class Segments:
    """Rows in the order of their groups; what is given and returned is in that order too.

    Args:
        order: The rows, those of one group together, each group in the order of its rows.
        group: The group of each of them.
        first: Where each group begins.
    """

    order: Ints
    group: Ints
    first: Ints

    @classmethod
    def of(cls, codes: Ints) -> "Segments":
        """Bring rows of the same code together."""
        order = np.argsort(codes, kind="stable")
        sorted_codes = codes[order]
        begins = np.append(True, sorted_codes[1:] != sorted_codes[:-1])[: len(codes)]
        return cls(order, np.cumsum(begins) - 1, np.flatnonzero(begins))

    def split(self, begins: Flags) -> "Segments":
        """Return the same rows with groups cut where flags say that another one begins."""
        begins = begins.copy()
        begins[self.first] = True
        return Segments(self.order, np.cumsum(begins) - 1, np.flatnonzero(begins))

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.first)

    @cached_property
    def last(self) -> Ints:
        """Where each group ends."""
        return np.append(self.first[1:], len(self.order))[: self.count] - 1

    @cached_property
    def previous(self) -> Ints:
        """Where each row finds what was before it: one ahead, or behind all rows by its group."""
        found = np.arange(-1, len(self.order) - 1)
        found[self.first] = len(self.order) + np.arange(self.count)
        return found

    @cached_property
    def positions(self) -> Ints:
        """Where each row, as they came, is found in the order of groups."""
        found = np.empty_like(self.order)
        found[self.order] = np.arange(len(self.order))
        return found

    def running(self, values: Ints, before: Ints) -> Ints:
        """Return running totals within each group, beginning with what was before."""
        totals = np.cumsum(values)
        ahead = totals[self.first] - values[self.first]
        found: Ints = totals - ahead[self.group] + before[self.group]
        return found

    def running_max(self, values: Ints, before: Ints) -> Ints:
        """Return the greatest value so far within each group, and before it."""
        low = min(int(values.min()), int(before.min()))
        span = max(int(values.max()), int(before.max())) - low + 1
        if span * self.count >= _MOST:
            known, places = np.unique(np.concatenate([values, before]), return_inverse=True)
            split = np.split(places.astype(np.int64), [len(values)])
            ranked: Ints = known[self.running_max(split[0], split[1])]
            return ranked
        floor = self.group * span - low
        found: Ints = np.maximum.accumulate(values + floor) - floor
        return np.maximum(found, before[self.group])

    def running_sum(self, values: Doubles, before: Doubles) -> Doubles:
        """Return running totals of doubles, added one by one: rounding depends on the order."""
        found = values.copy()
        lengths = self.last - self.first + 1
        for group in np.flatnonzero(lengths > _LONG).tolist():
            begin, end = self.first[group], self.last[group] + 1
            found[begin] += before[group]
            np.add.accumulate(found[begin:end], out=found[begin:end])
        short = np.flatnonzero(lengths <= _LONG)
        totals, at = before[short], self.first[short]
        left = lengths[short]
        while len(at):
            totals = totals + found[at]
            found[at] = totals
            more = left > 1
            totals, at, left = totals[more], at[more] + 1, left[more] - 1
        return found

    def latest(self, holds: Flags) -> Ints:
        """Return where, up to each row of its group, a flag was last set; -1: nowhere."""
        found: Ints = np.maximum.accumulate(np.where(holds, np.arange(len(holds)), -1))
        return np.where(found >= self.first[self.group], found, -1)

    def earliest(self, holds: Flags) -> Ints:
        """Return where, up to each row of its group, a flag was first set; -1: nowhere."""
        places = np.where(holds, np.arange(len(holds)), len(holds))
        firsts = np.minimum.reduceat(places, self.first)[self.group]
        return np.where(firsts <= np.arange(len(holds)), firsts, -1)


def take(column: pa.Array, places: npt.NDArray[Any], holds: Flags | None = None) -> pa.Array:
    """Return the values at places; null where flags do not hold."""
    if holds is None:
        return column.take(pa.array(places))
    return column.take(pa.array(places, mask=~holds))
