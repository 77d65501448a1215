"""The codec of a spec."""

from orion.formats.delimited import DelimitedCodec
from orion.formats.json import JsonCodec
from orion.formats.kafka import KafkaCodec
from orion.formats.none import NoneCodec
from orion.formats.schema_source import SchemaSource
from orion.formats.spec import Codec, Format, FormatSpec


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
        case _:
            raise NotImplementedError(spec.format)
