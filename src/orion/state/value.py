"""Columns and rows of plain values between Arrow and operators."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from orion.formats import plain_column, plain_values
from orion.model import Field, Type
from orion.sql import tell_failure

Row = tuple[Any, ...]


def read_column(column: pa.Array | pa.ChunkedArray, kind: Type) -> list[Any]:
    """Return a column's values as operators take them."""
    return plain_values(column, kind)


def write_column(values: Sequence[Any], kind: Type) -> pa.Array:
    """Return plain values as a column; one that its type cannot hold is null."""
    return plain_column(
        values, kind, lambda at, error: tell_failure(str(kind), {"value": values[at]}, error)
    )


def read_rows(batches: Iterable[pa.RecordBatch], fields: Sequence[Field]) -> list[Row]:
    """Return the rows of Arrow batches as plain values."""
    rows: list[Row] = []
    for batch in batches:
        columns = [
            read_column(batch.column(number), field.type) for number, field in enumerate(fields)
        ]
        rows.extend(zip(*columns, strict=True))
    return rows


def write_rows(rows: Sequence[Row], fields: Sequence[Field]) -> pa.RecordBatch:
    """Return plain rows as an Arrow batch."""
    columns = zip(*rows, strict=True) if rows else [()] * len(fields)
    arrays = [
        write_column(list(column), field.type)
        for column, field in zip(columns, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=[f"c{n}" for n in range(len(fields))])
