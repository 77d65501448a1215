"""What runs inside a Spark task: a batch of bytes in, rows and reasons out, and back."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache

import pyarrow as pa

from orion.formats.arrow import row_type
from orion.formats.codec import codec_of
from orion.formats.plain_json import JsonDecoder
from orion.formats.schema_error import UnwritableRowError
from orion.formats.schema_source import MemorySchemas, SchemaSource
from orion.formats.spec import Codec, FormatSpec
from orion.formats.wire import HEADER_BYTES

REASON = "_reason"
# The fields of a decoded batch.
ROW_FIELD, REASON_FIELD = "row", "reason"
# The first field of a batch that is encoded as far as rows fit; the second is the reason again.
BODY_FIELD = "body"
_MAX_CODECS = 256
_OWN_SCHEMAS = MemorySchemas()


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


@lru_cache(_MAX_CODECS)
def _codec(spec: FormatSpec, schemas: SchemaSource | None) -> Codec:
    """Keep codecs for the life of the Python worker: they learn schemas and spellings."""
    return codec_of(spec, schemas)


# Spark learns from the annotations of the inner functions that they map array to array.
def row_decoding(spec: FormatSpec, schemas: SchemaSource | None) -> Callable[[pa.Array], pa.Array]:
    """Return the function from bytes to structs of the row and the reason."""
    shape = pa.struct([(ROW_FIELD, row_type(spec.columns)), (REASON_FIELD, pa.string())])

    def decode(values: pa.Array) -> pa.Array:
        if values.null_count == len(values):
            # Where Spark reads most records by itself, only a few come here.
            return pa.nulls(len(values), shape)
        decoded = _codec(spec, schemas).decode(values)
        return pa.StructArray.from_arrays([decoded.rows, decoded.reasons], fields=list(shape))

    return decode


def row_transcoding(
    spec: FormatSpec, schemas: SchemaSource | None
) -> Callable[[pa.Array], pa.Array]:
    """Return the function from bytes of any schema to bodies of the columns' own Avro schema.

    A body stands behind a zero byte, a reason why there is none behind a one: a single column
    crosses to Spark and back, which is what makes rare schemas cheap for all other records.
    """
    plain = replace(spec, schema_id=None, subject="")

    def transcode(values: pa.Array) -> pa.Array:
        if values.null_count == len(values):
            return pa.nulls(len(values), pa.binary())
        decoded = _codec(spec, schemas).decode(values)
        bodies = _codec(plain, _OWN_SCHEMAS).encode(decoded.rows).to_pylist()
        reasons = decoded.reasons.to_pylist()
        return pa.array(
            [
                b"\1" + reason.encode() if reason else body and b"\0" + body[HEADER_BYTES:]
                for body, reason in zip(bodies, reasons, strict=True)
            ],
            pa.binary(),
        )

    return transcode


def row_encoding(spec: FormatSpec, schemas: SchemaSource | None) -> Callable[[pa.Array], pa.Array]:
    """Return the function from rows to bytes."""

    def encode(rows: pa.Array) -> pa.Array:
        return _codec(spec, schemas).encode(rows)

    return encode


def fitting_row_encoding(
    spec: FormatSpec, schemas: SchemaSource | None
) -> Callable[[pa.Array], pa.Array]:
    """Return the function from rows to structs of the bytes and the reason there are none."""
    names = [BODY_FIELD, REASON_FIELD]

    def encode(rows: pa.Array) -> pa.Array:
        codec = _codec(spec, schemas)
        try:
            bodies, reasons = codec.encode(rows), pa.nulls(len(rows), pa.string())
        except UnwritableRowError:
            bodies, reasons = _encode_one_by_one(codec, rows)
        return pa.StructArray.from_arrays([bodies, reasons], names=names)

    return encode


def _encode_one_by_one(codec: Codec, rows: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Encode a batch in which a row cannot be written."""
    bodies, reasons = [], []
    for place in range(len(rows)):
        body, reason = None, None
        try:
            body = codec.encode(rows.slice(place, 1))[0].as_py()
        except UnwritableRowError as error:
            reason = error.text
        bodies.append(body)
        reasons.append(reason)
    return pa.array(bodies, pa.binary()), pa.array(reasons, pa.string())
