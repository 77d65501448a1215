"""Protobuf records as the JSON that Protobuf itself defines."""

from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from orion.registry.parsed import Parsed

_NAME = "schema.proto"


class ProtobufText:
    """Texts of one Protobuf schema; what is written is its first message."""

    def __init__(self, parsed: Parsed) -> None:
        self._file = type(parsed.tree.file)()
        self._file.CopyFrom(parsed.tree.file)
        self._file.name = _NAME
        self._pool = DescriptorPool()
        for file in parsed.tree.imports.values():
            self._pool.Add(file)
        self._pool.Add(self._file)

    def encode(self, text: str) -> bytes:
        """Return the bytes of a JSON text, behind the place of the message in its file."""
        message = self._message([0])
        try:
            json_format.Parse(text, message, descriptor_pool=self._pool)
        except json_format.ParseError as error:
            raise ValueError(str(error)) from error
        return b"\x00" + bytes(message.SerializeToString())

    def decode(self, body: bytes) -> str:
        """Return bytes as JSON."""
        indexes, rest = _read_indexes(body)
        message = self._message(indexes)
        try:
            message.ParseFromString(rest)
        except DecodeError as error:
            raise ValueError(str(error)) from error
        return str(
            json_format.MessageToJson(
                message,
                indent=None,
                always_print_fields_with_no_presence=True,
                descriptor_pool=self._pool,
            )
        )

    def _message(self, indexes: list[int]) -> Any:
        part, names = self._file.message_type[indexes[0]], []
        names.append(part.name)
        for index in indexes[1:]:
            part = part.nested_type[index]
            names.append(part.name)
        prefix = [self._file.package] if self._file.package else []
        descriptor = self._pool.FindMessageTypeByName(".".join([*prefix, *names]))
        return GetMessageClass(descriptor)()


def _read_indexes(body: bytes) -> tuple[list[int], bytes]:
    """Return the path to the message in its file, and the bytes behind it; zero means [0]."""
    count, at = _read_zigzag(body, 0)
    if count == 0:
        return [0], body[at:]
    if not 0 < count <= 100:
        raise ValueError(f"{count} is no depth of a message")
    indexes = []
    for _ in range(count):
        index, at = _read_zigzag(body, at)
        indexes.append(index)
    return indexes, body[at:]


def _read_zigzag(body: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = body[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
