"""Pull queries: what they may ask, and which keys their condition names."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from typing import Any

from orion.model import InvalidInputError, Scalar, Type
from orion.sql import (
    Catalogue,
    Functions,
    QueryPlan,
    Source,
    StatementError,
    answer,
    evaluate_or_null,
    plan_query,
    step,
    tree,
    typed,
)
from orion.views.projection import Projection
from orion.views.reader import hashable

SCANS = "ksql.query.pull.table.scan.enabled"
RANGES = "ksql.query.pull.range.scan.enabled"
# A way a condition can hold: the columns of the key that equal a value then.
_Way = dict[str, Any]
# Of two conditions together; lists of several columns multiply.
_MOST_WAYS = 100_000
_UNKNOWN_HERE = ("ROWPARTITION", "ROWOFFSET")
_RANGE = (
    tree.ComparisonOperator.LESS,
    tree.ComparisonOperator.LESS_OR_EQUAL,
    tree.ComparisonOperator.GREATER,
    tree.ComparisonOperator.GREATER_OR_EQUAL,
)


class TableNotQueryableError(InvalidInputError):
    """Raised when a table is only a name for a topic, so nobody keeps its rows."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"Table '{name}' is declared over a topic, and its rows are not kept.",
            fix=f"Declare it with CREATE SOURCE TABLE, or CREATE TABLE … AS SELECT * FROM {name}.",
        )


@dataclass(frozen=True)
class PullPlan:
    """A checked pull query.

    Args:
        keys: The keys that the condition names, each a value a key column; None: all rows count.
    """

    source: Source
    plan: QueryPlan
    where: typed.Typed | None
    keys: tuple[tuple[Any, ...], ...] | None
    limit: int | None

    @cached_property
    def projection(self) -> Projection:
        """What is done with each row."""
        return Projection(self.plan.value, self.where)

    @cached_property
    def columns(self) -> list[tuple[str, Type | None, bool]]:
        """The name, the type and whether it is part of the key, of each column of the answer."""
        keys = {column.name for column in self.source.key}
        bounds = ("WINDOWSTART", "WINDOWEND") if self.source.windowed else ()
        return [
            (named.name, named.type, _is_input(named.expression, (*keys, *bounds)))
            for named in self.plan.value
        ]


def _is_input(node: typed.Typed, names: Sequence[str]) -> bool:
    return isinstance(node, typed.Input) and node.name in names


@dataclass(frozen=True)
class QuestionPlan:
    """A checked pull query that asks for more than rows of one table."""

    plan: answer.SelectPlan

    @cached_property
    def columns(self) -> list[tuple[str, Type | None, bool]]:
        """The name and the type of each column of the answer; none is part of a key."""
        return [(item.name, item.type, False) for item in self.plan.items]


def plan_pull(
    query: tree.Query,
    catalogue: Catalogue,
    functions: Functions,
    properties: Mapping[str, str],
) -> PullPlan | QuestionPlan:
    """Return the plan of a query that answers once."""
    if answer.asks_for_more(query, functions):
        return _plan_question(query, catalogue, functions, properties)
    return plan_rows(query, catalogue, functions, properties)


def _plan_question(
    query: tree.Query,
    catalogue: Catalogue,
    functions: Functions,
    properties: Mapping[str, str],
) -> QuestionPlan:
    plan = answer.plan_answer(query, catalogue, functions)
    for scan in answer.scans_of(plan):
        _check_queryable(scan.read.source)
        _check_scan(scan.read.source, None, None, properties, query)
    return QuestionPlan(plan)


def _check_queryable(source: Source) -> None:
    if source.is_table and source.query is None and not source.is_source:
        raise TableNotQueryableError(source.name)


def plan_rows(
    query: tree.Query,
    catalogue: Catalogue,
    functions: Functions,
    properties: Mapping[str, str],
) -> PullPlan:
    """Return the plan of a query for rows of one stream or table."""
    _check_clauses(query)
    plan = plan_query(query, catalogue, functions)
    (read,) = step.reads_of(plan.step)
    source = read.source
    _check_queryable(source)
    node = plan.step.input
    where = node.condition if isinstance(node, step.Filter) else None
    _check_columns(plan, where, query)
    keys = keys_of(source, where)
    _check_scan(source, where, keys, properties, query)
    return PullPlan(source, plan, where, keys, query.limit)


def _check_clauses(query: tree.Query) -> None:
    clauses: Mapping[str, object] = {
        "WINDOW": query.window,
        "PARTITION BY": query.partition_by,
    }
    for name, given in clauses.items():
        if given is not None:
            raise StatementError(
                f"A pull query has no {name}.",
                node=query,
                fix="Make a table of it with CREATE TABLE … AS SELECT, and ask that.",
            )


def _check_columns(plan: QueryPlan, where: typed.Typed | None, node: tree.Node) -> None:
    expressions = [named.expression for named in plan.value]
    for expression in (*expressions, *([where] if where else [])):
        for name in typed.inputs_of(expression) & set(_UNKNOWN_HERE):
            raise StatementError(f"A pull query cannot ask for {name}.", node=node)


def _ways(node: typed.Typed, names: Collection[str]) -> list[_Way]:
    """Return the ways a condition can hold, at least one; more rows than fulfil it may fit them."""
    match node:
        case typed.Logic(_, tree.LogicalOperator.OR as operator):
            found = [way for part in _parts(node, operator) for way in _ways(part, names)]
            # One that says nothing makes the others say nothing.
            return list({hashable(way): way for way in found}.values()) if all(found) else [{}]
        case typed.Logic(_, operator):
            return reduce(_together, (_ways(part, names) for part in _parts(node, operator)))
        case typed.Compared(_, tree.ComparisonOperator.EQUAL, left, right):
            return [_equality(left, right, names) or _equality(right, left, names)]
    return [{}]


def _parts(node: typed.Typed, operator: tree.LogicalOperator) -> Iterator[typed.Typed]:
    """Yield what a chain of one operator joins, which may be thousands of parts deep."""
    left = [node]
    while left:
        part = left.pop()
        if isinstance(part, typed.Logic) and part.operator is operator:
            left += (part.right, part.left)
        else:
            yield part


def _together(ways: list[_Way], others: list[_Way]) -> list[_Way]:
    """Return the ways in which two conditions hold, or those of one of them if they are many."""
    if len(ways) * len(others) > _MOST_WAYS:
        return max(ways, others, key=lambda found: min(len(way) for way in found))
    return [{**one, **other} for one, other in product(ways, others)]


def _equality(left: typed.Typed, right: typed.Typed, names: Collection[str]) -> _Way:
    if isinstance(left, typed.Input) and left.name in names and not typed.inputs_of(right):
        return {left.name: evaluate_or_null(right, {})}
    return {}


def keys_of(source: Source, where: typed.Typed | None) -> tuple[tuple[Any, ...], ...] | None:
    """Return the only keys whose rows can fulfil a condition; None: any row may."""
    names = [column.name for column in source.key]
    if where is None or not names:
        return None
    ways = _ways(where, names)
    if not all(name in way for way in ways for name in names):
        return None
    keys = [tuple(way[name] for name in names) for way in ways]
    return tuple({hashable(key): key for key in keys}.values())


def _check_scan(
    source: Source,
    where: typed.Typed | None,
    keys: tuple[tuple[Any, ...], ...] | None,
    properties: Mapping[str, str],
    node: tree.Node,
) -> None:
    if keys is not None:
        if any(part is None for key in keys for part in key):
            raise StatementError("A primary key is never NULL.", node=node)
        return
    if str(properties.get(SCANS, "true")).lower() == "true" or not source.is_table:
        return
    allowed = str(properties.get(RANGES, "true")).lower() == "true"
    if where is None or not (allowed and _is_key_range(source, where)):
        raise StatementError(
            "This query looks at every row, which is switched off.",
            node=node,
            fix=f"Name the whole key in WHERE, or SET '{SCANS}'='true'.",
        )


def _is_key_range(source: Source, where: typed.Typed) -> bool:
    """Tell whether a condition has one bound on the only key column, a text, and no other."""
    if len(source.key) != 1 or source.key[0].type is not Scalar.STRING or source.windowed:
        return False
    own = typed.Input(source.key[0].type, source.key[0].name)
    on_key = [
        part
        for part in _parts(where, tree.LogicalOperator.AND)
        if own.name in typed.inputs_of(part)
    ]
    return len(on_key) == 1 and _is_bound(on_key[0], own)


def _is_bound(node: typed.Typed, own: typed.Input) -> bool:
    return (
        isinstance(node, typed.Compared)
        and node.operator in _RANGE
        and own in (node.left, node.right)
        and typed.inputs_of(node) == {own.name}
    )
