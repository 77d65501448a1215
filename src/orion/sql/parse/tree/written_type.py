"""Types as they are written: built-in ones, and those that CREATE TYPE made, by name."""

from dataclasses import dataclass

from orion.sql.parse.tree.node import Name, Node


@dataclass(frozen=True)
class SimpleType(Node):
    """A type by its name: a built-in one or one that CREATE TYPE made; resolved later."""

    name: Name


@dataclass(frozen=True)
class DecimalType(Node):
    """`DECIMAL(precision, scale)`."""

    precision: int
    scale: int


@dataclass(frozen=True)
class ArrayType(Node):
    """`ARRAY<element>`."""

    element: "WrittenType"


@dataclass(frozen=True)
class MapType(Node):
    """`MAP<key, value>`."""

    key: "WrittenType"
    value: "WrittenType"


@dataclass(frozen=True)
class StructTypeField(Node):
    """A field of a written struct type."""

    name: Name
    type: "WrittenType"


@dataclass(frozen=True)
class StructType(Node):
    """`STRUCT<name type, ...>`."""

    fields: tuple[StructTypeField, ...]


WrittenType = SimpleType | DecimalType | ArrayType | MapType | StructType
