"""Rows with values that a given schema cannot hold: refused one by one, with the field's name."""

import json
from typing import Any

import pyarrow as pa
import pytest

from orion.formats import (
    BODY_FIELD,
    REASON_FIELD,
    Format,
    FormatSpec,
    MemorySchemas,
    Schema,
    SchemaKind,
    UnwritableRowError,
    codec_of,
    fitting_row_encoding,
    row_type,
)
from orion.model import Array, Field, Scalar, Struct

COLUMNS = (
    Field("ID", Scalar.INTEGER),
    Field("T", Scalar.STRING),
    Field("L", Array(Scalar.INTEGER)),
    Field("S", Struct((Field("X", Scalar.INTEGER),))),
)
GOOD: dict[str, Any] = {"ID": 1, "T": "a", "L": [1], "S": {"X": 1}}
STRICT = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "ID", "type": "int"},
        {"name": "T", "type": "string", "default": "none"},
        {"name": "L", "type": {"type": "array", "items": "int"}},
        {
            "name": "S",
            "type": {"type": "record", "name": "I", "fields": [{"name": "X", "type": "int"}]},
        },
    ],
}
REQUIRED = {
    "type": "object",
    "required": ["ID", "T"],
    "properties": {
        "ID": {"type": "integer"},
        "T": {"oneOf": [{"type": "null"}, {"type": "string"}]},
        "S": {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}},
    },
}
PROTO2 = """syntax = "proto2"; message R { required int32 ID = 1; optional string T = 2;
  repeated uint32 L = 3; message I { optional int32 X = 1; } optional I S = 4; }"""


def encoded(format: Format, schema: Schema, rows: list[dict[str, Any]]) -> tuple[Any, Any]:
    schemas = MemorySchemas()
    schema_id = schemas.register("t-value", schema)
    spec = FormatSpec(format, COLUMNS, subject="t-value", schema_id=schema_id)
    made = fitting_row_encoding(spec, schemas)(pa.array(rows, row_type(COLUMNS)))
    return made.field(BODY_FIELD).to_pylist(), made.field(REASON_FIELD).to_pylist()


@pytest.mark.parametrize(
    ("bad", "field"),
    [({"ID": None}, "ID"), ({"L": [1, None]}, "L[]"), ({"S": {"X": None}}, "S.X")],
)
def test_avro_names_the_null_that_the_schema_has_no_place_for(
    bad: dict[str, Any], field: str
) -> None:
    schema = Schema(SchemaKind.AVRO, json.dumps(STRICT))
    bodies, reasons = encoded(Format.AVRO, schema, [GOOD, {**GOOD, **bad}, {**GOOD, "T": None}])
    assert [body is None for body in bodies] == [False, True, False]
    assert reasons[0] is reasons[2] is None
    assert reasons[1].startswith(f"Field '{field}' cannot be written with its schema: it is null")


def test_avro_refuses_what_is_no_symbol_of_an_enum() -> None:
    kind = {"type": "enum", "name": "E", "symbols": ["a", "b"]}
    tree = {"type": "record", "name": "R", "fields": [{"name": "T", "type": kind}]}
    schemas = MemorySchemas()
    schema_id = schemas.register("t-value", Schema(SchemaKind.AVRO, json.dumps(tree)))
    columns = (Field("T", Scalar.STRING),)
    spec = FormatSpec(Format.AVRO, columns, subject="t-value", schema_id=schema_id)
    codec = codec_of(spec, schemas)
    assert codec.encode(pa.array([{"T": "b"}], row_type(columns)))[0].is_valid
    with pytest.raises(UnwritableRowError):
        codec.encode(pa.array([{"T": "c"}], row_type(columns)))


def test_json_schema_refuses_a_null_that_is_required() -> None:
    schema = Schema(SchemaKind.JSON, json.dumps(REQUIRED))
    rows = [{**GOOD, "T": None}, {**GOOD, "ID": None}, {**GOOD, "S": {"X": None}}]
    _, reasons = encoded(Format.JSON_SR, schema, [*rows, {**GOOD, "S": None}])
    assert reasons[0] is reasons[3] is None
    assert "Field 'ID'" in reasons[1]
    assert "Field 'S.X'" in reasons[2]


def test_protobuf_refuses_a_missing_required_field_and_a_number_that_does_not_fit() -> None:
    schema = Schema(SchemaKind.PROTOBUF, PROTO2)
    rows = [GOOD, {**GOOD, "ID": None}, {**GOOD, "L": [-1]}]
    bodies, reasons = encoded(Format.PROTOBUF, schema, rows)
    assert [body is None for body in bodies] == [False, True, True]
    assert [reason is None for reason in reasons] == [True, False, False]
