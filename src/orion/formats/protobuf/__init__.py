"""PROTOBUF bodies and schemas."""

from orion.formats.protobuf.codec import (
    PlainProtobufCodec,
    ProtobufCodec,
    read_indexes,
    write_indexes,
)
from orion.formats.protobuf.column import columns_of_message
from orion.formats.protobuf.compile import (
    compile_protobuf,
    find_message,
    index_path,
    message_at,
    message_class,
)
from orion.formats.protobuf.schema import protobuf_schema

__all__ = [
    "PlainProtobufCodec",
    "ProtobufCodec",
    "columns_of_message",
    "compile_protobuf",
    "find_message",
    "index_path",
    "message_at",
    "message_class",
    "protobuf_schema",
    "read_indexes",
    "write_indexes",
]
