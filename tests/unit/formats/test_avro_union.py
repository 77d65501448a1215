"""Unions of several types are structs: what was written comes back under its branch's name."""

import io
import json
import struct
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from orion.formats import Format as FormatName
from orion.formats import FormatSpec, MemorySchemas, Schema, SchemaKind, codec_of, columns_of
from orion.model import Field, Scalar, Struct

POINT = {"type": "record", "name": "shop.Point", "fields": [{"name": "x", "type": "int"}]}
CASES = [
    (["long", "string"], 5, {"long": 5}),
    (["long", "string"], "on", {"string": "on"}),
    (["null", "long", "string"], None, None),
    (["null", "boolean", "double"], True, {"boolean": True}),
    (["null", "boolean", "double"], 1.5, {"double": 1.5}),
    (["string", POINT], {"x": 3}, {"Point": {"x": 3}}),
    ({"type": "array", "items": ["long", "string"]}, [1, "a"], [{"long": 1}, {"string": "a"}]),
    ({"type": "map", "values": ["null", "long", "string"]}, {"k": "v"}, [("k", {"string": "v"})]),
]


@pytest.mark.parametrize(("kind", "value", "expected"), CASES)
def test_a_union_is_a_struct(kind: Any, value: Any, expected: Any) -> None:
    tree = {"type": "record", "name": "R", "fields": [{"name": "v", "type": kind}]}
    schemas = MemorySchemas()
    schema = Schema(SchemaKind.AVRO, json.dumps(tree))
    identity = schemas.register("t-value", schema)
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(tree), {"v": value})
    record = struct.pack(">bI", 0, identity) + body.getvalue()
    columns = tuple(columns_of(schema, schemas))
    spec = FormatSpec(format=FormatName.AVRO, columns=columns, subject="t-value")
    decoded = codec_of(spec, schemas).decode(pa.array([record], pa.binary()))
    assert decoded.reasons.to_pylist() == [None]
    assert _without_nulls(decoded.rows.to_pylist()[0]["v"]) == expected


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_without_nulls(part) for part in value]
    return (value[0], _without_nulls(value[1])) if isinstance(value, tuple) else value


def test_its_columns_are_inferred() -> None:
    tree = {"type": "record", "name": "R", "fields": [{"name": "v", "type": ["long", "string"]}]}
    found = columns_of(Schema(SchemaKind.AVRO, json.dumps(tree)), MemorySchemas())
    branches = Struct((Field("long", Scalar.BIGINT), Field("string", Scalar.STRING)))
    assert list(found) == [Field("v", branches)]
