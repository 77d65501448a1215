"""The tree of a query: what is selected, from where, in which windows, and what comes out when."""

import enum
from dataclasses import dataclass

from orion.sql.parse.tree.expression import Expression, Ordering
from orion.sql.parse.tree.node import Duration, Name, Node


@dataclass(frozen=True)
class AllColumns(Node):
    """`*` or `source.*`."""

    source: Name | None = None


@dataclass(frozen=True)
class AllFields(Node):
    """`value->*`: a column for every field of a struct."""

    value: Expression


@dataclass(frozen=True)
class SelectItem(Node):
    """An expression, perhaps with the name that its column gets."""

    expression: Expression
    alias: Name | None = None


SelectPart = AllColumns | AllFields | SelectItem


@dataclass(frozen=True)
class AliasedSource(Node):
    """A stream or table, with the name it goes by in this query (its own if none is given)."""

    name: Name
    alias: Name

    @property
    def has_alias(self) -> bool:
        """Whether the query gives it another name."""
        return self.alias != self.name


@dataclass(frozen=True)
class QuerySource(Node):
    """`(SELECT ...) AS alias`: the rows of another query."""

    query: "Query"
    alias: Name


class JoinKind(enum.Enum):
    """Whose rows stay when no partner is found."""

    INNER = "INNER"
    LEFT = "LEFT OUTER"
    RIGHT = "RIGHT OUTER"
    FULL = "FULL OUTER"


@dataclass(frozen=True)
class Within(Node):
    """How far apart in time two records may be to meet, and how late one may come."""

    before: Duration
    after: Duration
    grace: Duration | None = None


@dataclass(frozen=True)
class Join(Node):
    """The sources so far (left) joined with one more (right)."""

    kind: JoinKind
    left: "Relation"
    right: AliasedSource | QuerySource
    on: Expression
    within: Within | None = None


Relation = AliasedSource | QuerySource | Join


class WindowKind(enum.Enum):
    """How time is cut."""

    TUMBLING = "TUMBLING"
    HOPPING = "HOPPING"
    SESSION = "SESSION"


@dataclass(frozen=True)
class Window(Node):
    """Windows of one size; for a session the size is the gap that ends it."""

    kind: WindowKind
    size: Duration
    advance: Duration | None = None
    retention: Duration | None = None
    grace: Duration | None = None


class Emit(enum.Enum):
    """Which results come out: every change, or the last one when a window closes."""

    CHANGES = "CHANGES"
    FINAL = "FINAL"


@dataclass(frozen=True)
class CommonTable(Node):
    """`name AS (SELECT ...)` of a WITH."""

    name: Name
    query: "Query"


@dataclass(frozen=True)
class United(Node):
    """`UNION [ALL] SELECT ...`: rows of another query follow; without ALL each row comes once."""

    query: "Query"
    is_all: bool


@dataclass(frozen=True)
class Query(Node):
    """A SELECT; a pull query is one that stands alone without EMIT and answers once.

    Args:
        common: The queries of WITH, which those after them may name.
        united: Further queries; order, limit and offset are then those of all together.
    """

    select: tuple[SelectPart, ...]
    source: Relation
    window: Window | None = None
    where: Expression | None = None
    group_by: tuple[Expression, ...] | None = None
    partition_by: tuple[Expression, ...] | None = None
    having: Expression | None = None
    emit: Emit | None = None
    limit: int | None = None
    is_pull: bool = False
    is_distinct: bool = False
    order_by: tuple[Ordering, ...] = ()
    offset: int = 0
    common: tuple[CommonTable, ...] = ()
    united: tuple[United, ...] = ()
