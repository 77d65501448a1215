"""Columns of text to columns of their types, whole columns at a time.

A text that reads otherwise from the original digits, or not at all, is marked as doubtful.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orion.formats.arrow import TIMESTAMP, arrow_type
from orion.model import Array, Decimal, Map, Scalar, Struct, Type

# Text that may be an object, an array, or a number that lost its spelling on the way.
_DOUBTFUL_TEXT = r"^(?:[{\[]|-?[0-9]+(?:[.eE]|[0-9]{18}))"
_DOUBTFUL_START = np.zeros(256, bool)
_DOUBTFUL_START[list(b"{[-0123456789")] = True
# A double prints at most this many digits without loss.
_DECIMAL_TEXT = r"^-?[0-9]{1,15}$|^-?[0-9.]{1,15}$"
_WHOLE_TEXT = r"^-?[0-9]{1,19}$"
_DOUBLE_TEXT = r"^-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"


def fit(column: pa.Array, kind: Type, spelling: Any) -> tuple[pa.Array, pa.Array]:
    """Return a column in its type, and which values are lacking or doubtful."""
    match kind:
        case Struct(fields):
            arrays, doubt = [], column.is_null()
            for field in fields:
                name, inner = spelling[field.name]
                array, doubtful = fit(pc.struct_field(column, [name]), field.type, inner)
                arrays.append(array)
                doubt = pc.or_(doubt, doubtful)
            return pa.StructArray.from_arrays(arrays, fields=list(arrow_type(kind))), doubt
        case Array(element):
            values, inner_doubt = fit(column.values, element, spelling)
            array = pa.ListArray.from_arrays(column.offsets, values, type=arrow_type(kind))
            return array, _any_inside(column, inner_doubt)
        case Map(_, value):
            items, inner_doubt = fit(column.items, value, None)
            array = pa.MapArray.from_arrays(column.offsets, column.keys, items)
            return array.cast(arrow_type(kind)), _any_inside(column, inner_doubt)
        case _:
            array, doubt = fit_scalar(column, kind)
            return array, pc.or_(doubt, array.is_null()) if array.null_count else doubt


def _any_inside(column: pa.Array, doubt: pa.Array) -> pa.Array:
    """Return which lists are lacking or hold a doubtful element."""
    lacking = column.is_null()
    if not doubt.true_count:
        return lacking
    # Counting up to each list's ends tells whether anything lies between.
    counts = pa.concat_arrays(
        [pa.array([0], pa.int64()), pc.cumulative_sum(doubt.cast(pa.int64()))]
    )
    ends = counts.take(column.offsets)
    return pc.or_(lacking, pc.not_equal(ends.slice(1), ends.slice(0, len(ends) - 1)))


def fit_scalar(column: pa.Array, kind: Type) -> tuple[pa.Array, pa.Array]:
    """Return a column of scalars in its type, null where it does not fit, and what is doubtful."""
    nothing = pa.repeat(pa.scalar(False), len(column))
    match kind:
        case Scalar.STRING:
            if not _may_be_doubtful(column):
                return column, nothing
            return column, pc.match_substring_regex(column, _DOUBTFUL_TEXT).fill_null(False)
        case Scalar.BOOLEAN:
            true, false = pc.equal(column, "true"), pc.equal(column, "false")
            return pc.if_else(true, True, pc.if_else(false, False, None)).cast(pa.bool_()), nothing
        case Scalar.DOUBLE:
            return _cast(column, pa.float64(), _DOUBLE_TEXT), nothing
        case Scalar.TIMESTAMP:
            return _to_timestamp(column), nothing
        case Scalar.DATE:
            return _cast(column, pa.int32(), _WHOLE_TEXT).cast(pa.date32()), _hex_text(column)
        case Decimal():
            return _cast(column, arrow_type(kind), _DECIMAL_TEXT), _long_text(column)
        case _:
            return _cast(column, arrow_type(kind), _WHOLE_TEXT), _hex_text(column)


def _hex_text(column: pa.Array) -> pa.Array:
    """Return which texts Arrow would read as hexadecimal numbers."""
    if not _holds_x(column):
        return pa.repeat(pa.scalar(False), len(column))
    return pc.match_substring(column, "x", ignore_case=True).fill_null(False)


def _holds_x(column: pa.Array) -> bool:
    """Tell whether any text may hold an x: one look at all bytes, a tenth of a look at each row."""
    content, starts = _bytes_of(column)
    # Small letters differ from capitals by this bit.
    return bool(((content[starts[0] : starts[-1]] | 0x20) == ord("x")).any())


def _may_be_doubtful(column: pa.Array) -> bool:
    """Tell by the first bytes whether any text may be of the doubtful kind."""
    content, starts = _bytes_of(column)
    if not len(content):
        return False
    # Where a text is empty, its neighbour's first byte is looked at, which does no harm.
    first = content[np.minimum(starts[:-1], len(content) - 1)]
    return bool(_DOUBTFUL_START[first].any())


def _bytes_of(column: pa.Array) -> tuple[Any, Any]:
    """Return the bytes of a column of texts, and where each text begins and the last one ends."""
    _, places, content = column.buffers()
    if places is None:
        return np.zeros(0, np.uint8), np.zeros(1, np.int32)
    starts = np.frombuffer(places, np.int32)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(content or b"", np.uint8), starts


def _long_text(column: pa.Array) -> pa.Array:
    return pc.invert(pc.match_substring_regex(column, _DECIMAL_TEXT)).fill_null(True)


def _cast(column: pa.Array, kind: pa.DataType, pattern: str) -> pa.Array:
    """Return text as a type; null where it does not match or fit."""
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        pass
    fits = pc.match_substring_regex(column, pattern)
    try:
        return pc.if_else(fits, column, pa.scalar(None, pa.string())).cast(kind)
    except pa.ArrowInvalid:
        return pa.nulls(len(column), kind)


def _to_timestamp(column: pa.Array) -> pa.Array:
    """Read numbers as milliseconds, else ISO text; mixed batches read the kind of the first."""
    whole = _cast(column, pa.int64(), _WHOLE_TEXT)
    if whole.null_count < len(column) or column.null_count == len(column):
        try:
            return pc.multiply_checked(whole, 1_000).cast(TIMESTAMP)
        except pa.ArrowInvalid:
            return pa.nulls(len(column), TIMESTAMP)
    return _iso_timestamp(column)


def _iso_timestamp(column: pa.Array) -> pa.Array:
    for kind in (TIMESTAMP, pa.timestamp("us")):
        try:
            found = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        return found if kind == TIMESTAMP else pc.assume_timezone(found, "UTC")
    return pa.nulls(len(column), TIMESTAMP)
