"""SQL types as Arrow types, and rows put together from columns."""

import functools
from collections.abc import Iterable, Sequence

import pyarrow as pa

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

TIMESTAMP = pa.timestamp("us", tz="UTC")
_SCALARS = {
    Scalar.BOOLEAN: pa.bool_(),
    Scalar.INTEGER: pa.int32(),
    Scalar.BIGINT: pa.int64(),
    Scalar.DOUBLE: pa.float64(),
    Scalar.STRING: pa.string(),
    Scalar.BYTES: pa.binary(),
    Scalar.TIME: pa.int32(),
    Scalar.DATE: pa.date32(),
    Scalar.TIMESTAMP: TIMESTAMP,
}


@functools.cache
def arrow_type(kind: Type) -> pa.DataType:
    """Return the Arrow type that carries a SQL type."""
    match kind:
        case Scalar():
            return _SCALARS[kind]
        case Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element))
        case Map(key, value):
            return pa.map_(arrow_type(key), arrow_type(value))
        case Struct(fields):
            return pa.struct([(field.name, arrow_type(field.type)) for field in fields])


def row_type(columns: Iterable[Field]) -> pa.DataType:
    """Return the Arrow struct of a row."""
    return arrow_type(Struct(tuple(columns)))


def rows_of(arrays: Sequence[pa.Array], columns: Sequence[Field], lacking: pa.Array) -> pa.Array:
    """Return a struct a row, null where a row is lacking.

    Args:
        lacking: A boolean a row.
    """
    fields = [pa.field(field.name, arrow_type(field.type)) for field in columns]
    if not fields:
        # Arrow cannot count the rows of a struct without columns.
        return pa.array([None if each else {} for each in lacking.to_pylist()], pa.struct([]))
    mask = lacking if lacking.true_count else None
    return pa.StructArray.from_arrays(list(arrays), fields=fields, mask=mask)
