"""Answers a planned question, from the rows of its sources to the rows of the answer."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from orion.model import InvalidInputError
from orion.sql import Computation, Source, answer, computation_or_null, step, typed
from orion.views.projection import Values
from orion.views.pull import keys_of
from orion.views.question.group import group_rows
from orion.views.question.join import join_rows
from orion.views.question.order import sort_key
from orion.views.question.over import add_column
from orion.views.reader import Row, hashable

# Gives the rows of a table, or a stream's events up to now: at least those that fulfil a condition.
Rows = Callable[[Source, typed.Typed | None], Iterable[Row]]
_MOST_ROWS = 5_000_000


class QuestionTooLargeError(InvalidInputError):
    """Raised when an answer would need more rows in memory than may be."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"This query makes more than {limit} rows on its way.",
            fix="Compare columns of both sides for equality in ON, or filter before the join.",
        )


class ManyRowsError(InvalidInputError):
    """Raised when a query that stands for a value gives several."""

    def __init__(self) -> None:
        super().__init__(
            "A query that stands for one value gives several rows.",
            fix="Use LIMIT 1, an aggregate, or IN.",
        )


def answer_question(
    plan: answer.SelectPlan, rows: Rows, values: Mapping[str, typed.Constant] | None = None
) -> list[Values]:
    """Return the rows of an answer.

    Args:
        values: What stands around it, of a query inside of another's row.
    """
    return _Question(plan, rows, values or {}).run()


class _Question:
    """One SELECT with the values of the queries inside of it."""

    def __init__(
        self, plan: answer.SelectPlan, rows: Rows, values: Mapping[str, typed.Constant]
    ) -> None:
        self._plan, self._rows = plan, rows
        self._values = dict(values)
        for inner in plan.inner:
            if not inner.links:
                self._values[inner.name] = _value(inner, rows, {})

    def run(self) -> list[Values]:
        plan = self._plan
        asked = [inner for inner in plan.inner if inner.links]
        early = set() if plan.where is None else typed.inputs_of(plan.where)
        rows = self._related(plan.relation)
        for inner in (inner for inner in asked if inner.name in early):
            rows = self._asked(rows, inner)
        rows = self._where(rows, plan.where)
        for inner in (inner for inner in asked if inner.name not in early):
            rows = self._asked(rows, inner)
        if plan.keys is not None:
            rows = group_rows(rows, plan.keys, plan.calls, self._compute)
            rows = self._where(rows, plan.having)
        for over in plan.overs:
            rows = add_column(list(rows), over, self._compute)
        if plan.order_by:
            rows = sorted(rows, key=sort_key(plan.order_by, self._compute))
        columns = [self._compute(item.expression) for item in plan.items]
        values: Iterable[Values] = (tuple([column(row) for column in columns]) for row in rows)
        if plan.is_distinct:
            values = _each_once(values)
        end = None if plan.limit is None else min(plan.offset + plan.limit, sys.maxsize)
        found = list(islice(values, plan.offset, end))
        for other, is_all in plan.united:
            found += answer_question(other, self._rows)
            if not is_all:
                found = _each_once(found)
        return found

    def _asked(self, rows: Iterable[Row], inner: answer.Inner) -> Iterator[Row]:
        """Yield rows with the value of a query that speaks of them, asked once for equal values."""
        links = [(variable, self._compute(expression)) for variable, expression in inner.links]
        known: dict[object, Any] = {}
        kept = _kept(self._rows)
        for row in rows:
            given = [link(row) for _, link in links]
            at = hashable(tuple(given))
            if at not in known:
                values = {
                    variable.name: typed.Constant(variable.type, value)
                    for (variable, _), value in zip(links, given, strict=True)
                }
                known[at] = _value(inner, kept, values).value
            yield {**row, inner.name: known[at]}

    def _condition(self, read: step.Read) -> typed.Typed | None:
        """Return what a source's rows must fulfil, where all that is asked is about them."""
        where = self._plan.where
        if where is None or read.qualified or any(inner.links for inner in self._plan.inner):
            return None
        return typed.bound(where, self._values)

    def _compute(self, node: typed.Typed) -> Computation:
        return computation_or_null(typed.bound(node, self._values))

    def _where(self, rows: Iterable[Row], condition: typed.Typed | None) -> Iterable[Row]:
        if condition is None:
            return rows
        holds = self._compute(condition)
        return (row for row in rows if holds(row) is True)

    def _related(self, relation: answer.Relation) -> Iterable[Row]:
        match relation:
            case answer.Scan(read):
                return _qualified(self._rows(read.source, self._condition(read)), read)
            case answer.Derived(query, read):
                names = [read.column(item.name) for item in query.items]
                found = answer_question(query, self._rows)
                return (dict(zip(names, values, strict=True)) for values in found)
            case _:
                left = self._related(relation.left)
                right = list(self._related(relation.right))
                return _bounded(join_rows(relation, left, right, self._compute))


def _kept(rows: Rows) -> Rows:
    """Return the same rows for a query that is asked again and again: whole sources are read once.

    Those of known keys are looked up each time.
    """
    whole: dict[str, list[Row]] = {}

    def kept(source: Source, where: typed.Typed | None) -> Iterable[Row]:
        if source.is_table and keys_of(source, where) is not None:
            return rows(source, where)
        if source.name not in whole:
            whole[source.name] = list(rows(source, None))
        return whole[source.name]

    return kept


def _each_once(values: Iterable[Values]) -> list[Values]:
    """Return rows without those that were there before."""
    first: dict[object, Values] = {}
    for found in values:
        first.setdefault(hashable(found), found)
    return list(first.values())


def _qualified(rows: Iterable[Row], read: step.Read) -> Iterable[Row]:
    if not read.qualified:
        return rows
    return ({read.column(name): value for name, value in row.items()} for row in rows)


def _bounded(rows: Iterable[Row]) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            raise QuestionTooLargeError(_MOST_ROWS)
        yield row


def _value(inner: answer.Inner, rows: Rows, values: Mapping[str, typed.Constant]) -> typed.Constant:
    found = answer_question(inner.query, rows, values)
    return typed.Constant(inner.type, _USES[inner.use](found))


def _only(found: list[Values]) -> Any:
    if len(found) > 1:
        raise ManyRowsError
    return found[0][0] if found else None


_USES: Mapping[answer.Use, Callable[[list[Values]], Any]] = {
    answer.Use.VALUE: _only,
    answer.Use.EXISTS: bool,
    answer.Use.MEMBERS: lambda found: frozenset(
        hashable(values[0]) for values in found if values[0] is not None
    ),
}
