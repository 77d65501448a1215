"""Columns and types in the shapes of the API's entities."""

from collections.abc import Iterable
from typing import Any

from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.sql import Column, Role


def type_shape(kind: Type | None) -> dict[str, Any]:
    """Return a type as entities describe it."""
    match kind:
        case Decimal(precision, scale):
            parameters = {"precision": precision, "scale": scale}
            return {**_shape("DECIMAL"), "parameters": parameters}
        case Array(element):
            return {**_shape("ARRAY"), "memberSchema": type_shape(element)}
        case Map(_, value):
            return {**_shape("MAP"), "memberSchema": type_shape(value)}
        case Struct(fields):
            return {**_shape("STRUCT"), "fields": [field_shape(field) for field in fields]}
        case Scalar():
            return _shape(str(kind))
    return _shape("STRING")


def _shape(name: str) -> dict[str, Any]:
    return {"type": name, "fields": None, "memberSchema": None}


def field_shape(field: Field) -> dict[str, Any]:
    """Return a field as entities describe it."""
    return {"name": field.name, "schema": type_shape(field.type)}


def column_shapes(columns: Iterable[Column]) -> list[dict[str, Any]]:
    """Return the columns of a source as entities describe them."""
    shapes = []
    for column in columns:
        shape = field_shape(column.field)
        if column.role is Role.KEY:
            shape["type"] = "KEY"
        elif column.role is Role.HEADERS:
            shape["type"] = "HEADER"
            if column.header is not None:
                shape["headerKey"] = column.header
        shapes.append(shape)
    return shapes
