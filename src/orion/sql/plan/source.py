"""Streams and tables: their columns, where their records lie and how these are written."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from orion.model import Array, Field, Scalar, Struct, Type
from orion.sql.parse.tree import SourceKind, Window, WindowKind

ROWTIME, ROWPARTITION, ROWOFFSET = "ROWTIME", "ROWPARTITION", "ROWOFFSET"
WINDOWSTART, WINDOWEND = "WINDOWSTART", "WINDOWEND"

# Columns that every record has, besides the declared ones.
PSEUDO: Mapping[str, Type] = {
    ROWTIME: Scalar.BIGINT,
    ROWPARTITION: Scalar.INTEGER,
    ROWOFFSET: Scalar.BIGINT,
}
WINDOW_BOUNDS: Mapping[str, Type] = {WINDOWSTART: Scalar.BIGINT, WINDOWEND: Scalar.BIGINT}
RESERVED = frozenset((*PSEUDO, *WINDOW_BOUNDS))

HEADERS_TYPE = Array(Struct((Field("KEY", Scalar.STRING), Field("VALUE", Scalar.BYTES))))


class Role(enum.Enum):
    """Where in the record a column's value lies."""

    KEY = "KEY"
    VALUE = "VALUE"
    HEADERS = "HEADERS"


@dataclass(frozen=True)
class Column:
    """A declared column; `header` names the one header that it holds."""

    name: str
    type: Type
    role: Role = Role.VALUE
    header: str | None = None

    @property
    def field(self) -> Field:
        """The column as a field of its record."""
        return Field(self.name, self.type)


@dataclass(frozen=True)
class Format:
    """How one side of a record, its key or its value, is written."""

    name: str
    delimiter: str | None = None
    wrap: bool | None = None
    schema_id: int | None = None
    schema_name: str | None = None
    nullable_representation: str | None = None


@dataclass(frozen=True)
class Windowed:
    """The windows in a source's keys; sessions have no size.

    Args:
        retention_ms: How far behind the newest one windows are still answered; None: all are.
    """

    kind: WindowKind
    size_ms: int | None = None
    retention_ms: int | None = None

    @property
    def shape(self) -> tuple[WindowKind, int | None]:
        """What keys with these windows look like, whatever is answered of them."""
        return self.kind, self.size_ms

    @classmethod
    def of(cls, window: Window | None) -> "Windowed | None":
        """Return the windows that a query makes, if it does."""
        if window is None:
            return None
        size = None if window.kind is WindowKind.SESSION else window.size.ms
        return cls(window.kind, size, None if window.retention is None else window.retention.ms)


@dataclass(frozen=True)
class EventTime:
    """The column that gives the record its time, with the pattern of a text."""

    column: str
    pattern: str | None = None


@dataclass(frozen=True)
class Source:
    """A stream or a table.

    Args:
        is_source: Whether it is read-only.
        query: The query that makes it, if one does.
        number: Of the statement that made it; tells it from an earlier one of the same name.
        late_topic: Where its query's records go that come too late; empty: they are only counted.
    """

    name: str
    kind: SourceKind
    columns: tuple[Column, ...]
    topic: str
    key_format: Format
    value_format: Format
    windowed: Windowed | None = None
    event_time: EventTime | None = None
    is_source: bool = False
    partitions: int | None = None
    replicas: int | None = None
    topic_configs: Mapping[str, str] = field(default_factory=dict)
    statement: str = ""
    query: str | None = None
    number: int = 0
    late_topic: str = ""

    @property
    def is_table(self) -> bool:
        """Whether it holds the latest value by key."""
        return self.kind is SourceKind.TABLE

    @property
    def key(self) -> tuple[Column, ...]:
        """The columns of the key."""
        return tuple(self._with(Role.KEY))

    @property
    def value(self) -> tuple[Column, ...]:
        """The columns of the value."""
        return tuple(self._with(Role.VALUE))

    @property
    def headers(self) -> tuple[Column, ...]:
        """The columns that show headers."""
        return tuple(self._with(Role.HEADERS))

    def _with(self, role: Role) -> Iterator[Column]:
        return (column for column in self.columns if column.role is role)

    def get(self, name: str) -> Column | None:
        """Return the declared column of this name."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def pseudo(self) -> Mapping[str, Type]:
        """The columns it has without declaring them."""
        return {**PSEUDO, **WINDOW_BOUNDS} if self.windowed else PSEUDO

    def schema_text(self) -> str:
        """Return the columns as the API shows them.

        >>> Source("S", SourceKind.STREAM, (Column("ID", Scalar.BIGINT, Role.KEY),), "t",
        ...        Format("KAFKA"), Format("JSON")).schema_text()
        '`ID` BIGINT KEY'
        """
        return ", ".join(_declaration(column, self.is_table) for column in self.columns)


class DerivedSource(Source):
    """The columns of another query's rows, which have no record behind them."""

    @property
    def pseudo(self) -> Mapping[str, Type]:
        """No columns but the selected ones."""
        return {}


def _declaration(column: Column, is_table: bool) -> str:
    text = str(column.field)
    if column.role is Role.KEY:
        return f"{text} {'PRIMARY KEY' if is_table else 'KEY'}"
    if column.role is Role.HEADERS:
        return f"{text} HEADERS" if column.header is None else f"{text} HEADER('{column.header}')"
    return text
