"""The nodes of an Avro schema; a named type occurs once, elsewhere by its full name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
Attributes = Mapping[str, Any]
# Tells a field without a default from one whose default is null.
MISSING: Any = object()


@dataclass(frozen=True)
class Primitive:
    """A type without parts; attributes hold its logical type and whatever else was given."""

    name: str
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Named:
    """A use of a named type by its full name."""

    fullname: str


@dataclass(frozen=True)
class Array:
    """A list of items."""

    items: "Node"
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Map:
    """Values by string keys."""

    values: "Node"
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Union:
    """One of several types."""

    branches: tuple["Node", ...]


@dataclass(frozen=True)
class Field:
    """A field of a record."""

    name: str
    type: "Node"
    default: Any = MISSING
    doc: str | None = None
    order: str | None = None
    aliases: tuple[str, ...] = ()
    attributes: Attributes = field(default_factory=dict)

    @property
    def has_default(self) -> bool:
        """Whether a reader may lack the field in its data."""
        return self.default is not MISSING


@dataclass(frozen=True)
class Record:
    """A record; `kind` is `record` or `error`."""

    fullname: str
    fields: tuple[Field, ...]
    kind: str = "record"
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Enum:
    """One of several symbols."""

    fullname: str
    symbols: tuple[str, ...]
    default: str | None = None
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True)
class Fixed:
    """A number of bytes."""

    fullname: str
    size: int
    doc: str | None = None
    aliases: tuple[str, ...] = ()
    attributes: Attributes = field(default_factory=dict)


Definition = Record | Enum | Fixed
Node = Primitive | Named | Array | Map | Union | Record | Enum | Fixed


def unqualified(fullname: str) -> str:
    """Return a name without its namespace."""
    return fullname.rpartition(".")[2]


def namespace_of(fullname: str) -> str:
    """Return the namespace of a full name; empty where there is none."""
    return fullname.rpartition(".")[0]
