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
from orion.formats.protobuf.protoc import MAIN_FILE, run_protoc
from orion.formats.protobuf.schema import protobuf_schema

__all__ = [
    "MAIN_FILE",
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
    "run_protoc",
    "write_indexes",
]
