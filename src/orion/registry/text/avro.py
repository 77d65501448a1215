"""Avro records as Avro's own JSON: a union's value stands under the name of its branch."""

import io
import json
from typing import Any

import fastavro

from orion.registry.parsed import Parsed, render


class AvroText:
    """Texts of one Avro schema."""

    def __init__(self, parsed: Parsed) -> None:
        body = _without_logical_types(json.loads(render(parsed, "resolved")))
        self._schema = fastavro.parse_schema(body)

    def encode(self, text: str) -> bytes:
        """Return the bytes of a JSON text."""
        (value,) = fastavro.json_reader(io.StringIO(text), self._schema)
        written = io.BytesIO()
        fastavro.schemaless_writer(written, self._schema, value)
        return written.getvalue()

    def decode(self, body: bytes) -> str:
        """Return bytes as JSON."""
        value = fastavro.schemaless_reader(
            io.BytesIO(body), self._schema, return_record_name=True, return_named_type=True
        )
        written = io.StringIO()
        fastavro.json_writer(written, self._schema, [value])
        return json.dumps(json.loads(written.getvalue()), ensure_ascii=False, separators=(",", ":"))


def _without_logical_types(body: Any) -> Any:
    """Return a schema whose values are those on the wire: Avro's JSON knows no other ones."""
    if isinstance(body, dict):
        return {
            name: _without_logical_types(part)
            for name, part in body.items()
            if name != "logicalType"
        }
    return [_without_logical_types(part) for part in body] if isinstance(body, list) else body
