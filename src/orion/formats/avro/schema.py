"""SQL columns as an Avro schema, in the form that ksqlDB writes."""

import json
from typing import Any

from orion.formats.schema_source import Schema, SchemaKind
from orion.formats.spec import FormatSpec
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

DEFAULT_NAME = "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
_CONNECT = "org.apache.kafka.connect.data"
_PLAIN = {
    Scalar.BOOLEAN: "boolean",
    Scalar.INTEGER: "int",
    Scalar.BIGINT: "long",
    Scalar.DOUBLE: "double",
    Scalar.STRING: "string",
    Scalar.BYTES: "bytes",
}
_TEMPORAL = {
    Scalar.DATE: ("int", "Date", "date"),
    Scalar.TIME: ("int", "Time", "time-millis"),
    Scalar.TIMESTAMP: ("long", "Timestamp", "timestamp-millis"),
}
# How converters of Kafka Connect know a list of entries from a list of structs.
_ENTRY = {"connect.internal.type": "MapEntry"}


def avro_schema(spec: FormatSpec) -> Schema:
    """Return the schema of a spec's columns; every field may be null."""
    name = spec.full_name or DEFAULT_NAME
    if spec.is_wrapped:
        tree: Any = _record(name, spec.columns)
    else:
        tree = _type(spec.columns[0].type, name)
    return Schema(SchemaKind.AVRO, json.dumps(tree, separators=(",", ":")))


def _record(full_name: str, fields: tuple[Field, ...]) -> dict[str, Any]:
    namespace, _, name = full_name.rpartition(".")
    own = {"namespace": namespace} if namespace else {}
    return {
        "type": "record",
        "name": name,
        **own,
        "fields": [_field(field.name, field.type, f"{full_name}_{field.name}") for field in fields],
    }


def _field(name: str, kind: Type, inner: str) -> dict[str, Any]:
    return {"name": name, "type": nullable_type(kind, inner), "default": None}


def nullable_type(kind: Type, inner: str) -> list[Any]:
    """Return a type or null; a struct within it takes the name."""
    return ["null", _type(kind, inner)]


def _type(kind: Type, name: str) -> Any:
    """Return a type; a struct within it takes the name."""
    match kind:
        case Scalar() if kind in _PLAIN:
            return _PLAIN[kind]
        case Scalar():
            stored, label, logical = _TEMPORAL[kind]
            return {
                "type": stored,
                "connect.version": 1,
                "connect.name": f"{_CONNECT}.{label}",
                "logicalType": logical,
            }
        case Decimal(precision, scale):
            return _decimal(precision, scale)
        case Array(element):
            return {"type": "array", "items": nullable_type(element, name)}
        case Map(key, value) if key is Scalar.STRING:
            return {"type": "map", "values": nullable_type(value, name)}
        case Map(key, value):
            fields = [_field("key", key, f"{name}_key"), _field("value", value, f"{name}_value")]
            entry = {**_record(name, ()), "fields": fields, **_ENTRY}
            return {"type": "array", "items": entry, **_ENTRY}
        case Struct(inner):
            return _record(name, inner)


def _decimal(precision: int, scale: int) -> dict[str, Any]:
    return {
        "type": "bytes",
        "scale": scale,
        "precision": precision,
        "connect.version": 1,
        "connect.parameters": {"scale": str(scale), "connect.decimal.precision": str(precision)},
        "connect.name": f"{_CONNECT}.Decimal",
        "logicalType": "decimal",
    }
