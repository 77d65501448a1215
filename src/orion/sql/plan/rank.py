"""The first rows of each key: ROW_NUMBER in an inner query, bounded by the outer one's WHERE.

In:  SELECT … FROM (SELECT …, ROW_NUMBER() OVER (PARTITION BY … ORDER BY …) AS n …) WHERE n <= 3
Out: the inner query with all that it sorts by, and the outer one over its ranked rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from orion.model import Array, Map, Scalar, Struct
from orion.sql.parse import tree
from orion.sql.plan import step as steps
from orion.sql.plan.conjunct import conjunction, conjuncts
from orion.sql.plan.errors import StatementError
from orion.sql.plan.relation import KeyColumn, Relation
from orion.sql.plan.scope import SourceScope
from orion.sql.plan.source import Column, DerivedSource, Format
from orion.sql.plan.step import Project, Rank, Read, Sort
from orion.sql.plan.typed import Input, Typed

_PARTITION, _ORDER = "$partition.", "$order."
_FORM = (
    "Write SELECT … FROM (SELECT …, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) AS n"
    " FROM a_stream) WHERE n <= 3."
)
_MOST = 10_000
_Op = tree.ComparisonOperator


@dataclass(frozen=True)
class Ranking:
    """A query over ranked rows, taken apart.

    Args:
        inner: The inner query, whose last columns are what it partitions and sorts by.
        outer: The outer query, without the bound of its WHERE.
        number: The name of the rank's column.
    """

    inner: tree.Query
    outer: tree.Query
    over: tree.Over
    number: str
    count: int
    alias: str

    def relation(self, inner: Project, kind: tree.SourceKind) -> Relation:
        """Return the rows that the outer query starts from.

        Args:
            inner: The plan of the inner query.
            kind: A table keeps the places of each key, a stream gives the rows that enter them.
        """
        self._check(inner, kind)
        own = len(inner.value) - len(self.over.partition_by) - len(self.over.order_by)
        keys = tuple(n for n in inner.value if n.name.startswith(_PARTITION))
        sorts = tuple(
            Sort(name.name, node.descending, node.nulls_first)
            for name, node in zip(inner.value[own + len(keys) :], self.over.order_by, strict=True)
        )
        step = Rank(
            inner,
            tuple(key.name for key in keys),
            sorts,
            tuple(named.name for named in inner.value[:own]),
            self.number,
            self.count,
            kind is tree.SourceKind.TABLE,
        )
        columns = [Column(n.name, n.type or Scalar.STRING) for n in inner.value[:own]]
        columns.append(Column(self.number, Scalar.BIGINT))
        plain = Format("NONE")
        rows = DerivedSource(self.alias, kind, tuple(columns), "", plain, plain)
        key_columns = [self._key(inner, key.expression) for key in keys]
        if step.is_table and (self.count > 1 or not keys):
            # A single place needs no number.
            key_columns.append(KeyColumn(self.number, (Input(Scalar.BIGINT, self.number),)))
        return Relation(step, SourceScope([Read(rows, self.alias)]), tuple(key_columns))

    def _key(self, inner: Project, key: Typed) -> KeyColumn:
        for named in inner.value:
            if named.expression == key and not named.name.startswith("$") and named.type:
                return KeyColumn(named.name, (Input(named.type, named.name),))
        raise StatementError(
            "What ROW_NUMBER is partitioned by must be selected beside it: rows are keyed by it.",
            node=self.over,
            fix="Add it to the inner SELECT.",
        )

    def _check(self, inner: Project, kind: tree.SourceKind) -> None:
        if steps.is_table(inner) and kind is tree.SourceKind.STREAM:
            raise StatementError(
                "The ranking of a table is a table: its rows change and go.",
                node=self.inner,
                fix="Write CREATE TABLE … AS, or rank the stream that the table is made of.",
            )
        if any(read.source.windowed for read in steps.reads_of(inner)):
            raise StatementError("Rows of windows cannot be ranked.", node=self.inner)
        for named in inner.value:
            if named.name.startswith(_ORDER) and isinstance(named.type, Array | Map | Struct):
                raise StatementError(f"{named.type} has no order to rank by.", node=self.over)


def take_ranking_apart(query: tree.Query) -> Ranking:
    """Return the parts of a query over an inner query, or say what it must look like."""
    source = query.source
    assert isinstance(source, tree.QuerySource)
    inner = source.query
    _check_clauses(query, inner)
    numbers = [
        (place, item)
        for place, item in enumerate(inner.select)
        if isinstance(item, tree.SelectItem) and isinstance(item.expression, tree.Over)
    ]
    ((place, item),) = numbers
    over = item.expression
    assert isinstance(over, tree.Over)
    if over.call.name.text.upper() != "ROW_NUMBER" or over.call.arguments or not over.order_by:
        raise StatementError(
            "Only ROW_NUMBER() with an ORDER BY can rank rows that go on.", node=over, fix=_FORM
        )
    if item.alias is None:
        raise StatementError("The rank needs a name: AS …", node=over, fix=_FORM)
    count, rest = _bound(query.where, item.alias.text, query)
    before, behind = inner.select[:place], inner.select[place + 1 :]
    by = _named(_PARTITION, over.partition_by)
    sorts = _named(_ORDER, tuple(part.expression for part in over.order_by))
    return Ranking(
        replace(inner, select=(*before, *behind, *by, *sorts), is_pull=False),
        replace(query, where=rest),
        over,
        item.alias.text,
        count,
        source.alias.text,
    )


def _named(prefix: str, parts: tuple[tree.Expression, ...]) -> Iterator[tree.SelectItem]:
    for number, part in enumerate(parts):
        yield tree.SelectItem(part, tree.Name(f"{prefix}{number}"))


def _check_clauses(query: tree.Query, inner: tree.Query) -> None:
    if query.group_by or query.partition_by or query.having or query.window:
        raise StatementError(
            "Ranked rows are selected as they are.",
            node=query,
            fix="Make a table of them, and group that.",
        )
    extra = (inner.group_by, inner.partition_by, inner.having, inner.window, inner.limit)
    if any(clause is not None for clause in extra) or inner.order_by:
        raise StatementError(
            "An inner query that ranks rows has SELECT, FROM and WHERE only.",
            node=inner,
            fix="Make a stream of what comes before, and rank that.",
        )


def _bound(
    where: tree.Expression | None, number: str, query: tree.Query
) -> tuple[int, tree.Expression | None]:
    """Return how many rows of a key are wanted, and the conditions besides."""
    parts = list(conjuncts(where))
    for part in parts:
        count = _count(part, number)
        if count is not None:
            if not 1 <= count <= _MOST:
                raise StatementError(f"A ranking has 1 to {_MOST} places.", node=part)
            rest = [other for other in parts if other is not part]
            return count, conjunction(rest)
    raise StatementError(
        f"Nothing bounds the rank '{number}', so all rows would have to be kept.",
        node=where or query,
        fix=f"Add WHERE {number} <= 3 (or another number).",
    )


def _count(part: tree.Expression, number: str) -> int | None:
    """Return the last rank that a condition lets through; None: it bounds none."""
    if not isinstance(part, tree.Comparison):
        return None
    left, operator, right = part.left, part.operator, part.right
    if isinstance(right, tree.ColumnRef):
        turned = {_Op.GREATER: _Op.LESS, _Op.GREATER_OR_EQUAL: _Op.LESS_OR_EQUAL}
        left, right, operator = right, left, turned.get(operator, operator)
    if not isinstance(left, tree.ColumnRef) or left.name.text != number:
        return None
    if not isinstance(right, tree.IntegerLiteral):
        return None
    if operator is _Op.LESS:
        return right.value - 1
    is_first = operator is _Op.EQUAL and right.value == 1
    return right.value if operator is _Op.LESS_OR_EQUAL or is_first else None
