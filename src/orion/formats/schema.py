"""Columns to schemas and back, for the formats that have them."""

from orion.formats.avro import avro_schema, columns_of_avro, parse_avro
from orion.formats.json_schema import columns_of_json, json_schema
from orion.formats.schema_source import Schema, SchemaKind, SchemaSource
from orion.formats.spec import Format, FormatSpec, UnknownFormatError
from orion.model import Field

# What ksqlDB calls the column of a schema that is no record.
ANONYMOUS_VALUE, ANONYMOUS_KEY = "ROWVAL", "ROWKEY"


def schema_of(spec: FormatSpec) -> Schema:
    """Return the schema that rows of these columns are written with."""
    match spec.format:
        case Format.AVRO:
            return avro_schema(spec)
        case Format.JSON_SR:
            return json_schema(spec)
        case _:
            raise UnknownFormatError(spec.format)


def columns_of(
    schema: Schema, schemas: SchemaSource | None = None, *, anonymous: str = ANONYMOUS_VALUE
) -> tuple[Field, ...]:
    """Return the columns that a schema describes, spelled as it spells them.

    Args:
        schemas: Where referenced schemas are found.
        anonymous: The column's name where the schema is one value instead of a record.
    """
    match schema.kind:
        case SchemaKind.AVRO:
            return columns_of_avro(*parse_avro(schema, schemas), anonymous)
        case _:
            return columns_of_json(schema, schemas, anonymous)
