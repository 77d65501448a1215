"""Avro schemas read: their text to a tree, and the tree to SQL columns."""

import json
from collections.abc import Mapping
from typing import Any

import fastavro

from orion.formats.schema_error import UnmappedTypeError, UnreadableSchemaError
from orion.formats.schema_source import Schema, SchemaSource, referenced
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

Named = dict[str, Any]

_PLAIN = {
    "boolean": Scalar.BOOLEAN,
    "int": Scalar.INTEGER,
    "long": Scalar.BIGINT,
    "float": Scalar.DOUBLE,
    "double": Scalar.DOUBLE,
    "string": Scalar.STRING,
    "bytes": Scalar.BYTES,
    "fixed": Scalar.BYTES,
    "enum": Scalar.STRING,
}
_LOGICAL = {
    ("int", "date"): Scalar.DATE,
    ("int", "time-millis"): Scalar.TIME,
    ("long", "timestamp-millis"): Scalar.TIMESTAMP,
}
_MAX_DECIMAL = 38


def parse_avro(schema: Schema, schemas: SchemaSource | None = None) -> tuple[Any, Named]:
    """Return a schema's tree with full names, and the trees of all names it uses."""
    named: Named = {}
    try:
        if schema.references and schemas is not None:
            for other in reversed(list(referenced(schemas, schema).values())):
                fastavro.parse_schema(json.loads(other.text), named_schemas=named)
        tree = fastavro.parse_schema(json.loads(schema.text), named_schemas=named)
    except (ValueError, TypeError, KeyError, fastavro.schema.SchemaParseException) as error:
        raise UnreadableSchemaError("Avro", str(error) or type(error).__name__) from error
    return tree, named


def kind_of(tree: Any) -> str:
    """Return the word for a tree's type; a union is `union`."""
    if isinstance(tree, list):
        return "union"
    if isinstance(tree, dict):
        return kind_of(tree["type"])
    return str(tree)


def resolve(tree: Any, named: Mapping[str, Any]) -> Any:
    """Return what a name stands for."""
    if isinstance(tree, str) and tree in named:
        return named[tree]
    if isinstance(tree, dict) and not isinstance(tree["type"], str):
        return resolve(tree["type"], named)
    return tree


def without_null(tree: Any) -> Any:
    """Return the one other branch of a union with null; the tree itself if it is no such union."""
    if isinstance(tree, list):
        others = [branch for branch in tree if kind_of(branch) != "null"]
        if len(others) == 1:
            return others[0]
    return tree


def columns_of_avro(tree: Any, named: Mapping[str, Any], anonymous: str) -> tuple[Field, ...]:
    """Return the columns of a record; any other schema is one column.

    Args:
        anonymous: That column's name.
    """
    found = resolve(without_null(tree), named)
    if kind_of(found) == "record":
        kind = _type(found, named, "", frozenset())
        assert isinstance(kind, Struct)
        return kind.fields
    return (Field(anonymous, _type(found, named, anonymous, frozenset())),)


def _type(tree: Any, named: Mapping[str, Any], path: str, above: frozenset[str]) -> Type:
    tree = resolve(without_null(tree), named)
    kind = kind_of(tree)
    logical = tree.get("logicalType") if isinstance(tree, dict) else None
    if logical == "decimal" and kind in ("bytes", "fixed"):
        return _decimal(tree, path)
    match kind:
        case "record":
            return _struct(tree, named, path, above)
        case "array":
            return _array(tree, named, path, above)
        case "map":
            return Map(Scalar.STRING, _type(tree["values"], named, path, above))
        case _ if (kind, logical) in _LOGICAL:
            return _LOGICAL[kind, str(logical)]
        case _ if kind in _PLAIN:
            return _PLAIN[kind]
        case "union":
            return _union(tree, named, path, above)
        case _:
            raise UnmappedTypeError(path, kind)


def branch_name(tree: Any) -> str:
    """Return what a branch of a union is called: its type, or a named type's own name."""
    if isinstance(tree, dict) and "name" in tree:
        return str(tree["name"]).rpartition(".")[2]
    return kind_of(tree)


def _union(tree: Any, named: Mapping[str, Any], path: str, above: frozenset[str]) -> Struct:
    """Return a struct with a field for each branch, of which one has a value."""
    branches = [resolve(branch, named) for branch in tree if kind_of(branch) != "null"]
    return Struct(
        tuple(Field(branch_name(each), _type(each, named, path, above)) for each in branches)
    )


def _struct(tree: Any, named: Mapping[str, Any], path: str, above: frozenset[str]) -> Struct:
    name = tree["name"]
    if name in above:
        raise UnmappedTypeError(path, f"record {name} within itself")
    inner = above | {name}
    return Struct(
        tuple(
            Field(f["name"], _type(f["type"], named, f"{path}.{f['name']}".strip("."), inner))
            for f in tree["fields"]
        )
    )


def _array(tree: Any, named: Mapping[str, Any], path: str, above: frozenset[str]) -> Type:
    element = _type(tree["items"], named, path, above)
    if tree.get("connect.internal.type") == "MapEntry" and isinstance(element, Struct):
        key, value = (field.type for field in element.fields)
        return Map(key, value)
    return Array(element)


def _decimal(tree: Any, path: str) -> Decimal:
    precision, scale = int(tree.get("precision", _MAX_DECIMAL)), int(tree.get("scale", 0))
    if not 0 < precision <= _MAX_DECIMAL or not 0 <= scale <= precision:
        raise UnmappedTypeError(path, f"a decimal of {precision} digits, {scale} after the point")
    return Decimal(precision, scale)
