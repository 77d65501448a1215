"""Temporal values as plain numbers, at any depth: dates as days, timestamps as microseconds."""

import functools

import pyarrow as pa

from orion.formats.arrow import arrow_type
from orion.model import Array, Decimal, Map, Scalar, Struct, Type


@functools.cache
def number_type(kind: Type) -> pa.DataType:
    """Return the Arrow type of a SQL type whose dates and timestamps are numbers."""
    match kind:
        case Scalar.DATE:
            return pa.int32()
        case Scalar.TIMESTAMP:
            return pa.int64()
        case Scalar() | Decimal():
            return arrow_type(kind)
        case Array(element):
            return pa.list_(number_type(element))
        case Map(key, value):
            return pa.map_(number_type(key), number_type(value))
        case Struct(fields):
            return pa.struct([(field.name, number_type(field.type)) for field in fields])


def as_numbers(column: pa.Array, kind: Type) -> pa.Array:
    """Return a column with its dates and timestamps as numbers."""
    wanted = number_type(kind)
    return column if column.type == wanted else column.cast(wanted)
