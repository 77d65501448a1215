"""Whether a JSON value can be the default of a field of a type."""

from collections.abc import Mapping
from typing import Any

from orion.registry.avro.tree import (
    Array,
    Definition,
    Enum,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Union,
)

_INT, _LONG = 1 << 31, 1 << 63


def is_default(value: Any, node: Node, types: Mapping[str, Definition]) -> bool:
    """Tell whether a value fits; for a union one of its branches has to take it."""
    if isinstance(node, Named):
        return node.fullname not in types or is_default(value, types[node.fullname], types)
    if isinstance(node, Primitive):
        return _is_primitive(value, node.name)
    if isinstance(node, Union):
        return any(is_default(value, branch, types) for branch in node.branches)
    if isinstance(node, Array):
        return isinstance(value, list) and all(is_default(v, node.items, types) for v in value)
    if isinstance(node, Map):
        return isinstance(value, dict) and all(
            is_default(v, node.values, types) for v in value.values()
        )
    if isinstance(node, Enum):
        return isinstance(value, str) and value in node.symbols
    if isinstance(node, Fixed):
        return isinstance(value, str) and _is_latin(value)
    return isinstance(value, dict) and _is_record(value, node, types)


def _is_record(value: dict[str, Any], record: Record, types: Mapping[str, Definition]) -> bool:
    return all(
        is_default(value[item.name], item.type, types) if item.name in value else item.has_default
        for item in record.fields
    )


def _is_primitive(value: Any, name: str) -> bool:
    if name == "null":
        return value is None
    if name == "boolean":
        return isinstance(value, bool)
    if name in ("int", "long"):
        limit = _INT if name == "int" else _LONG
        return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit
    if name in ("float", "double"):
        # Java writes these three as texts.
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number or value in ("NaN", "Infinity", "-Infinity")
    return isinstance(value, str) and (name == "string" or _is_latin(value))


def _is_latin(value: str) -> bool:
    return all(ord(letter) < 256 for letter in value)
