"""JSON text to the bytes that registered schemas frame, and back; one record at a time."""

import struct
from typing import Protocol

from orion.model import InvalidInputError
from orion.registry.client import RegistryClient
from orion.registry.parsed import Parsed
from orion.registry.schema import Kind, Schema

_HEADER = struct.Struct(">bI")


class UnreadableRecordError(InvalidInputError):
    """Raised when bytes are not framed, or not by the schema they name."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"A record cannot be read: {reason.rstrip('.')}.")


class Writing(Protocol):
    """The text of one kind of schema."""

    def encode(self, text: str) -> bytes:
        """Return the bytes after the header; ValueError where the text does not fit."""

    def decode(self, body: bytes) -> str:
        """Return the JSON of the bytes after the header; ValueError where they do not fit."""


def _writing_of(parsed: Parsed) -> Writing:
    # The libraries of the three kinds are imported with the first record of theirs.
    if parsed.kind is Kind.AVRO:
        from orion.registry.text.avro import AvroText

        return AvroText(parsed)
    if parsed.kind is Kind.JSON:
        from orion.registry.text.json import JsonText

        return JsonText(parsed)
    from orion.registry.text.protobuf import ProtobufText

    return ProtobufText(parsed)


class TextCodec:
    """Turns texts into records and back, by the schemas of a registry."""

    def __init__(self, client: RegistryClient) -> None:
        self._client = client
        self._known: dict[int, Writing] = {}

    def encode(self, text: str, identity: int) -> bytes:
        """Return a JSON text as a record of a schema's id."""
        try:
            body = self._writing(identity).encode(text)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UnreadableRecordError(
                f"{text[:200]!r} does not fit the schema: {error}"
            ) from error
        return _HEADER.pack(0, identity) + body

    def decode(self, record: bytes) -> tuple[str, int]:
        """Return a record as JSON, and the id of its schema."""
        if len(record) < _HEADER.size or record[0] != 0:
            raise UnreadableRecordError("it does not begin with a zero byte and a schema's id")
        _, identity = _HEADER.unpack_from(record)
        try:
            return self._writing(identity).decode(record[_HEADER.size :]), identity
        except (ValueError, TypeError, KeyError, IndexError, EOFError, StopIteration) as error:
            reason = f"it does not fit schema {identity}, which it names: {error}"
            raise UnreadableRecordError(reason) from error

    def _writing(self, identity: int) -> Writing:
        if identity not in self._known:
            schema: Schema = self._client.with_id(identity)
            self._known[identity] = _writing_of(self._client.parse(schema))
        return self._known[identity]
