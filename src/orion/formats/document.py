"""Registered records as JSON documents and back: what HTTP clients send and read.

A document follows the JSON form of its schema's language: Avro's, where a value of a union names
its branch, Protobuf's own, and plain JSON for JSON Schema.
"""

import functools
import io
import json
from collections.abc import Callable
from typing import Any

import fastavro
import jsonschema
import orjson
from google.protobuf import json_format

from orion.formats.avro import parse_avro
from orion.formats.protobuf import (
    compile_protobuf,
    find_message,
    index_path,
    message_at,
    message_class,
    read_indexes,
    write_indexes,
)
from orion.formats.schema_error import UnreadableSchemaError
from orion.formats.schema_source import Schema, SchemaKind, SchemaSource
from orion.formats.wire import HEADER_BYTES, UnreadableBodyError, header, read_header
from orion.model import InvalidInputError

_SHOWN_CHARACTERS = 100


class DocumentError(InvalidInputError):
    """Raised when a document does not follow its schema, or bytes hold none."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The document cannot be used: {reason}.")


Encode = Callable[[Any], bytes]
Decode = Callable[[bytes], Any]


class Documents:
    """Documents of every registered schema; remembers what it has learned of each."""

    def __init__(self, schemas: SchemaSource) -> None:
        self.schemas = schemas
        self._encoders: dict[int, Encode] = {}
        self._decoders: dict[int, Decode] = {}

    def check(self, schema: Schema) -> None:
        """Raise unless documents of a schema can be written."""
        _encoder(schema, self.schemas)

    def encode(self, schema_id: int, document: Any) -> bytes:
        """Return a document as a record behind its schema id."""
        if schema_id not in self._encoders:
            self._encoders[schema_id] = _encoder(self.schemas.schema(schema_id), self.schemas)
        return header(schema_id) + self._encoders[schema_id](document)

    def decode(self, body: bytes) -> Any:
        """Return the document of a record that names its schema."""
        schema_id, reason = read_header(body[:HEADER_BYTES])
        if schema_id is None:
            raise DocumentError(reason or "")
        if schema_id not in self._decoders:
            self._decoders[schema_id] = _decoder(self.schemas.schema(schema_id), self.schemas)
        return self._decoders[schema_id](body[HEADER_BYTES:])


def _encoder(schema: Schema, schemas: SchemaSource) -> Encode:
    match schema.kind:
        case SchemaKind.AVRO:
            return functools.partial(_write_avro, parse_avro(schema, schemas)[0])
        case SchemaKind.JSON:
            return _json_writer(schema)
        case SchemaKind.PROTOBUF:
            return _protobuf_writer(schema, schemas)


def _decoder(schema: Schema, schemas: SchemaSource) -> Decode:
    match schema.kind:
        case SchemaKind.AVRO:
            return functools.partial(_read_avro, parse_avro(schema, schemas)[0])
        case SchemaKind.JSON:
            return _read_json
        case SchemaKind.PROTOBUF:
            return _protobuf_reader(schema, schemas)


def _write_avro(tree: Any, document: Any) -> bytes:
    stream = io.BytesIO()
    try:
        text = io.StringIO(json.dumps(document))
        (value,) = fastavro.json_reader(text, tree)
        fastavro.schemaless_writer(stream, tree, value)
    except Exception as error:
        raise DocumentError(f"it is not of its Avro schema ({_words(error)})") from error
    return stream.getvalue()


def _read_avro(tree: Any, body: bytes) -> Any:
    text = io.StringIO()
    try:
        value = fastavro.schemaless_reader(io.BytesIO(body), tree, None)
        fastavro.json_writer(text, tree, [value])
    except Exception as error:
        raise DocumentError(f"the bytes are not of their Avro schema ({_words(error)})") from error
    return json.loads(text.getvalue())


def _words(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:_SHOWN_CHARACTERS]


def _json_writer(schema: Schema) -> Encode:
    try:
        tree = json.loads(schema.text)
        kind = jsonschema.validators.validator_for(tree)
        kind.check_schema(tree)
    except (ValueError, jsonschema.SchemaError) as error:
        raise UnreadableSchemaError("JSON Schema", _words(error)) from error
    validator = kind(tree)

    def write(document: Any) -> bytes:
        fault = next(validator.iter_errors(document), None)
        if fault is not None:
            where = "/".join(map(str, fault.absolute_path)) or "the whole"
            raise DocumentError(f"{where}: {fault.message[:_SHOWN_CHARACTERS]}")
        return orjson.dumps(document)

    return write


def _read_json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise DocumentError("the bytes are not JSON") from error


def _protobuf_writer(schema: Schema, schemas: SchemaSource) -> Encode:
    message = find_message(compile_protobuf(schema, schemas), "")
    place, made = write_indexes(index_path(message)), message_class(message)

    def write(document: Any) -> bytes:
        try:
            found = json_format.ParseDict(document, made())
        except (json_format.ParseError, AttributeError, TypeError, ValueError) as error:
            raise DocumentError(f"it is not of its message ({_words(error)})") from error
        return place + bytes(found.SerializeToString())

    return write


def _protobuf_reader(schema: Schema, schemas: SchemaSource) -> Decode:
    file = compile_protobuf(schema, schemas)

    def read(body: bytes) -> Any:
        try:
            path, start = read_indexes(body)
            message = message_at(file, path)
            if message is None:
                raise DocumentError(f"the schema has no message at {path}")
            found = message_class(message).FromString(body[start:])
        except (UnreadableBodyError, ValueError, RuntimeError) as error:
            raise DocumentError(f"the bytes are not of their message ({_words(error)})") from error
        return json_format.MessageToDict(found, preserving_proto_field_name=True)

    return read
