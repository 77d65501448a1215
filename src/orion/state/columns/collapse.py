"""The changes of a batch made fewer, over whole columns."""

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from orion.state.columns.segment import Segments, codes_of, take


def last_changes(
    table: pa.Table, identity: Sequence[int], before: Collection[int], had: int, absent: int
) -> pa.Table:
    """Return the last change of each group, but for groups that came and went meanwhile.

    Args:
        identity: The columns that tell groups apart.
        before: The columns of what a group was before, which are those of its first change.
        had: The column that tells whether it was there before.
        absent: The column that tells whether it is gone.
    """
    if table.num_rows == 0:
        return table
    columns = [column.combine_chunks() for column in table.columns]
    segments = Segments.of(codes_of([columns[at] for at in identity]))
    first, last = segments.order[segments.first], segments.order[segments.last]
    was_there = columns[had].to_numpy(zero_copy_only=False)[first]
    is_gone = columns[absent].to_numpy(zero_copy_only=False)[last]
    told = np.flatnonzero(was_there | ~is_gone)
    told = told[np.argsort(last[told])]
    made = [
        take(column, (first if at in before else last)[told]) for at, column in enumerate(columns)
    ]
    return pa.Table.from_arrays(made, names=table.column_names)
