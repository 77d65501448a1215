"""Bytes to rows and back, a batch at a time, in every format that topics use.

In:  Arrow arrays of bytes, the wanted columns and how they lie in the bytes.
Out: Arrow rows, and for each record that cannot be read a reason; bytes of rows; schema texts.
Never: Spark, Kafka, or Python per record where a batch is clean.
"""

from orion.formats.arrow import arrow_type, row_type
from orion.formats.check import (
    FormatPropertyError,
    MapKeyError,
    UnsupportedColumnsError,
    UnsupportedTypeError,
    check,
)
from orion.formats.codec import codec_of
from orion.formats.plain_json import JsonDecoder
from orion.formats.schema_source import (
    MemorySchemas,
    RegisteredSchema,
    Schema,
    SchemaKind,
    SchemaNotFoundError,
    SchemaReference,
    SchemaSource,
)
from orion.formats.spec import (
    Codec,
    Decoded,
    Format,
    FormatSpec,
    Nullable,
    UnknownFormatError,
    format_named,
)
from orion.formats.worker import (
    REASON,
    REASON_FIELD,
    ROW_FIELD,
    decoding,
    row_decoding,
    row_encoding,
)

__all__ = [
    "REASON",
    "REASON_FIELD",
    "ROW_FIELD",
    "Codec",
    "Decoded",
    "Format",
    "FormatPropertyError",
    "FormatSpec",
    "JsonDecoder",
    "MapKeyError",
    "MemorySchemas",
    "Nullable",
    "RegisteredSchema",
    "Schema",
    "SchemaKind",
    "SchemaNotFoundError",
    "SchemaReference",
    "SchemaSource",
    "UnknownFormatError",
    "UnsupportedColumnsError",
    "UnsupportedTypeError",
    "arrow_type",
    "check",
    "codec_of",
    "decoding",
    "format_named",
    "row_decoding",
    "row_encoding",
    "row_type",
]
