"""Records of cases as bytes: what does not fit its columns is refused with the record."""

from decimal import Decimal as Number
from typing import Any

import pytest

from orion.cases.body import CaseValueError, decode_body, encode_body
from orion.formats import Format, FormatSpec, MemorySchemas, Schema, SchemaKind
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type


def spec(kind: Type, format: Format = Format.PROTOBUF_NOSR) -> FormatSpec:
    return FormatSpec(format=format, columns=(Field("V", kind),))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Scalar.BIGINT, "true"),
        (Scalar.BIGINT, [1]),
        (Scalar.BIGINT, 10**30),
        (Scalar.INTEGER, 2**31),
        (Scalar.DOUBLE, "2020-01-01"),
        (Scalar.BYTES, 5),
        (Scalar.DATE, "today"),
        (Scalar.TIMESTAMP, Number("1e308")),
        (Decimal(4, 2), "a"),
        (Array(Scalar.INTEGER), 5),
        (Map(Scalar.STRING, Scalar.INTEGER), "a"),
        (Struct((Field("A", Scalar.INTEGER),)), []),
    ],
)
def test_a_record_that_does_not_fit_is_named(kind: Type, value: Any) -> None:
    with pytest.raises(CaseValueError, match="cannot be written"):
        encode_body({"V": value}, spec(kind), MemorySchemas())


@pytest.mark.parametrize("value", ["a", [], {}, Number("1e308")])
def test_a_key_that_does_not_fit_is_named(value: Any) -> None:
    with pytest.raises(CaseValueError, match="cannot be written"):
        encode_body(value, spec(Scalar.BIGINT, Format.KAFKA), MemorySchemas())


def test_a_record_by_a_schema_is_shown_with_all_of_its_fields() -> None:
    schemas = MemorySchemas()
    fields = '[{"name": "id", "type": "int"}, {"name": "of", "type": "string", "default": "us"}]'
    schema = Schema(SchemaKind.AVRO, f'{{"type": "record", "name": "r", "fields": {fields}}}')
    number = schemas.register("x-value", schema)
    columns = (Field("id", Scalar.INTEGER),)
    written = FormatSpec(Format.AVRO, columns, subject="x-value", schema_id=number)
    body = encode_body({"id": 1}, written, schemas)
    assert decode_body(body, written, schemas) == {"id": 1, "of": "us"}
