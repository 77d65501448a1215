"""Bytes to rows and back, a batch at a time, in every format that topics use.

In:  Arrow arrays of bytes, the wanted columns and how they lie in the bytes.
Out: Arrow rows, and for each record that cannot be read a reason; bytes of rows; schema texts.
Never: Spark, Kafka, or Python per record where a batch is clean.
"""

from orion.formats.arrow import arrow_type, row_type
from orion.formats.avro import NativeSchemas, native_schemas, writes_native
from orion.formats.codec import NoRegistryError, check_written, codec_of
from orion.formats.document import DocumentError, Documents
from orion.formats.http_schemas import (
    HttpSchemas,
    RegistryRefusedError,
    RegistryUnreachableError,
    forget_schemas,
)
from orion.formats.limit import (
    FormatPropertyError,
    MapKeyError,
    UnsupportedColumnsError,
    UnsupportedTypeError,
    check,
)
from orion.formats.plain import (
    differs_in_arrow,
    from_arrow,
    plain_column,
    plain_rows,
    plain_values,
    to_arrow,
)
from orion.formats.plain_json import JsonDecoder
from orion.formats.protobuf import MAIN_FILE, run_protoc
from orion.formats.schema import (
    ANONYMOUS_KEY,
    ANONYMOUS_VALUE,
    NoSchemaError,
    columns_of,
    schema_of,
)
from orion.formats.schema_error import (
    SchemaColumnsError,
    UnmappedTypeError,
    UnreadableSchemaError,
    UnwritableRowError,
)
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
from orion.formats.wire import HEADER_BYTES, header
from orion.formats.worker import (
    BODY_FIELD,
    REASON,
    REASON_FIELD,
    ROW_FIELD,
    decoding,
    fitting_row_encoding,
    row_decoding,
    row_encoding,
    row_transcoding,
)

__all__ = [
    "ANONYMOUS_KEY",
    "ANONYMOUS_VALUE",
    "BODY_FIELD",
    "HEADER_BYTES",
    "MAIN_FILE",
    "REASON",
    "REASON_FIELD",
    "ROW_FIELD",
    "Codec",
    "Decoded",
    "DocumentError",
    "Documents",
    "Format",
    "FormatPropertyError",
    "FormatSpec",
    "HttpSchemas",
    "JsonDecoder",
    "MapKeyError",
    "MemorySchemas",
    "NativeSchemas",
    "NoRegistryError",
    "NoSchemaError",
    "Nullable",
    "RegisteredSchema",
    "RegistryRefusedError",
    "RegistryUnreachableError",
    "Schema",
    "SchemaColumnsError",
    "SchemaKind",
    "SchemaNotFoundError",
    "SchemaReference",
    "SchemaSource",
    "UnknownFormatError",
    "UnmappedTypeError",
    "UnreadableSchemaError",
    "UnsupportedColumnsError",
    "UnsupportedTypeError",
    "UnwritableRowError",
    "arrow_type",
    "check",
    "check_written",
    "codec_of",
    "columns_of",
    "decoding",
    "differs_in_arrow",
    "fitting_row_encoding",
    "forget_schemas",
    "format_named",
    "from_arrow",
    "header",
    "native_schemas",
    "plain_column",
    "plain_rows",
    "plain_values",
    "row_decoding",
    "row_encoding",
    "row_transcoding",
    "row_type",
    "run_protoc",
    "schema_of",
    "to_arrow",
    "writes_native",
]
