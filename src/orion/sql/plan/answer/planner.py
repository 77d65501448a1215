"""A query that answers once becomes a plan: its relations, its groups, its columns, its order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from orion.model import Scalar, Struct
from orion.sql.function import Functions
from orion.sql.parse import tree
from orion.sql.plan import typed
from orion.sql.plan.answer.join import join
from orion.sql.plan.answer.nested import Links, Nested, sorting_of
from orion.sql.plan.answer.outer import OuterScope
from orion.sql.plan.answer.plan import Derived, Relation, Scan, SelectPlan, Sorting
from orion.sql.plan.answer.union import ordered, unite
from orion.sql.plan.catalogue import Catalogue
from orion.sql.plan.errors import StatementError
from orion.sql.plan.grouping import GroupResolver, calls_aggregate
from orion.sql.plan.naming import Namer, repeated
from orion.sql.plan.resolve import Resolver, Scope
from orion.sql.plan.scope import SourceScope
from orion.sql.plan.source import WINDOW_BOUNDS, Column, DerivedSource, Format
from orion.sql.plan.step import Named, Read
from orion.sql.plan.typed import Typed

_MORE = tree.QueryValue | tree.QueryExists | tree.InQuery | tree.Over
_NO_FORMAT = Format("NONE")


def asks_for_more(query: tree.Query, functions: Functions) -> bool:
    """Tell whether a query asks for more than rows of one table."""
    return (
        not isinstance(query.source, tree.AliasedSource)
        or query.group_by is not None
        or query.having is not None
        or query.is_distinct
        or bool(query.order_by or query.offset or query.common or query.united)
        or calls_aggregate((query.select, query.order_by), functions)
        or _holds_more((query.select, query.where))
    )


def _holds_more(node: object) -> bool:
    if isinstance(node, _MORE):
        return True
    if isinstance(node, tuple):
        return any(_holds_more(part) for part in node)
    if not isinstance(node, tree.Node) or isinstance(node, tree.Name):
        return False
    return any(_holds_more(part) for part in vars(node).values())


def plan_answer(
    query: tree.Query,
    catalogue: Catalogue,
    functions: Functions,
    common: Mapping[str, SelectPlan] | None = None,
) -> SelectPlan:
    """Return the plan of a query.

    Args:
        common: The queries of a WITH around it, by their names.
    """
    return _Planner(query, catalogue, functions, dict(common or {}), None).plan()


class _Planner:
    """Plans one SELECT."""

    def __init__(
        self,
        query: tree.Query,
        catalogue: Catalogue,
        functions: Functions,
        common: dict[str, SelectPlan],
        outer: Scope | None,
    ) -> None:
        self._query, self._catalogue, self._functions = query, catalogue, functions
        self._common = common
        for one in query.common:
            common[one.name.text] = plan_answer(one.query, catalogue, functions, common)
        self._outer = outer
        self._nested = Nested(functions, self._plan_expression)
        self.links: Links = ()

    def plan(self) -> SelectPlan:
        query = self._query
        self._check_clauses()
        if query.united and (query.order_by or query.limit is not None or query.offset):
            return self._plan_inner(ordered(query))
        relation, reads = self._relation(query.source, is_join=isinstance(query.source, tree.Join))
        scope = SourceScope(reads)
        seen = scope if self._outer is None else OuterScope(scope, self._outer)
        types = self._catalogue.types
        plain = Resolver(seen, self._functions, types, self._nested)
        where = None if query.where is None else self._where(query.where, plain)
        if self._is_grouped:
            rows = Resolver(seen, self._functions, types, self._nested.without_outer())
            found = self._grouped(relation, scope, rows)
        else:
            nested = self._nested.with_over()
            with_over = Resolver(seen, self._functions, types, nested)
            items = self._items(scope, with_over)
            found = SelectPlan(relation, items, self._order(items, with_over))
        self._check_names(found.items)
        self.links = tuple(seen.links.items()) if isinstance(seen, OuterScope) else ()
        if query.united:
            others = [(self._plan_inner(one.query), one.is_all) for one in query.united]
            found = unite(found, others, query)
        return replace(
            found,
            where=where,
            overs=tuple(self._nested.overs),
            inner=tuple(self._nested.inner),
            is_distinct=query.is_distinct,
            limit=query.limit,
            offset=query.offset,
        )

    @property
    def _is_grouped(self) -> bool:
        query = self._query
        if query.group_by is not None or query.having is not None:
            return True
        return calls_aggregate((query.select, query.order_by), self._functions)

    def _plan_inner(self, query: tree.Query) -> SelectPlan:
        return plan_answer(query, self._catalogue, self._functions, self._common)

    def _plan_expression(self, query: tree.Query, outer: Scope | None) -> tuple[SelectPlan, Links]:
        """Return the plan of a query inside of an expression, and what it needs from around it."""
        planner = _Planner(query, self._catalogue, self._functions, dict(self._common), outer)
        return planner.plan(), planner.links

    def _check_clauses(self) -> None:
        query = self._query
        for name, given in (("WINDOW", query.window), ("PARTITION BY", query.partition_by)):
            if given is not None:
                raise StatementError(
                    f"A pull query has no {name}.",
                    node=query,
                    fix="Make a table of it with CREATE TABLE … AS SELECT, and ask that.",
                )

    def _check_names(self, items: Sequence[Named]) -> None:
        twice = repeated([item.name for item in items])
        if twice is not None:
            raise StatementError(
                f"Two columns are named '{twice}'.", node=self._query, fix="Name one with AS."
            )

    # -- relations

    def _relation(self, node: tree.Relation, *, is_join: bool) -> tuple[Relation, list[Read]]:
        if not isinstance(node, tree.Join):
            single = self._single(node, is_join=is_join)
            return single, [single.read]
        left, reads = self._relation(node.left, is_join=True)
        right = self._single(node.right, is_join=True)
        if right.read.alias in [read.alias for read in reads]:
            raise StatementError(
                f"'{right.read.alias}' is named twice: each side of a join needs its own name.",
                node=node.right,
                fix="Give one of them another name with AS.",
            )
        if node.within is not None:
            raise StatementError("WITHIN is for queries that go on.", node=node.within)
        both = [*reads, right.read]
        nested = self._nested.without_outer()
        resolver = Resolver(SourceScope(both), self._functions, self._catalogue.types, nested)
        return join(node, left, right, resolver), both

    def _single(
        self, node: tree.AliasedSource | tree.QuerySource, *, is_join: bool
    ) -> Scan | Derived:
        alias = node.alias.text
        if isinstance(node, tree.QuerySource):
            return _derived(self._plan_inner(node.query), alias, is_join=is_join)
        if node.name.text in self._common:
            return _derived(self._common[node.name.text], alias, is_join=is_join)
        return Scan(Read(self._catalogue.source(node.name), alias, qualified=is_join))

    # -- rows and groups

    def _where(self, node: tree.Expression, resolver: Resolver) -> Typed:
        if calls_aggregate(node, self._functions):
            raise StatementError(
                "WHERE looks at single rows, not at groups.", node=node, fix="Use HAVING."
            )
        return resolver.condition(node, "WHERE")

    def _grouped(self, relation: Relation, scope: SourceScope, plain: Resolver) -> SelectPlan:
        query = self._query
        keys = [
            Named(f"_key_{number}", plain.resolve(part))
            for number, part in enumerate(query.group_by or ())
        ]
        nested = self._nested.without_outer().with_over()
        groups = GroupResolver(plain, self._functions, keys, extension=nested)
        items = self._items(scope, groups)
        having = None if query.having is None else groups.condition(query.having, "HAVING")
        order_by = self._order(items, groups)
        return SelectPlan(
            relation,
            items,
            order_by,
            keys=tuple(keys),
            calls=tuple(groups.calls),
            having=having,
        )

    # -- columns and order

    def _items(self, scope: SourceScope, resolver: Resolver) -> tuple[Named, ...]:
        namer = Namer(scope)
        items: list[Named] = []
        for part in self._query.select:
            items.extend(self._expand(part, scope, resolver, namer))
        return tuple(items)

    def _expand(
        self, part: tree.SelectPart, scope: SourceScope, resolver: Resolver, namer: Namer
    ) -> Iterator[Named]:
        match part:
            case tree.AllColumns(source):
                for read, column in scope.star(source):
                    name = tree.Name(column.name)
                    alias = tree.Name(read.alias) if read.qualified else None
                    shown = namer.of_column(read.alias, column.name, always=True)
                    yield Named(shown, resolver.resolve(tree.ColumnRef(alias, name)))
                yield from self._bounds(scope, resolver)
            case tree.AllFields(value):
                yield from _fields(resolver.resolve(value), part)
            case tree.SelectItem(expression, alias):
                found = resolver.resolve(expression)
                yield Named(alias.text if alias else namer.name(expression), found)

    def _bounds(self, scope: SourceScope, resolver: Resolver) -> Iterator[Named]:
        """Yield the bounds of a windowed table's rows, which tell them apart."""
        if len(scope.reads) == 1 and scope.reads[0].source.windowed:
            for name in WINDOW_BOUNDS:
                yield Named(name, resolver.resolve(tree.ColumnRef(None, tree.Name(name))))

    def _order(self, items: Sequence[Named], resolver: Resolver) -> tuple[Sorting, ...]:
        by_name = {item.name: item.expression for item in items}
        found = []
        for node in self._query.order_by:
            at = node.expression
            if isinstance(at, tree.IntegerLiteral):
                chosen = _numbered(items, at).expression
                found.append(Sorting(chosen, node.descending, node.nulls_first))
            elif isinstance(at, tree.ColumnRef) and not at.source and at.name.text in by_name:
                chosen = by_name[at.name.text]
                found.append(Sorting(chosen, node.descending, node.nulls_first))
            else:
                found.append(sorting_of(node, resolver))
        return tuple(found)


def _numbered(items: Sequence[Named], at: tree.IntegerLiteral) -> Named:
    if not 1 <= at.value <= len(items):
        raise StatementError(
            f"The answer has no column {at.value}: its columns are 1 to {len(items)}.", node=at
        )
    return items[at.value - 1]


def _derived(plan: SelectPlan, alias: str, *, is_join: bool) -> Derived:
    columns = tuple(Column(item.name, item.type or Scalar.STRING) for item in plan.items)
    source = DerivedSource(
        alias, tree.SourceKind.TABLE, columns, topic="", key_format=_NO_FORMAT,
        value_format=_NO_FORMAT,
    )  # fmt: skip
    return Derived(plan, Read(source, alias, qualified=is_join))


def _fields(value: Typed, node: tree.AllFields) -> Iterator[Named]:
    if not isinstance(value.type, Struct):
        raise StatementError(f"'->*' needs a STRUCT, found {value.type}.", node=node)
    for field in value.type.fields:
        yield Named(field.name, typed.FieldOf(field.type, value, field.name))
