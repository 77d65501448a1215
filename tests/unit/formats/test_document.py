"""Documents of registered schemas, as HTTP clients send and read them."""

import json
from typing import Any

import pytest

from orion.formats import DocumentError, Documents, MemorySchemas, Schema, SchemaKind

AVRO = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
JSON = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
PROTOBUF = 'syntax = "proto3"; message R { int32 id = 1; repeated string tags = 2; }'
CASES: list[tuple[SchemaKind, Any, Any]] = [
    (SchemaKind.AVRO, json.dumps(AVRO), {"id": 1, "note": {"string": "n"}}),
    (SchemaKind.AVRO, '"string"', "text"),
    (SchemaKind.JSON, json.dumps(JSON), {"id": 1, "more": [None]}),
    (SchemaKind.PROTOBUF, PROTOBUF, {"id": 1, "tags": ["a"]}),
]


def register(kind: SchemaKind, text: str) -> tuple[Documents, int]:
    schemas = MemorySchemas()
    return Documents(schemas), schemas.register("s", Schema(kind, text))


@pytest.mark.parametrize(("kind", "text", "document"), CASES)
def test_documents_come_back(kind: SchemaKind, text: str, document: Any) -> None:
    documents, schema_id = register(kind, text)
    assert documents.decode(documents.encode(schema_id, document)) == document


@pytest.mark.parametrize(("kind", "text", "document"), CASES)
@pytest.mark.parametrize("wrong", [{"id": "x"}, [1], {"nothing": 1}, 7.5])
def test_a_document_of_another_shape_is_refused(
    kind: SchemaKind, text: str, document: Any, wrong: Any
) -> None:
    documents, schema_id = register(kind, text)
    with pytest.raises(DocumentError, match="cannot be used"):
        documents.encode(schema_id, wrong)


@pytest.mark.parametrize("damage", [b"", b"\0\0", b"\1\0\0\0\1", b"\0\0\0\0\1"])
@pytest.mark.parametrize(("kind", "text", "document"), CASES)
def test_damaged_bytes_are_told(kind: SchemaKind, text: str, document: Any, damage: bytes) -> None:
    documents, _ = register(kind, text)
    with pytest.raises(DocumentError, match="cannot be used"):
        documents.decode(damage)
