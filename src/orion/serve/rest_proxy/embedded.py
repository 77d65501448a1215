"""Keys and values inside of JSON bodies: plain, in base64, or by a registered schema."""

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from orion.model import NotFoundError, OrionError, UnavailableError
from orion.serve.rest_proxy.call import whole
from orion.serve.rest_proxy.errors import (
    BadFieldError,
    BadSchemaError,
    MissingKeySchemaError,
    MissingValueSchemaError,
    RegistryFailedError,
)

if TYPE_CHECKING:
    from orion.formats import Documents

# The registry's kinds by the names of embedded formats.
KINDS = {"avro": "AVRO", "jsonschema": "JSON", "protobuf": "PROTOBUF"}


class UnusableDocumentError(Exception):
    """Raised when a document cannot become bytes, or bytes a document; the text is the reason."""


def encode_plain(document: Any, format: str) -> bytes | None:
    """Return a document of format json or binary as bytes; null stays null."""
    if document is None:
        return None
    if format == "json":
        return orjson.dumps(document)
    if not isinstance(document, str):
        raise UnusableDocumentError("it is not a text in base64")
    try:
        return base64.b64decode(document, validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnusableDocumentError(f"it is not base64 ({error})") from error


def decode_plain(body: bytes | None, format: str) -> Any:
    """Return bytes as a document of format json or binary."""
    if body is None:
        return None
    if format == "binary":
        return base64.b64encode(body).decode()
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UnusableDocumentError("it is not JSON") from error


def encode_registered(documents: "Documents", schema_id: int, document: Any) -> bytes | None:
    """Return a document as a record behind its schema id."""
    if document is None:
        return None
    try:
        return documents.encode(schema_id, document)
    except UnavailableError as error:
        raise RegistryFailedError(str(error)) from error
    except NotFoundError as error:
        raise BadSchemaError(error.text) from error
    except OrionError as error:
        raise UnusableDocumentError(error.text) from error


def decode_registered(documents: "Documents", body: bytes | None) -> Any:
    """Return the document of a record that names its schema."""
    if body is None:
        return None
    try:
        return documents.decode(body)
    except UnavailableError as error:
        raise RegistryFailedError(str(error)) from error
    except OrionError as error:
        raise UnusableDocumentError(error.text) from error


def schema_id_of(
    documents: "Documents", fields: Mapping[str, Any], part: str, *, subject: str, format: str
) -> int:
    """Return the id of the schema that a request gives for its keys or values."""
    given = fields.get(f"{part}_schema_id")
    if given is not None:
        return whole(given, f"{part}_schema_id")
    text = fields.get(f"{part}_schema")
    if text is None:
        raise MissingKeySchemaError if part == "key" else MissingValueSchemaError
    if not isinstance(text, str):
        raise BadFieldError(f"{part}_schema", "a text")
    return register(documents, subject, KINDS[format], text)


def register(documents: "Documents", subject: str, kind: str, text: str) -> int:
    """Register a schema, if it is new, and return its id."""
    from orion.formats import Schema, SchemaKind

    schema = Schema(SchemaKind(kind), text)
    try:
        documents.check(schema)
        return documents.schemas.register(subject, schema)
    except UnavailableError as error:
        raise RegistryFailedError(str(error)) from error
    except OrionError as error:
        raise BadSchemaError(error.text) from error
