"""What runs inside a Spark task: a batch of values in, decoded columns and reasons out."""

from collections.abc import Callable
from functools import cache

import pyarrow as pa

from orion.formats.json import JsonDecoder

REASON = "_reason"


@cache
def _decoder(schema: bytes) -> JsonDecoder:
    """Keep a decoder a schema for the life of the Python worker, which Spark reuses."""
    return JsonDecoder(pa.ipc.read_schema(pa.py_buffer(schema)))


def decoding(schema: pa.Schema) -> Callable[[pa.Array], pa.Array]:
    """Return the function from values to structs: the schema's columns, then the reason."""
    shape, names = schema.serialize().to_pybytes(), [*schema.names, REASON]

    def decode(values: pa.Array) -> pa.Array:
        columns, reasons = _decoder(shape).decode(values)
        return pa.StructArray.from_arrays([*columns, reasons], names=names)

    return decode
