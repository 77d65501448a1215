"""Kafka's own serializers: one number, text or bytes is the whole body."""

import numpy as np
import pyarrow as pa

from orion.formats.arrow import arrow_type, rows_of
from orion.formats.spec import Decoded, FormatSpec
from orion.model import Scalar

_NUMBERS = {Scalar.INTEGER: ">i4", Scalar.BIGINT: ">i8", Scalar.DOUBLE: ">f8"}


class KafkaCodec:
    """Big-endian numbers, UTF-8 text, plain bytes."""

    def __init__(self, spec: FormatSpec) -> None:
        self._spec = spec
        (self._column,) = spec.columns

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these bodies."""
        kind = self._column.type
        if kind in _NUMBERS:
            assert isinstance(kind, Scalar)
            column, reasons = _read_numbers(values, kind)
        elif kind is Scalar.STRING:
            column, reasons = _read_texts(values)
        else:
            column, reasons = values.cast(pa.binary()), pa.nulls(len(values), pa.string())
        return Decoded(rows_of([column], self._spec.columns, column.is_null()), reasons)

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return these rows as bodies; a null is a null body."""
        column = rows.flatten()[0]
        kind = self._column.type
        if kind not in _NUMBERS:
            return column.cast(pa.binary())
        assert isinstance(kind, Scalar)
        return _write_numbers(column, kind)


def _read_numbers(values: pa.Array, kind: Scalar) -> tuple[pa.Array, pa.Array]:
    dtype = np.dtype(_NUMBERS[kind])
    bodies = values.to_pylist()
    nothing = bytes(dtype.itemsize)
    right = [body is not None and len(body) == dtype.itemsize for body in bodies]
    joined = b"".join(b if ok else nothing for b, ok in zip(bodies, right, strict=True))
    numbers = np.frombuffer(joined, dtype).astype(dtype.newbyteorder("="))
    reasons = [
        None if ok or body is None else _wrong_length(kind, len(body), dtype.itemsize)
        for body, ok in zip(bodies, right, strict=True)
    ]
    column = pa.array(numbers, arrow_type(kind), mask=~np.array(right, bool))
    return column, pa.array(reasons, pa.string())


def _wrong_length(kind: Scalar, found: int, expected: int) -> str:
    return f"the body has {found} bytes, {kind} has {expected}"


def _write_numbers(column: pa.Array, kind: Scalar) -> pa.Array:
    dtype = np.dtype(_NUMBERS[kind])
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False).astype(dtype)
    fixed = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(dtype.itemsize), len(column), [None, pa.py_buffer(numbers.tobytes())]
    )
    written = fixed.cast(pa.binary())
    return pa.compute.if_else(column.is_null(), pa.scalar(None, pa.binary()), written)


def _read_texts(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    try:
        return values.cast(pa.string()), pa.nulls(len(values), pa.string())
    except pa.ArrowInvalid:
        pass
    texts: list[str | None] = []
    reasons: list[str | None] = []
    for body in values.to_pylist():
        text, reason = None, None
        try:
            text = None if body is None else body.decode()
        except UnicodeDecodeError:
            reason = "the body is not valid UTF-8"
        texts.append(text)
        reasons.append(reason)
    return pa.array(texts, pa.string()), pa.array(reasons, pa.string())
