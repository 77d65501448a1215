"""AVRO bodies and schemas."""

from orion.formats.avro.codec import AvroCodec
from orion.formats.avro.column import columns_of_avro, parse_avro
from orion.formats.avro.native import NativeSchemas, native_schemas, writes_native
from orion.formats.avro.schema import avro_schema

__all__ = [
    "AvroCodec",
    "NativeSchemas",
    "avro_schema",
    "columns_of_avro",
    "native_schemas",
    "parse_avro",
    "writes_native",
]
