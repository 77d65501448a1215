"""The codec of a spec."""

import pyarrow as pa

from orion.formats.arrow import row_type
from orion.formats.avro import AvroCodec
from orion.formats.delimited import DelimitedCodec
from orion.formats.json import JsonCodec
from orion.formats.json_schema import JsonSchemaCodec
from orion.formats.kafka import KafkaCodec
from orion.formats.none import NoneCodec
from orion.formats.protobuf import PlainProtobufCodec, ProtobufCodec
from orion.formats.schema_source import SchemaSource
from orion.formats.spec import Codec, Format, FormatSpec
from orion.model import InvalidInputError


def codec_of(spec: FormatSpec, schemas: SchemaSource | None = None) -> Codec:
    """Return a codec for these columns.

    Args:
        schemas: Needed by AVRO, JSON_SR and PROTOBUF.
    """
    match spec.format:
        case Format.JSON:
            return JsonCodec(spec)
        case Format.DELIMITED:
            return DelimitedCodec(spec)
        case Format.KAFKA:
            return KafkaCodec(spec)
        case Format.NONE:
            return NoneCodec(spec)
        case Format.PROTOBUF_NOSR:
            return PlainProtobufCodec(spec)
        case _:
            return _registered(spec, _require(spec, schemas))


def check_written(spec: FormatSpec, schemas: SchemaSource) -> None:
    """Raise unless rows of the columns can follow the schema that the spec names by its id."""
    if spec.schema_id is not None:
        # An encoder looks at its schema before it looks at rows.
        codec_of(spec, schemas).encode(pa.array([], row_type(spec.columns)))


def _registered(spec: FormatSpec, schemas: SchemaSource) -> Codec:
    match spec.format:
        case Format.AVRO:
            return AvroCodec(spec, schemas)
        case Format.JSON_SR:
            return JsonSchemaCodec(spec, schemas)
        case _:
            return ProtobufCodec(spec, schemas)


class NoRegistryError(InvalidInputError):
    """Raised when a format needs a registry and there is none."""

    def __init__(self, format: Format) -> None:
        self.format = format
        super().__init__(
            f"Format {format} keeps its schemas in a registry, and none is configured.",
            fix="Set registry.url, or use a format without one, such as JSON.",
        )


def _require(spec: FormatSpec, schemas: SchemaSource | None) -> SchemaSource:
    if schemas is None:
        raise NoRegistryError(spec.format)
    return schemas
