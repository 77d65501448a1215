"""Protobuf text to message classes, and where messages lie in their files."""

import functools
from collections.abc import Mapping

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import Message

from orion.formats.protobuf.protoc import MAIN_FILE, run_protoc
from orion.formats.schema_error import UnreadableSchemaError
from orion.formats.schema_source import Schema, SchemaSource, referenced


def compile_protobuf(schema: Schema, schemas: SchemaSource | None = None) -> FileDescriptor:
    """Return a schema's file with everything it imports."""
    others = referenced(schemas, schema) if schemas and schema.references else {}
    return _compile(schema.text, tuple((name, other.text) for name, other in others.items()))


@functools.lru_cache(256)
def _compile(text: str, references: tuple[tuple[str, str], ...]) -> FileDescriptor:
    pool = descriptor_pool.DescriptorPool()
    for file in run_protoc(text, dict(references)).file:
        pool.Add(file)
    return pool.FindFileByName(MAIN_FILE)


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
