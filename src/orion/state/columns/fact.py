"""The facts of rows as columns: rows in the order of their places, and rows that others cause."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from orion.state.columns.segment import Flags, Ints, take
from orion.state.fact import FACTS


def sorted_table(table: pa.Table, order: int) -> pa.Table | None:
    """Return rows in the order of their places; None where these differ in length."""
    places = table.column(order).combine_chunks()
    if table.num_rows == 0:
        return table
    lengths = np.diff(places.offsets.to_numpy())
    if lengths.min() != lengths.max() or places.null_count:
        return None
    flat = places.flatten().to_numpy().reshape(-1, lengths[0])
    return table.take(pa.array(np.lexsort(flat.T[::-1])))


def place_column(flat: Ints) -> pa.ListArray:
    """Return places by their parts, a row each."""
    offsets = np.arange(0, flat.size + 1, flat.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat.ravel()))


@dataclass(frozen=True)
class FactColumns:
    """The facts of a table's rows."""

    times: Ints
    sequences: pa.ListArray
    is_absent: Flags
    headers: pa.Array
    origins: pa.Array

    @classmethod
    def split(cls, table: pa.Table) -> "tuple[list[pa.Array], FactColumns]":
        """Return a table's own columns and the facts behind them."""
        columns = [column.combine_chunks() for column in table.columns]
        times, sequences, is_absent, headers, origins = columns[-len(FACTS) :]
        absent = is_absent.to_numpy(zero_copy_only=False)
        facts = cls(times.to_numpy(), sequences, absent, headers, origins)
        return columns[: -len(FACTS)], facts

    def of_late(self, rows: Ints) -> tuple[pa.Array, pa.Array, Ints]:
        """Return what tells of rows that came too late: origins, places, times."""
        return take(self.origins, rows), take(self.sequences, rows), self.times[rows]

    def caused(
        self,
        own: Sequence[pa.Array],
        rows: Ints,
        numbers: Ints,
        times: Ints,
        is_absent: Flags | None = None,
    ) -> pa.Table:
        """Return columns with the facts of rows that are caused by others.

        Args:
            rows: The row that each is caused by.
            numbers: Which one it is of that row's.
        """
        parts = [
            *own,
            pa.array(times),
            _appended(take(self.sequences, rows), numbers),
            pa.array(np.zeros(len(rows), bool) if is_absent is None else is_absent),
            take(self.headers, rows),
            take(self.origins, rows),
        ]
        return pa.Table.from_arrays(parts, names=[f"c{n}" for n in range(len(parts))])


def _appended(sequences: pa.ListArray, numbers: Ints) -> pa.ListArray:
    """Return places with the number of an output appended to each."""
    if len(sequences) == 0:
        return sequences
    flat = sequences.flatten().to_numpy().reshape(len(sequences), -1)
    return place_column(np.hstack([flat, numbers.astype(np.int64).reshape(-1, 1)]))
