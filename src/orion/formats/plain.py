"""Single values between Arrow and the plain form that expressions compute with.

Plain: a DATE is its days, a TIME and a TIMESTAMP their milliseconds, maps and structs are
dictionaries.
"""

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from orion.formats.arrow import arrow_type, row_type
from orion.formats.temporal import as_numbers, number_type
from orion.model import Array, Field, InvalidInputError, Map, Scalar, Struct, Type

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_EPOCH_DAY = datetime.date(1970, 1, 1)
_MS = datetime.timedelta(milliseconds=1)
# Of a TIMESTAMP in Arrow.
_US_PER_MS = 1_000
# What Arrow raises for a value of another type, or beyond the ends of its own.
_MISFITS = (pa.ArrowException, ValueError, TypeError, OverflowError, AttributeError)


def from_arrow(value: Any, kind: Type) -> Any:
    """Return a value as expressions take it: moments as numbers, maps as dictionaries."""
    if value is None:
        return None
    match kind:
        case Scalar.DATE:
            return (value - _EPOCH_DAY).days
        case Scalar.TIMESTAMP:
            return (value - _EPOCH) // _MS
        case Array(element):
            return [from_arrow(item, element) for item in value]
        case Map(key, element):
            pairs = value.items() if isinstance(value, dict) else value
            return {from_arrow(k, key): from_arrow(v, element) for k, v in pairs}
        case Struct(fields):
            return {f.name: from_arrow(value.get(f.name), f.type) for f in fields}
    return value


def plain_values(column: pa.Array | pa.ChunkedArray, kind: Type) -> list[Any]:
    """Return a column's values as expressions take them, moments beyond Python's calendar too."""
    if not differs_in_arrow(kind):
        found: list[Any] = column.to_pylist()
        return found
    return [_from_numbers(value, kind) for value in as_numbers(column, kind).to_pylist()]


def _from_numbers(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    match kind:
        case Scalar.TIMESTAMP:
            return value // _US_PER_MS
        case Array(element):
            return [_from_numbers(item, element) for item in value]
        case Map(key, element):
            return {_from_numbers(k, key): _from_numbers(v, element) for k, v in value}
        case Struct(fields):
            return {f.name: _from_numbers(value.get(f.name), f.type) for f in fields}
    return value


def _to_numbers(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    match kind:
        case Scalar.TIMESTAMP:
            # Not of a text, which would be repeated.
            return math.trunc(value) * _US_PER_MS
        case Scalar.DOUBLE:
            return float(value)
        case Array(element):
            return [_to_numbers(item, element) for item in value]
        case Map(key, element):
            return [(_to_numbers(k, key), _to_numbers(v, element)) for k, v in value.items()]
        case Struct(fields):
            return {f.name: _to_numbers(value.get(f.name), f.type) for f in fields}
    return value


def differs_in_arrow(kind: Type) -> bool:
    """Tell whether values of a type have another form in Arrow than the plain one."""
    match kind:
        case Array(element):
            return differs_in_arrow(element)
        case Map():
            return True
        case Struct(fields):
            return any(differs_in_arrow(field.type) for field in fields)
    return kind in (Scalar.DATE, Scalar.TIMESTAMP)


def to_arrow(value: Any, kind: Type) -> Any:
    """Return a value as Arrow takes it."""
    if value is None:
        return None
    match kind:
        case Scalar.DATE:
            return _EPOCH_DAY + datetime.timedelta(days=value)
        case Scalar.TIMESTAMP:
            return _EPOCH + value * _MS
        case Scalar.DOUBLE:
            return float(value)
        case Array(element):
            return [to_arrow(item, element) for item in value]
        case Map(key, element):
            return [(to_arrow(k, key), to_arrow(v, element)) for k, v in value.items()]
        case Struct(fields):
            return {f.name: to_arrow(value.get(f.name), f.type) for f in fields}
    return value


def plain_column(
    values: Sequence[Any], kind: Type, on_misfit: Callable[[int, Exception], None]
) -> pa.Array:
    """Return plain values as a column; one that its type cannot hold is null, and the others stay.

    Args:
        on_misfit: Is given the place of such a value, and why it does not fit.
    """
    try:
        return _array(values, kind)
    except _MISFITS:
        return _array([_fitting(v, kind, at, on_misfit) for at, v in enumerate(values)], kind)


def _array(values: Sequence[Any], kind: Type) -> pa.Array:
    if differs_in_arrow(kind) or kind is Scalar.DOUBLE:
        values = [_to_numbers(value, kind) for value in values]
    made, wanted = pa.array(values, number_type(kind)), arrow_type(kind)
    return made if made.type == wanted else made.cast(wanted)


def _fitting(value: Any, kind: Type, at: int, on_misfit: Callable[[int, Exception], None]) -> Any:
    try:
        _array([value], kind)
    except _MISFITS as error:
        on_misfit(at, error)
        return None
    return value


class RowMisfitError(InvalidInputError):
    """Raised when a value cannot be held by its column."""

    def __init__(self, columns: tuple[Field, ...], reason: str) -> None:
        self.columns, self.reason = columns, reason
        names = ", ".join(str(field) for field in columns)
        super().__init__(f"A row does not fit the columns {names}: {reason}.")


def plain_rows(rows: list[Mapping[str, Any] | None], columns: tuple[Field, ...]) -> pa.Array:
    """Return rows of plain values as an Arrow struct array."""
    kind = Struct(columns)
    try:
        made = pa.array([_to_numbers(row, kind) for row in rows], number_type(kind))
        return made if made.type == row_type(columns) else made.cast(row_type(columns))
    except _MISFITS as error:
        raise RowMisfitError(columns, str(error)) from error
