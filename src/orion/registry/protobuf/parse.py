"""Protobuf text as descriptors to compare; descriptors in base64 are taken, too."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from orion.formats import MAIN_FILE, UnreadableSchemaError, run_protoc
from orion.registry.errors import InvalidSchemaError
from orion.registry.protobuf.render import render_file


@dataclass(frozen=True)
class ProtobufSchema:
    """A compiled file and the files it imports, by their names."""

    text: str
    file: FileDescriptorProto
    imports: Mapping[str, FileDescriptorProto]

    @property
    def identity(self) -> str:
        """What two texts of the same schema share, whatever their blanks and comments."""
        return bytes(self.file.SerializeToString(deterministic=True)).hex()


def parse_protobuf(text: str, references: Mapping[str, str] | None = None) -> ProtobufSchema:
    """Compile a schema.

    Args:
        text: A .proto file, or a FileDescriptorProto in base64, as some clients send it.
        references: The files it imports by the names of its import statements.
    """
    source = _to_source(text)
    given = {name: _to_source(body) for name, body in (references or {}).items()}
    try:
        compiled = run_protoc(source, given)
    except UnreadableSchemaError as error:
        raise InvalidSchemaError("PROTOBUF", error.why) from error
    found = {file.name: file for file in compiled.file}
    main = found.pop(MAIN_FILE)
    _tidy(main)
    return ProtobufSchema(source, main, found)


def _to_source(text: str) -> str:
    """Return the text, or what a descriptor in base64 says as text."""
    try:
        raw = base64.b64decode(text.strip(), validate=True)
        file = FileDescriptorProto.FromString(raw)
    except (binascii.Error, ValueError, DecodeError):
        return text
    return render_file(file) if raw else text


def _tidy(file: FileDescriptorProto) -> None:
    """Remove what says nothing of the schema: its file name, and JSON names that follow a rule."""
    file.ClearField("name")
    file.ClearField("source_code_info")
    messages = list(file.message_type)
    while messages:
        message = messages.pop()
        messages += message.nested_type
        for field in message.field:
            if field.json_name == _json_name(field.name):
                field.ClearField("json_name")


def _json_name(name: str) -> str:
    """Return the JSON name that protoc gives a field: letters after a `_` become capitals."""
    parts = name.split("_")
    return parts[0] + "".join(part[:1].upper() + part[1:] for part in parts[1:])
