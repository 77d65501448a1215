"""Schemas written by others, read as columns, and records written by others, read as rows."""

import io
import json
from dataclasses import replace
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from orion.formats import (
    Format,
    FormatSpec,
    MemorySchemas,
    NoRegistryError,
    Nullable,
    Schema,
    SchemaColumnsError,
    SchemaKind,
    SchemaReference,
    UnmappedTypeError,
    UnreadableSchemaError,
    codec_of,
    columns_of,
    header,
    row_type,
    schema_of,
)
from orion.model import Array, Decimal, Field, Map, Scalar, Struct

AVRO = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "size", "type": {"type": "enum", "name": "Size", "symbols": ["S", "L"]}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6}},
        {"name": "lines", "type": {"type": "array", "items": "float"}},
        {"name": "tags", "type": {"type": "map", "values": "string"}},
    ],
}
COLUMNS = (
    Field("id", Scalar.INTEGER),
    Field("size", Scalar.STRING),
    Field("note", Scalar.STRING),
    Field("at", Scalar.TIMESTAMP),
    Field("total", Decimal(6, 0)),
    Field("lines", Array(Scalar.DOUBLE)),
    Field("tags", Map(Scalar.STRING, Scalar.STRING)),
)
PROTOBUF = """
syntax = "proto3";
package shop;
import "google/protobuf/wrappers.proto";
import "google/protobuf/timestamp.proto";
message Other { int32 x = 1; }
message Order {
  enum Size { S = 0; L = 1; }
  message Line { string song = 1; uint32 count = 2; }
  sint32 id = 1;
  Size size = 2;
  google.protobuf.StringValue note = 3;
  google.protobuf.Timestamp at = 4;
  repeated Line lines = 5;
  map<string, float> tags = 6;
  oneof paid { string card = 7; int64 cash = 8; }
  optional int32 rank = 9;
}
"""


def avro(tree: Any) -> Schema:
    return Schema(SchemaKind.AVRO, json.dumps(tree))


def test_avro_records_are_columns() -> None:
    assert columns_of(avro(AVRO)) == COLUMNS


def test_an_avro_value_is_an_anonymous_column() -> None:
    assert columns_of(avro("long"), anonymous="K") == (Field("K", Scalar.BIGINT),)


@pytest.mark.parametrize(
    "inner",
    ["Order", {"type": "array", "items": {"type": "map", "values": "Order"}}],
)
def test_avro_without_a_column_type_is_refused(inner: Any) -> None:
    tree = {"type": "record", "name": "Order", "fields": [{"name": "x", "type": inner}]}
    with pytest.raises(UnmappedTypeError, match="Field 'x"):
        columns_of(avro(tree))


def test_protobuf_messages_are_columns() -> None:
    found = columns_of(Schema(SchemaKind.PROTOBUF, PROTOBUF), full_name="shop.Order")
    lines = Struct((Field("song", Scalar.STRING), Field("count", Scalar.BIGINT)))
    paid = Struct((Field("card", Scalar.STRING), Field("cash", Scalar.BIGINT)))
    assert found == (
        Field("id", Scalar.INTEGER),
        Field("size", Scalar.STRING),
        Field("note", Scalar.STRING),
        Field("at", Scalar.TIMESTAMP),
        Field("lines", Array(lines)),
        Field("tags", Map(Scalar.STRING, Scalar.DOUBLE)),
        Field("paid_0", paid),
        Field("rank", Scalar.INTEGER),
    )


def test_protobuf_rows_of_another_message() -> None:
    schemas = MemorySchemas()
    schema_id = schemas.register("s", Schema(SchemaKind.PROTOBUF, PROTOBUF))
    columns = columns_of(schemas.schema(schema_id), full_name="shop.Order")
    spec = FormatSpec(Format.PROTOBUF, columns, schema_id=schema_id, full_name="shop.Order")
    row = {"id": -1, "size": "L", "note": None, "at": None, "tags": [("a", 0.5)], "rank": None}
    row |= {"lines": [{"song": "s", "count": 2}], "paid_0": {"card": None, "cash": 5}}
    codec = codec_of(spec, schemas)
    bodies = codec.encode(pa.array([row], row_type(columns)))
    assert bodies[0].as_py()[5:7] == b"\x02\x02"
    assert codec.decode(bodies).rows.to_pylist() == [row]


def test_protobuf_rows_of_a_named_message_leave_the_others_in_the_schema() -> None:
    text = 'syntax = "proto3"; message A {int32 N = 1;} message B {string NAME = 1;}'
    schemas = MemorySchemas()
    schema_id = schemas.register("s", Schema(SchemaKind.PROTOBUF, text))
    columns = (Field("NAME", Scalar.STRING),)
    spec = FormatSpec(Format.PROTOBUF, columns, subject="s", full_name="B")
    codec = codec_of(spec, schemas)
    bodies = codec.encode(pa.array([{"NAME": "x"}], row_type(columns)))
    assert bodies[0].as_py()[:5] == header(schema_id)
    assert codec.decode(bodies).rows.to_pylist() == [{"NAME": "x"}]
    # A message with other columns is another one, and has to be registered.
    more = replace(spec, columns=(*columns, Field("AT", Scalar.BIGINT)))
    codec_of(more, schemas).encode(pa.array([{"NAME": "x", "AT": 1}], row_type(more.columns)))
    assert len(schemas.versions("s")) == 2


@pytest.mark.parametrize("nullable", [Nullable.OPTIONAL, Nullable.WRAPPER])
def test_protobuf_can_tell_nulls(nullable: Nullable) -> None:
    columns = (Field("A", Scalar.INTEGER), Field("B", Scalar.STRING))
    spec = FormatSpec(Format.PROTOBUF, columns, subject="s", nullable=nullable)
    codec = codec_of(spec, MemorySchemas())
    rows = [{"A": None, "B": ""}, {"A": 0, "B": None}]
    assert codec.decode(codec.encode(pa.array(rows, row_type(columns)))).rows.to_pylist() == rows
    assert columns_of(schema_of(spec)) == columns


def test_json_schemas_are_columns() -> None:
    tree = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": ["string", "null"]},
            "at": {"$ref": "#/definitions/instant"},
            "parts": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "number"}]}},
            "tags": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "size": {"enum": ["S", "L"]},
            "all": {"allOf": [{"properties": {"x": {"type": "string"}}}]},
        },
        "definitions": {"instant": {"type": "object", "properties": {"s": {"type": "integer"}}}},
    }
    assert columns_of(Schema(SchemaKind.JSON, json.dumps(tree))) == (
        Field("id", Scalar.BIGINT),
        Field("name", Scalar.STRING),
        Field("at", Struct((Field("s", Scalar.BIGINT),))),
        Field("parts", Array(Scalar.DOUBLE)),
        Field("tags", Map(Scalar.STRING, Scalar.BOOLEAN)),
        Field("size", Scalar.STRING),
        Field("all", Struct((Field("x", Scalar.STRING),))),
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (SchemaKind.AVRO, "{"),
        (SchemaKind.AVRO, '{"type": "recrd"}'),
        (SchemaKind.JSON, "[]"),
        (SchemaKind.PROTOBUF, "message {"),
        (SchemaKind.PROTOBUF, 'syntax = "proto3";'),
    ],
)
def test_a_text_that_is_no_schema_is_refused(kind: SchemaKind, text: str) -> None:
    with pytest.raises(UnreadableSchemaError, match="not valid"):
        columns_of(Schema(kind, text))


def test_references_are_followed() -> None:
    schemas = MemorySchemas()
    address = {
        "type": "record",
        "name": "shop.Address",
        "fields": [{"name": "city", "type": "string"}],
    }
    schemas.register("address", avro(address))
    order = {"type": "record", "name": "O", "fields": [{"name": "to", "type": "shop.Address"}]}
    reference = SchemaReference("shop.Address", "address", 1)
    schema = Schema(SchemaKind.AVRO, json.dumps(order), (reference,))
    schema_id = schemas.register("order", schema)
    expected = (Field("to", Struct((Field("city", Scalar.STRING),))),)
    assert columns_of(schema, schemas) == expected
    codec = codec_of(FormatSpec(Format.AVRO, expected, schema_id=schema_id), schemas)
    rows = pa.array([{"to": {"city": "Bern"}}], row_type(expected))
    assert codec.decode(codec.encode(rows)).rows == rows


def test_records_of_several_schemas_are_one_batch() -> None:
    schemas = MemorySchemas()
    bodies = []
    for tree, record in [
        (AVRO["fields"][:1], {"id": 7}),
        (
            [{"name": "ID", "type": "string"}, {"name": "EXTRA", "type": "int"}],
            {"ID": "8", "EXTRA": 1},
        ),
        ([{"name": "other", "type": "int"}], {"other": 1}),
        ([{"name": "id", "type": "boolean"}], {"id": True}),
    ]:
        schema = {"type": "record", "name": "R", "fields": tree}
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, record)
        bodies.append(header(schemas.register("s", avro(schema))) + stream.getvalue())
    spec = FormatSpec(Format.AVRO, (Field("Id", Scalar.INTEGER),))
    decoded = codec_of(spec, schemas).decode(pa.array(bodies, pa.binary()))
    assert decoded.rows.to_pylist() == [{"Id": 7}, {"Id": 8}, {"Id": None}, None]
    assert decoded.reasons.to_pylist()[3] == "field 'Id' is not INTEGER: true"


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ((Field("id", Scalar.INTEGER),), "'size' cannot be written"),
        ((*COLUMNS, Field("more", Scalar.STRING)), "it has no such field"),
        ((Field("id", Scalar.STRING), *COLUMNS[1:]), "STRING is no int"),
    ],
)
def test_a_schema_that_does_not_take_the_columns(columns: tuple[Field, ...], text: str) -> None:
    schemas = MemorySchemas()
    schema_id = schemas.register("s", avro(AVRO))
    codec = codec_of(FormatSpec(Format.AVRO, columns, schema_id=schema_id), schemas)
    with pytest.raises(SchemaColumnsError, match=text):
        codec.encode(pa.array([], row_type(columns)))


def test_a_format_with_schemas_needs_a_registry() -> None:
    with pytest.raises(NoRegistryError, match="AVRO keeps its schemas in a registry"):
        codec_of(FormatSpec(Format.AVRO, COLUMNS))


def test_a_default_takes_the_place_of_null_where_a_schema_allows_none() -> None:
    fields = [
        {"name": "n", "type": "int", "default": 7},
        {"name": "s", "type": ["null", "string"], "default": None},
        {"name": "b", "type": "boolean", "default": True},
    ]
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    schemas = MemorySchemas()
    number = schemas.register("given", Schema(SchemaKind.AVRO, text))
    columns = (Field("N", Scalar.INTEGER), Field("S", Scalar.STRING))
    codec = codec_of(FormatSpec(Format.AVRO, columns, schema_id=number), schemas)
    rows = pa.array([{"N": None, "S": None}, {"N": 1, "S": "x"}], row_type(columns))
    assert codec.encode(rows).to_pylist() == [
        header(number) + b"\x0e\x00\x01",
        header(number) + b"\x02\x02\x02x\x01",
    ]
