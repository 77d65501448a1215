"""JSON schemas read as SQL columns."""

import json
from collections.abc import Mapping
from typing import Any

from orion.formats.json_schema.schema import CONNECT
from orion.formats.schema_error import UnmappedTypeError, UnreadableSchemaError
from orion.formats.schema_source import Schema, SchemaSource, referenced
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

_LOGICAL = {
    f"{CONNECT}.Date": Scalar.DATE,
    f"{CONNECT}.Time": Scalar.TIME,
    f"{CONNECT}.Timestamp": Scalar.TIMESTAMP,
}
_INTEGERS = {"int8": Scalar.INTEGER, "int16": Scalar.INTEGER, "int32": Scalar.INTEGER}
_MAX_DEPTH = 50
_DEFAULT_DECIMAL = (38, 0)

Tree = Mapping[str, Any]


def columns_of_json(
    schema: Schema, schemas: SchemaSource | None, anonymous: str
) -> tuple[Field, ...]:
    """Return the columns of an object; any other schema is one column.

    Args:
        anonymous: That column's name.
    """
    others = referenced(schemas, schema) if schemas and schema.references else {}
    reader = _Reader(_load(schema.text), {name: _load(s.text) for name, s in others.items()})
    kind = reader.type(reader.root, "", 0)
    return kind.fields if isinstance(kind, Struct) else (Field(anonymous, kind),)


def _load(text: str) -> Tree:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UnreadableSchemaError("JSON Schema", str(error)) from error
    if not isinstance(found, dict):
        raise UnreadableSchemaError("JSON Schema", "it is not an object")
    return found


class _Reader:
    def __init__(self, root: Tree, others: Mapping[str, Tree]) -> None:
        self.root, self._others = root, others

    def type(self, tree: Tree, path: str, depth: int) -> Type:
        """Return the SQL type of a schema; what may be null as well is what it else is."""
        if depth > _MAX_DEPTH:
            raise UnmappedTypeError(path, "defined by itself")
        tree = self._plain(tree, path, depth)
        title = tree.get("title", "")
        if title in _LOGICAL:
            return _LOGICAL[title]
        if title == f"{CONNECT}.Decimal":
            return _decimal(tree)
        match self._word(tree, path):
            case "object":
                return self._object(tree, path, depth)
            case "array":
                return Array(self.type(_items(tree, path), path, depth + 1))
            case "integer":
                return _INTEGERS.get(tree.get("connect.type", ""), Scalar.BIGINT)
            case "number":
                return Scalar.DOUBLE
            case "boolean":
                return Scalar.BOOLEAN
            case _:
                is_bytes = tree.get("connect.type") == "bytes"
                return Scalar.BYTES if is_bytes else Scalar.STRING

    def _plain(self, tree: Tree, path: str, depth: int) -> Tree:
        """Follow references and leave null out of choices."""
        for _ in range(_MAX_DEPTH):
            if "$ref" in tree:
                tree = self._follow(str(tree["$ref"]), path)
            elif "oneOf" in tree or "anyOf" in tree:
                tree = _without_null(tree, path)
            elif "allOf" in tree:
                tree = self._merge(tree, path, depth)
            else:
                return tree
        raise UnmappedTypeError(path, "defined by itself")

    def _merge(self, tree: Tree, path: str, depth: int) -> Tree:
        merged: dict[str, Any] = {k: v for k, v in tree.items() if k != "allOf"}
        properties = dict(merged.get("properties", {}))
        for part in tree["allOf"]:
            found = self._plain(part, path, depth + 1)
            properties |= found.get("properties", {})
            merged |= {k: v for k, v in found.items() if k != "properties"}
        return {**merged, "properties": properties} if properties else merged

    def _follow(self, reference: str, path: str) -> Tree:
        name, _, pointer = reference.partition("#")
        found: Any = self._others.get(name) if name else self.root
        for step in [part for part in pointer.split("/") if part]:
            word = step.replace("~1", "/").replace("~0", "~")
            found = found.get(word) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise UnmappedTypeError(path, f"a reference to '{reference}', which is not there")
        return found

    def _word(self, tree: Tree, path: str) -> str:
        words = tree.get("type")
        if isinstance(words, list):
            others = [word for word in words if word != "null"]
            if len(others) != 1:
                raise UnmappedTypeError(path, f"one of {', '.join(map(str, words))}")
            return str(others[0])
        if words is None:
            return "object" if "properties" in tree else _word_of_values(tree, path)
        return str(words)

    def _object(self, tree: Tree, path: str, depth: int) -> Type:
        properties, more = tree.get("properties"), tree.get("additionalProperties")
        if not properties and isinstance(more, dict):
            return Map(Scalar.STRING, self.type(more, path, depth + 1))
        if not properties:
            raise UnmappedTypeError(path, "an object without named properties")
        ordered = sorted(properties.items(), key=lambda item: item[1].get("connect.index", 0))
        return Struct(
            tuple(
                Field(name, self.type(inner, f"{path}.{name}".strip("."), depth + 1))
                for name, inner in ordered
            )
        )


def _word_of_values(tree: Tree, path: str) -> str:
    values = tree.get("enum", [tree["const"]] if "const" in tree else [])
    if values and all(isinstance(value, str) for value in values):
        return "string"
    raise UnmappedTypeError(path, "without a type")


def _items(tree: Tree, path: str) -> Tree:
    items = tree.get("items")
    if not isinstance(items, dict):
        raise UnmappedTypeError(path, "an array of anything")
    return items


def _without_null(tree: Tree, path: str) -> Tree:
    choices = tree.get("oneOf") or tree.get("anyOf") or []
    others = [choice for choice in choices if choice.get("type") != "null"]
    if len(others) != 1:
        raise UnmappedTypeError(path, f"one of {len(others)} schemas")
    found: Tree = others[0]
    return found


def _decimal(tree: Tree) -> Decimal:
    parameters = tree.get("connect.parameters", {})
    precision, scale = _DEFAULT_DECIMAL
    precision = int(parameters.get("connect.decimal.precision", precision))
    return Decimal(precision, int(parameters.get("scale", scale)))
