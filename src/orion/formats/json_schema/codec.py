"""JSON_SR: JSON bodies behind a schema id."""

import functools

import pyarrow as pa
import pyarrow.compute as pc

from orion.formats.json import JsonCodec
from orion.formats.json_schema.required import Required, check_required, required_columns
from orion.formats.json_schema.schema import json_schema
from orion.formats.schema_source import Schema, SchemaKind, SchemaSource
from orion.formats.spec import Decoded, FormatSpec
from orion.formats.wire import Readers, header, split_headers, writing_schema


class JsonSchemaCodec:
    """Reads the JSON whatever its schema allows: the id must be one of a JSON schema."""

    def __init__(self, spec: FormatSpec, schemas: SchemaSource) -> None:
        self._spec, self._schemas = spec, schemas
        self._json = JsonCodec(spec)
        self._readers: Readers[Schema] = Readers(schemas, SchemaKind.JSON, lambda schema: schema)

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these bodies."""
        framed = split_headers(values)
        reasons = pa.array([reason for _, reason in self._readers.of(framed)], pa.string())
        refused = reasons.take(framed.places)
        if refused.null_count == len(refused):
            return self._json.decode(framed.bodies)
        readable = pc.if_else(refused.is_null(), framed.bodies, pa.scalar(None, pa.binary()))
        decoded = self._json.decode(readable)
        return Decoded(decoded.rows, pc.coalesce(refused, decoded.reasons))

    @functools.cached_property
    def _writer(self) -> tuple[bytes, Required]:
        found = writing_schema(self._spec, self._schemas, json_schema(self._spec))
        required = required_columns(self._spec.columns, found.schema)
        return header(found.id), required if self._spec.is_wrapped else {}

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return these rows as bodies."""
        head, required = self._writer
        check_required(rows, required)
        bodies = self._json.encode(rows)
        return pc.binary_join_element_wise(pa.scalar(head), bodies, pa.scalar(b""))
