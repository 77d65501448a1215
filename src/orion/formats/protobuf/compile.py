"""Protobuf text to message classes, by protoc inside this process."""

import functools
import tempfile
import threading
import warnings
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path, PurePosixPath

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message
from grpc_tools import _protoc_compiler  # the structured errors have no public door

from orion.formats.schema_error import UnreadableSchemaError
from orion.formats.schema_source import Schema, SchemaSource, referenced

MAIN = "__orion__.proto"
# Files that clients import without registering them.
_KNOWN = {
    "confluent/meta.proto": (
        'syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";'
        " message Meta { string doc = 1; map<string, string> params = 2;"
        " repeated string tags = 3; }"
        " extend google.protobuf.FileOptions { Meta file_meta = 1088; }"
        " extend google.protobuf.MessageOptions { Meta message_meta = 1088; }"
        " extend google.protobuf.FieldOptions { Meta field_meta = 1088; }"
        " extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }"
        " extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }"
    ),
    "confluent/type/decimal.proto": (
        'syntax = "proto3"; package confluent.type;'
        " message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }"
    ),
    "google/type/date.proto": (
        'syntax = "proto3"; package google.type;'
        " message Date { int32 year = 1; int32 month = 2; int32 day = 3; }"
    ),
    "google/type/timeofday.proto": (
        'syntax = "proto3"; package google.type;'
        " message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3;"
        " int32 nanos = 4; }"
    ),
}
# The compiler keeps state of its own while it runs.
_lock = threading.Lock()


def compile_protobuf(schema: Schema, schemas: SchemaSource | None = None) -> FileDescriptor:
    """Return a schema's file with everything it imports."""
    others = referenced(schemas, schema) if schemas and schema.references else {}
    return _compile(schema.text, tuple((name, other.text) for name, other in others.items()))


@functools.lru_cache(256)
def _compile(text: str, references: tuple[tuple[str, str], ...]) -> FileDescriptor:
    with tempfile.TemporaryDirectory(prefix="orion-proto-") as name:
        folder = Path(name)
        for path, body in {**_KNOWN, **dict(references), MAIN: text}.items():
            _write(folder, path, body)
        found = _run(folder)
    pool = descriptor_pool.DescriptorPool()
    for file in found.file:
        pool.Add(file)
    return pool.FindFileByName(MAIN)


def _write(folder: Path, path: str, body: str) -> None:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise UnreadableSchemaError("Protobuf", f"'{path}' cannot be the name of an import")
    (folder / pure).parent.mkdir(parents=True, exist_ok=True)
    (folder / pure).write_text(body, encoding="utf-8")


def _run(folder: Path) -> FileDescriptorSet:
    roots = [str(folder), str(files("grpc_tools") / "_proto")]
    output = folder / "compiled.bin"
    words = ["protoc", *(f"-I{root}" for root in roots), "--include_imports", f"-o{output}", MAIN]
    with _lock:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _protoc_compiler.get_protos(MAIN.encode(), [root.encode() for root in roots])
        except _protoc_compiler.ProtocErrors as error:
            faults = "; ".join(fault.message.decode(errors="replace") for fault in error.errors())
            raise UnreadableSchemaError("Protobuf", faults) from error
        if _protoc_compiler.run_main([word.encode() for word in words]):
            raise UnreadableSchemaError("Protobuf", "protoc refused it")
    return FileDescriptorSet.FromString(output.read_bytes())


def message_class(message: Descriptor) -> type[Message]:
    """Return the class of a message type."""
    found: type[Message] = message_factory.GetMessageClass(message)
    return found


def find_message(file: FileDescriptor, full_name: str) -> Descriptor:
    """Return a message of a file by its name; without one, the first."""
    messages: Mapping[str, Descriptor] = file.message_types_by_name
    if not messages:
        raise UnreadableSchemaError("Protobuf", "it has no message")
    if not full_name:
        return next(iter(messages.values()))
    waiting = list(messages.values())
    while waiting:
        message = waiting.pop(0)
        if full_name in (message.full_name, message.name):
            return message
        waiting += message.nested_types
    raise UnreadableSchemaError("Protobuf", f"it has no message '{full_name}'")


def index_path(message: Descriptor) -> list[int]:
    """Return where a message stands in its file: the places of those around it, then its own."""
    parent = message.containing_type
    siblings = parent.nested_types if parent else list(message.file.message_types_by_name.values())
    own = [sibling.full_name for sibling in siblings].index(message.full_name)
    return [*index_path(parent), own] if parent else [own]


def message_at(file: FileDescriptor, path: list[int]) -> Descriptor | None:
    """Return the message at a place, if there is one."""
    siblings, found = list(file.message_types_by_name.values()), None
    for place in path:
        if not 0 <= place < len(siblings):
            return None
        found = siblings[place]
        siblings = list(found.nested_types)
    return found
