"""Avro schemas for Spark's own reader and writer: what lets whole batches stay in the JVM.

A record's bytes are its fields', one after another, so a record that holds only that record has
the same bytes. The schema to read with picks the columns, in their order, under the writer's
names, with null for what the writer lacks: a cast by position then gives the row.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orion.formats.avro.column import kind_of, parse_avro, resolve, without_null
from orion.formats.avro.schema import avro_schema, nullable_type
from orion.formats.schema_source import Schema, SchemaSource
from orion.formats.spec import Format, FormatSpec
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

# What Spark reads as each type, without any change of meaning: stored type and logical type.
_SAME: dict[Scalar, set[tuple[str, str | None]]] = {
    Scalar.BOOLEAN: {("boolean", None)},
    Scalar.INTEGER: {("int", None)},
    Scalar.BIGINT: {("long", None), ("int", None)},
    Scalar.DOUBLE: {("double", None), ("float", None)},
    Scalar.STRING: {
        ("string", None),
        ("enum", None),
        ("int", None),
        ("long", None),
        ("boolean", None),
    },
    Scalar.BYTES: {("bytes", None)},
    Scalar.DATE: {("int", "date")},
    Scalar.TIME: {("int", "time-millis")},
    Scalar.TIMESTAMP: {("long", "timestamp-millis"), ("long", "timestamp-micros")},
}
_OUTER = "OrionRow"


@dataclass(frozen=True)
class NativeSchemas:
    """The schemas, as texts, by which Spark reads the bodies of one schema id into the columns."""

    writer: str
    reader: str


def native_schemas(
    spec: FormatSpec, schema: Schema, schemas: SchemaSource | None = None
) -> NativeSchemas | None:
    """Return how Spark reads bodies of a schema as `struct<row>`; None if only the codec can."""
    if spec.format is not Format.AVRO or not spec.is_wrapped:
        return None
    tree, named = parse_avro(schema, schemas)
    found = resolve(tree, named)
    if kind_of(found) != "record" or schema.references:
        return None
    picked = _pick(Struct(spec.columns), found, named, set())
    if picked is None:
        return None
    return NativeSchemas(_text(_outer(json.loads(schema.text))), _text(_outer(picked)))


def writes_native(spec: FormatSpec, schema: Schema) -> bool:
    """Tell whether Spark writes rows with this schema as the codec does."""
    return (
        schema == avro_schema(spec)
        and spec.is_wrapped
        and all(_is_writable(field.type) for field in spec.columns)
    )


def _is_writable(kind: Type) -> bool:
    match kind:
        case Array(element):
            return _is_writable(element)
        case Map(key, value):
            return key is Scalar.STRING and _is_writable(value)
        case Struct(fields):
            return all(_is_writable(field.type) for field in fields)
        case _:
            return True


def _outer(tree: Any) -> dict[str, Any]:
    # The name is the same on both sides, which is how Avro knows what belongs together.
    return {"type": "record", "name": _OUTER, "fields": [{"name": "row", "type": tree}]}


def _text(tree: Any) -> str:
    return json.dumps(tree, separators=(",", ":"))


def _pick(kind: Type, tree: Any, named: Mapping[str, Any], seen: set[str]) -> Any:
    """Return the part of a writer's schema that a type needs, or None if Spark reads otherwise."""
    tree = resolve(tree, named)
    if isinstance(tree, list):
        other = without_null(tree)
        if isinstance(other, list):
            return None
        picked = _pick(kind, other, named, seen)
        return None if picked is None else ["null", picked]
    match kind:
        case Struct(fields):
            return _pick_record(fields, tree, named, seen)
        case Array(element) if kind_of(tree) == "array":
            items = _pick(element, tree["items"], named, seen)
            return None if items is None else {"type": "array", "items": items}
        case Map(key, value) if kind_of(tree) == "map" and key is Scalar.STRING:
            values = _pick(value, tree["values"], named, seen)
            return None if values is None else {"type": "map", "values": values}
        case Decimal():
            return tree if _is_decimal(kind, tree) else None
        case Scalar():
            return _pick_scalar(kind, tree, seen)
        case _:
            return None


def _is_decimal(kind: Decimal, tree: Any) -> bool:
    return (
        isinstance(tree, dict)
        and kind_of(tree) == "bytes"
        and tree.get("logicalType") == "decimal"
        and (tree.get("precision"), tree.get("scale", 0)) == (kind.precision, kind.scale)
    )


def _pick_scalar(kind: Scalar, tree: Any, seen: set[str]) -> Any:
    logical = tree.get("logicalType") if isinstance(tree, dict) else None
    if (kind_of(tree), logical) not in _SAME[kind]:
        return None
    if kind_of(tree) == "enum":
        if tree["name"] in seen:
            return None
        seen.add(tree["name"])
        return {name: tree[name] for name in ("type", "name", "symbols")}
    return {"type": kind_of(tree), "logicalType": logical} if logical else kind_of(tree)


def _pick_record(
    fields: tuple[Field, ...], tree: Any, named: Mapping[str, Any], seen: set[str]
) -> Any:
    if kind_of(tree) != "record" or tree["name"] in seen or not fields:
        return None
    # A name may be defined once in a text: a record used twice is left to the codec.
    seen.add(tree["name"])
    known = {field["name"]: field for field in tree["fields"]}
    by_upper = {name.upper(): name for name in reversed(list(known))}
    picked = []
    for field in fields:
        name = field.name if field.name in known else by_upper.get(field.name.upper())
        if name is None:
            lacking = nullable_type(field.type, f"{tree['name']}_lacking_{field.name}")
            picked.append({"name": field.name, "type": lacking, "default": None})
            continue
        inner = _pick(field.type, known[name]["type"], named, seen)
        if inner is None:
            return None
        picked.append({"name": name, "type": inner})
    return {"type": "record", "name": tree["name"], "fields": picked}
