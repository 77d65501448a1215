"""What runs inside a Spark task: raw records in, decoded columns and reasons out."""

from collections.abc import Callable, Iterable
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from orion.formats.json import JsonDecoder

Batches = Iterable[pa.RecordBatch]

REASON = "_reason"


@cache
def _decoder(schema: bytes) -> JsonDecoder:
    """Keep a decoder a schema for the life of the Python worker, which Spark reuses."""
    return JsonDecoder(pa.ipc.read_schema(pa.py_buffer(schema)))


def decoding(schema: pa.Schema, *, keep_tombstones: bool) -> Callable[[Batches], Batches]:
    """Return the function that Spark runs over batches of raw records.

    Each batch keeps its columns, gains the decoded ones and the reason; the value is kept only
    where there is a reason, since nobody else needs the bytes again.
    """
    shape = schema.serialize().to_pybytes()

    def decode(batches: Batches) -> Batches:
        for batch in batches:
            yield decode_batch(batch, shape, keep_tombstones=keep_tombstones)

    return decode


def decode_batch(batch: pa.RecordBatch, schema: bytes, *, keep_tombstones: bool) -> pa.RecordBatch:
    """Decode the `value` column of one batch."""
    values = batch.column("value")
    table, reasons = _decoder(schema).decode(values)
    if keep_tombstones:
        reasons = pc.if_else(values.is_null(), pa.scalar(None, pa.string()), reasons)
    kept = pc.if_else(pc.is_valid(reasons), values, pa.scalar(None, values.type))
    raw = [kept if name == "value" else batch.column(name) for name in batch.schema.names]
    decoded = [column.combine_chunks() for column in table.columns]
    names = [*batch.schema.names, *table.column_names, REASON]
    if keep_tombstones:
        raw.append(values.is_null())
        names.insert(len(batch.schema.names), "_tombstone")
    return pa.RecordBatch.from_arrays([*raw, *decoded, reasons], names=names)
