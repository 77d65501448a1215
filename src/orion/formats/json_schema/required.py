"""Which columns a JSON schema requires a value of, and rows that lack one."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orion.formats.schema_error import UnwritableRowError
from orion.formats.schema_source import Schema
from orion.model import Field, Struct

# The columns in which null is refused, and those that hold such columns.
Required = Mapping[str, "Required | None"]


def required_columns(columns: tuple[Field, ...], schema: Schema) -> Required:
    """Return the columns that a schema requires and has no null for, at any depth of structs."""
    return _required(columns, json.loads(schema.text))


def _required(columns: tuple[Field, ...], tree: Any) -> dict[str, "Required | None"]:
    tree = _without_null(tree)
    properties = tree.get("properties")
    if not isinstance(properties, dict):
        return {}
    by_upper = {name.upper(): name for name in reversed(list(properties))}
    found: dict[str, Required | None] = {}
    for column in columns:
        name = column.name if column.name in properties else by_upper.get(column.name.upper())
        own = properties.get(name)
        if name in tree.get("required", ()) and not _has_null(own):
            found[column.name] = None
        elif isinstance(column.type, Struct) and (inner := _required(column.type.fields, own)):
            found[column.name] = inner
    return found


def _has_null(tree: Any) -> bool:
    """Tell whether a schema takes null; one that cannot be told at a glance is left alone."""
    if not isinstance(tree, dict) or "type" not in tree:
        return True
    return "null" in tree["type"] if isinstance(tree["type"], list) else tree["type"] == "null"


def _without_null(tree: Any) -> dict[str, Any]:
    if not isinstance(tree, dict):
        return {}
    for branch in tree.get("oneOf", ()):
        if isinstance(branch, dict) and branch.get("type") != "null":
            return branch
    return tree


def check_required(rows: pa.StructArray, required: Required, path: str = "") -> None:
    """Raise if a row lacks a value that the schema requires."""
    for name, inner in required.items():
        values = pc.struct_field(rows, [rows.type.get_field_index(name)])
        own = f"{path}.{name}".strip(".")
        if inner is not None:
            check_required(values, inner, own)
        elif values.null_count and pc.any(pc.and_(rows.is_valid(), values.is_null())).as_py():
            raise UnwritableRowError(own, "it is null, and the schema requires a value")
