"""The plan of a query that answers once: relations, and what is selected from them."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from orion.model import Type
from orion.sql.parse.tree import JoinKind
from orion.sql.plan.step import AggregateCall, Named, Read
from orion.sql.plan.typed import Typed, Variable


@dataclass(frozen=True)
class Scan:
    """The rows of a table, or a stream's events up to now."""

    read: Read


@dataclass(frozen=True)
class Derived:
    """The rows of another query; `read` names their columns."""

    query: "SelectPlan"
    read: Read


@dataclass(frozen=True)
class Joined:
    """Pairs of rows whose keys are equal, one by one, and for which the condition holds."""

    kind: JoinKind
    left: "Relation"
    right: Scan | Derived
    left_keys: tuple[Typed, ...]
    right_keys: tuple[Typed, ...]
    condition: Typed | None


Relation = Scan | Derived | Joined


@dataclass(frozen=True)
class Sorting:
    """An expression that rows are sorted by; nulls come last unless they come first."""

    expression: Typed
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class OverCall:
    """A column computed from the rows of the same partition, in their order.

    Args:
        function: ROW_NUMBER, LAG and the like by their names, or an aggregate.
    """

    name: str
    function: str | AggregateCall
    arguments: tuple[Typed, ...]
    partition_by: tuple[Typed, ...]
    order_by: tuple[Sorting, ...]


class Use(enum.Enum):
    """What of an inner query's rows counts."""

    VALUE = "VALUE"
    EXISTS = "EXISTS"
    MEMBERS = "MEMBERS"


@dataclass(frozen=True)
class Inner:
    """A query inside of an expression, asked once; for each row where it speaks of its columns.

    Args:
        name: The variable that stands for it; where it is asked for each row, the column.
        links: The variables in it that stand for columns around it, and those columns.
    """

    name: str
    query: "SelectPlan"
    use: Use
    type: Type
    links: tuple[tuple[Variable, Typed], ...] = ()


@dataclass(frozen=True)
class SelectPlan:
    """A checked SELECT.

    Args:
        keys: What rows are grouped by; None: they are not.
        united: Queries whose rows follow, and whether all of them do, or each row once.
    """

    relation: Relation
    items: tuple[Named, ...]
    order_by: tuple[Sorting, ...] = ()
    where: Typed | None = None
    keys: tuple[Named, ...] | None = None
    calls: tuple[AggregateCall, ...] = ()
    having: Typed | None = None
    overs: tuple[OverCall, ...] = ()
    is_distinct: bool = False
    limit: int | None = None
    offset: int = 0
    inner: tuple[Inner, ...] = ()
    united: "tuple[tuple[SelectPlan, bool], ...]" = ()


def scans_of(plan: SelectPlan) -> Iterator[Scan]:
    """Yield every source that a plan reads."""
    yield from _scans(plan.relation)
    for inner in plan.inner:
        yield from scans_of(inner.query)
    for other, _ in plan.united:
        yield from scans_of(other)


def _scans(relation: Relation) -> Iterator[Scan]:
    match relation:
        case Scan():
            yield relation
        case Derived(query):
            yield from scans_of(query)
        case Joined(_, left, right):
            yield from _scans(left)
            yield from _scans(right)
