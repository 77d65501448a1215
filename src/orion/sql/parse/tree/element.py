"""The parts of statements that declare things: columns with their marks, and WITH properties."""

import enum
from dataclasses import dataclass

from orion.sql.parse.tree.expression import Literal
from orion.sql.parse.tree.node import Name, Node
from orion.sql.parse.tree.written_type import WrittenType


class SourceKind(enum.Enum):
    """A stream of events, or a table of the latest value by key."""

    STREAM = "STREAM"
    TABLE = "TABLE"


class ColumnMark(enum.Enum):
    """What a column is besides a value."""

    KEY = "KEY"
    PRIMARY_KEY = "PRIMARY KEY"
    HEADERS = "HEADERS"
    HEADER = "HEADER"


@dataclass(frozen=True)
class TableElement(Node):
    """A declared column; `header` is the key of the one header that it holds."""

    name: Name
    type: WrittenType
    mark: ColumnMark | None = None
    header: str | None = None


@dataclass(frozen=True)
class Property(Node):
    """One `name = value` of a WITH clause; the name in upper case unless it was quoted."""

    name: str
    value: Literal


Properties = tuple[Property, ...]
