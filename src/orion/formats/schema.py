"""Columns to schemas and back, for the formats that have them."""

from orion.formats.avro import avro_schema, columns_of_avro, parse_avro
from orion.formats.json_schema import columns_of_json, json_schema
from orion.formats.protobuf import (
    columns_of_message,
    compile_protobuf,
    find_message,
    protobuf_schema,
)
from orion.formats.schema_source import Schema, SchemaKind, SchemaSource
from orion.formats.spec import Format, FormatSpec
from orion.model import Field, InvalidInputError

# What ksqlDB calls the column of a schema that is no record.
ANONYMOUS_VALUE, ANONYMOUS_KEY = "ROWVAL", "ROWKEY"


def schema_of(spec: FormatSpec) -> Schema:
    """Return the schema that rows of these columns are written with."""
    match spec.format:
        case Format.AVRO:
            return avro_schema(spec)
        case Format.JSON_SR:
            return json_schema(spec)
        case Format.PROTOBUF | Format.PROTOBUF_NOSR:
            return protobuf_schema(spec)
        case _:
            raise NoSchemaError(spec.format)


class NoSchemaError(InvalidInputError):
    """Raised when a format has no schemas."""

    def __init__(self, format: Format) -> None:
        self.format = format
        super().__init__(f"Format {format} has no schemas.", fix="Use AVRO, JSON_SR or PROTOBUF.")


def columns_of(
    schema: Schema,
    schemas: SchemaSource | None = None,
    *,
    anonymous: str = ANONYMOUS_VALUE,
    full_name: str = "",
) -> tuple[Field, ...]:
    """Return the columns that a schema describes, spelled as it spells them.

    Args:
        schemas: Where referenced schemas are found.
        anonymous: The column's name where the schema is one value instead of a record.
        full_name: PROTOBUF only: which message; else the first.
    """
    match schema.kind:
        case SchemaKind.AVRO:
            return columns_of_avro(*parse_avro(schema, schemas), anonymous)
        case SchemaKind.JSON:
            return columns_of_json(schema, schemas, anonymous)
        case SchemaKind.PROTOBUF:
            file = compile_protobuf(schema, schemas)
            return columns_of_message(find_message(file, full_name))
