"""NONE: no columns, so nothing is read and nothing is written."""

import pyarrow as pa

from orion.formats.spec import Decoded, FormatSpec


class NoneCodec:
    """The format of keys that a stream does not have."""

    def __init__(self, spec: FormatSpec) -> None:
        del spec

    def decode(self, values: pa.Array) -> Decoded:
        """Return a null row a value, whatever the value is."""
        count = len(values)
        return Decoded(pa.nulls(count, pa.struct([])), pa.nulls(count, pa.string()))

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return a null a row."""
        return pa.nulls(len(rows), pa.binary())
