"""PROTOBUF bodies to rows and back: behind a schema id and the message's place, or bare."""

import functools
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import DecodeError, EncodeError

from orion.formats.column import ParsedBatch
from orion.formats.protobuf.compile import (
    compile_protobuf,
    find_message,
    index_path,
    message_at,
    message_class,
)
from orion.formats.protobuf.message import filler, reader
from orion.formats.protobuf.schema import protobuf_schema
from orion.formats.schema_error import UnreadableSchemaError, UnwritableRowError
from orion.formats.schema_source import RegisteredSchema, Schema, SchemaKind, SchemaSource
from orion.formats.spec import Decoded, FormatSpec
from orion.formats.temporal import as_numbers
from orion.formats.wire import (
    Readers,
    UnreadableBodyError,
    header,
    parse_framed,
    split_headers,
    writing_schema,
)
from orion.model import Struct

Read = Callable[[bytes], Any]
Write = Callable[[Any], bytes]
_MAX_DEPTH = 100


class ProtobufCodec:
    """Protobuf behind a schema id, read by the writer's message, fitted to columns by name."""

    def __init__(self, spec: FormatSpec, schemas: SchemaSource) -> None:
        self._spec, self._schemas = spec, schemas
        self._readers: Readers[Read] = Readers(schemas, SchemaKind.PROTOBUF, self._reader)

    def _reader(self, schema: Schema) -> Read:
        return _FramedReader(compile_protobuf(schema, self._schemas), self._spec).read

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these bodies."""
        framed = split_headers(values)
        parsed, reasons = parse_framed(framed, self._readers.of(framed))
        return _to_rows(parsed, reasons, self._spec)

    @functools.cached_property
    def _writer(self) -> tuple[bytes, Write]:
        found = self._newest or writing_schema(
            self._spec, self._schemas, protobuf_schema(self._spec)
        )
        message = find_message(compile_protobuf(found.schema, self._schemas), self._spec.full_name)
        return header(found.id) + write_indexes(index_path(message)), _writer(message, self._spec)

    @property
    def _newest(self) -> RegisteredSchema | None:
        """The subject's newest schema, if the message stands in it with these columns.

        It may hold other messages, which a schema of this one alone would take away.
        """
        if self._spec.schema_id is not None or not self._spec.full_name:
            return None
        found = self._schemas.latest(self._spec.subject)
        if found is None or found.schema.kind is not SchemaKind.PROTOBUF:
            return None
        try:
            file = compile_protobuf(found.schema, self._schemas)
            message = find_message(file, self._spec.full_name)
        except UnreadableSchemaError:
            return None
        own = {field.name.upper() for field in self._spec.columns}
        return found if own == {field.name.upper() for field in message.fields} else None

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return these rows as bodies."""
        head, write = self._writer
        return _encode(rows, self._spec, lambda row: head + write(row))


class PlainProtobufCodec:
    """Protobuf without a header; the message is that of the columns."""

    def __init__(self, spec: FormatSpec) -> None:
        self._spec = spec
        self._message = find_message(compile_protobuf(protobuf_schema(spec)), "")

    @functools.cached_property
    def _read(self) -> Read:
        return _body_reader(self._message, self._spec)

    @functools.cached_property
    def _write(self) -> Write:
        return _writer(self._message, self._spec)

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these bodies."""
        parsed: list[Any] = []
        reasons: list[str | None] = []
        for body in values.to_pylist():
            document, reason = None, None
            try:
                document = None if body is None else self._read(body)
            except UnreadableBodyError as error:
                reason = str(error)
            parsed.append(document)
            reasons.append(reason)
        return _to_rows(parsed, reasons, self._spec)

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return these rows as bodies."""
        return _encode(rows, self._spec, self._write)


class _FramedReader:
    """Reads bodies of one schema: first the place of the message, then the message."""

    def __init__(self, file: FileDescriptor, spec: FormatSpec) -> None:
        self._file, self._spec = file, spec
        self._by_path: dict[bytes, Read] = {}

    def read(self, body: bytes) -> Any:
        path, start = read_indexes(body)
        place = body[:start]
        if place not in self._by_path:
            message = message_at(self._file, path)
            if message is None:
                raise UnreadableBodyError(f"its schema has no message at {path}")
            self._by_path[place] = _body_reader(message, self._spec)
        return self._by_path[place](body[start:])


def _body_reader(message: Descriptor, spec: FormatSpec) -> Read:
    made = message_class(message)
    to_dict = reader(message, {field.name.upper() for field in spec.columns})

    def read(body: bytes) -> Any:
        try:
            return to_dict(made.FromString(body))
        except (DecodeError, ValueError, OverflowError) as error:
            why = str(error) or "it is cut short or damaged"
            raise UnreadableBodyError(f"the body does not follow its schema: {why}") from error

    return read


def _writer(message: Descriptor, spec: FormatSpec) -> Write:
    made, fill = message_class(message), filler(spec.columns, message)

    def write(row: Any) -> bytes:
        found = made()
        try:
            fill(found, row)
            return bytes(found.SerializeToString())
        except (ValueError, TypeError, OverflowError, EncodeError) as error:
            raise UnwritableRowError("the value", str(error)) from error

    return write


def _encode(rows: pa.StructArray, spec: FormatSpec, write: Write) -> pa.Array:
    found = as_numbers(rows, Struct(spec.columns)).to_pylist()
    return pa.array([None if row is None else write(row) for row in found], pa.binary())


def _to_rows(parsed: list[Any], reasons: list[str | None], spec: FormatSpec) -> Decoded:
    lacking = [document is None for document in parsed]
    return ParsedBatch(parsed, reasons).to_rows(spec.columns, wrapped=True, lacking=lacking)


def write_indexes(path: list[int]) -> bytes:
    """Return a message's place as the wire has it; the first message is a single zero.

    >>> write_indexes([0]).hex(), write_indexes([1, 0]).hex()
    ('00', '040200')
    """
    if path == [0]:
        return b"\0"
    return b"".join(_zigzag(number) for number in [len(path), *path])


def _zigzag(number: int) -> bytes:
    left, out = number << 1, bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


def read_indexes(body: bytes) -> tuple[list[int], int]:
    """Return a message's place and where the message begins."""
    length, at = _unzigzag(body, 0)
    if length == 0:
        return [0], at
    if not 0 < length <= _MAX_DEPTH:
        raise UnreadableBodyError(f"a message cannot lie {length} messages deep")
    path = []
    for _ in range(length):
        number, at = _unzigzag(body, at)
        path.append(number)
    return path, at


def _unzigzag(body: bytes, at: int) -> tuple[int, int]:
    found, shift = 0, 0
    while True:
        if at >= len(body) or shift > 63:
            raise UnreadableBodyError("the body ends before the place of its message")
        byte = body[at]
        at += 1
        found |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (found >> 1) ^ -(found & 1), at
