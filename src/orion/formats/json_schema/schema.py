"""SQL columns as a JSON schema, in the form that ksqlDB writes."""

import json
from typing import Any

from orion.formats.schema_source import Schema, SchemaKind
from orion.formats.spec import FormatSpec
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

CONNECT = "org.apache.kafka.connect.data"
_SCALARS: dict[Scalar, dict[str, Any]] = {
    Scalar.BOOLEAN: {"type": "boolean"},
    Scalar.INTEGER: {"type": "integer", "connect.type": "int32"},
    Scalar.BIGINT: {"type": "integer", "connect.type": "int64"},
    Scalar.DOUBLE: {"type": "number", "connect.type": "float64"},
    Scalar.STRING: {"type": "string"},
    Scalar.BYTES: {"type": "string", "connect.type": "bytes"},
}
_TEMPORAL = {
    Scalar.DATE: ("Date", "int32"),
    Scalar.TIME: ("Time", "int32"),
    Scalar.TIMESTAMP: ("Timestamp", "int64"),
}


def json_schema(spec: FormatSpec) -> Schema:
    """Return the schema of a spec's columns; every field may be null."""
    tree = _object(spec.columns) if spec.is_wrapped else _type(spec.columns[0].type)
    return Schema(SchemaKind.JSON, json.dumps(tree, separators=(",", ":")))


def _object(fields: tuple[Field, ...]) -> dict[str, Any]:
    properties = {
        field.name: {"connect.index": position, **_nullable(field.type)}
        for position, field in enumerate(fields)
    }
    return {"type": "object", "properties": properties}


def _nullable(kind: Type) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, _type(kind)]}


def _type(kind: Type) -> dict[str, Any]:
    match kind:
        case Scalar() if kind in _SCALARS:
            return dict(_SCALARS[kind])
        case Scalar():
            title, stored = _TEMPORAL[kind]
            return _logical("integer", title, stored)
        case Decimal(precision, scale):
            parameters = {"scale": str(scale), "connect.decimal.precision": str(precision)}
            return {**_logical("number", "Decimal", "bytes"), "connect.parameters": parameters}
        case Array(element):
            return {"type": "array", "items": _nullable(element)}
        case Map(_, value):
            inner = _nullable(value)
            return {"type": "object", "connect.type": "map", "additionalProperties": inner}
        case Struct(fields):
            return _object(fields)


def _logical(stored: str, title: str, connect_type: str) -> dict[str, Any]:
    return {
        "type": stored,
        "title": f"{CONNECT}.{title}",
        "connect.version": 1,
        "connect.type": connect_type,
    }
