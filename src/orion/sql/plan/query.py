"""A SELECT becomes a plan: steps from the sources to named key and value columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orion.model import OrionError, Scalar, Struct
from orion.sql.function import Functions
from orion.sql.parse import format_expression, tree
from orion.sql.plan import step as steps
from orion.sql.plan import typed
from orion.sql.plan.catalogue import Catalogue
from orion.sql.plan.clause import check_clauses, check_lambdas
from orion.sql.plan.errors import StatementError
from orion.sql.plan.grouping import FlatteningResolver, GroupResolver, calls_aggregate
from orion.sql.plan.naming import Namer, check_unreserved, repeated, spell_reference, told_apart
from orion.sql.plan.rank import take_ranking_apart
from orion.sql.plan.relation import KeyColumn, Relation, plan_relation
from orion.sql.plan.resolve import Resolver
from orion.sql.plan.source import WINDOW_BOUNDS, Role, Windowed
from orion.sql.plan.step import Aggregate, Filter, Flatten, JoinStep, Named, Project, Step
from orion.sql.plan.typed import Constant, Input, Typed


@dataclass(frozen=True)
class QueryPlan:
    """A checked query.

    Args:
        windowed: The windows in the keys of its rows.
        order: The names of all columns as they were selected, for answers that show rows.
    """

    step: Project
    windowed: Windowed | None
    order: tuple[str, ...]
    limit: int | None = None

    @property
    def is_table(self) -> bool:
        """Whether the rows are the changes of a table."""
        return steps.is_table(self.step)

    @property
    def key(self) -> tuple[Named, ...]:
        """The columns of the key."""
        return self.step.key

    @property
    def value(self) -> tuple[Named, ...]:
        """The columns of the value."""
        return self.step.value


def plan_query(
    query: tree.Query,
    catalogue: Catalogue,
    functions: Functions,
    *,
    sink: str | None = None,
    kind: tree.SourceKind = tree.SourceKind.TABLE,
    drops_keys: bool = False,
) -> QueryPlan:
    """Return the plan of a query.

    Args:
        sink: The stream or table that the rows go to; without one they go to who asks.
        kind: Which of the two is asked for, where a query can give either.
        drops_keys: Whether a key that is not selected is left out, instead of asked for.
    """
    if isinstance(query.source, tree.QuerySource):
        ranking = take_ranking_apart(query)
        inner = plan_query(ranking.inner, catalogue, functions)
        query, relation = ranking.outer, ranking.relation(inner.step, kind)
    else:
        relation = plan_relation(query.source, catalogue, functions)
    resolver = Resolver(relation.scope, functions, catalogue.types)
    return _Planner(query, relation, resolver, functions, sink, drops_keys=drops_keys).plan()


class _Planner:
    """Plans one query."""

    def __init__(
        self,
        query: tree.Query,
        relation: Relation,
        resolver: Resolver,
        functions: Functions,
        sink: str | None,
        *,
        drops_keys: bool,
    ) -> None:
        self._query = query
        self._drops_keys = drops_keys
        self._functions = functions
        self._sink = sink
        self._relation = relation
        self._namer = Namer(relation.scope)
        self._resolver = resolver
        # In the order of the SELECT, before keys that are not selected get theirs.
        self._names = {
            id(part): self._namer.name(part.expression)
            for part in query.select
            if isinstance(part, tree.SelectItem) and part.alias is None
        }

    def plan(self) -> QueryPlan:
        check_clauses(
            self._query,
            is_table=steps.is_table(self._relation.step),
            is_persistent=self._sink is not None,
        )
        check_lambdas(self._query, {column.name for _, column in self._relation.scope.star()})
        step = self._where(self._relation.step)
        if self._query.group_by is not None or calls_aggregate(self._query.select, self._functions):
            return self._grouped(step)
        return self._plain(step)

    def _where(self, step: Step) -> Step:
        where = self._query.where
        if where is None:
            return step
        if calls_aggregate(where, self._functions):
            raise StatementError(
                "WHERE looks at single rows, not at groups.", node=where, fix="Use HAVING."
            )
        return Filter(step, self._resolver.condition(where, "WHERE"))

    # -- rows as they are

    def _plain(self, step: Step) -> QueryPlan:
        flattening = FlatteningResolver(self._resolver, self._functions)
        keys = self._keys()
        items = self._items(flattening, keys)
        if flattening.columns:
            if steps.is_table(self._relation.step):
                raise StatementError("Table functions are for streams.", node=self._query)
            step = Flatten(step, tuple(flattening.columns))
        key, value = self._split(items, keys)
        (first, *_) = steps.reads_of(self._relation.step)
        anew = self._query.partition_by is not None
        project = Project(step, key, value, is_keyed_anew=anew)
        return self._finish(project, items, first.source.windowed)

    def _keys(self) -> tuple[KeyColumn, ...]:
        """Return the columns that rows are keyed by, unless they are grouped."""
        partition_by = self._query.partition_by
        if partition_by is None:
            return self._relation.keys
        if not partition_by:
            raise StatementError("PARTITION BY needs an expression.", node=self._query)
        if any(read.source.windowed for read in self._relation.scope.reads):
            raise StatementError(
                "PARTITION BY is not for windowed sources: the windows are a part of their keys.",
                node=self._query,
                fix="Use GROUP BY, or leave PARTITION BY out.",
            )
        if any(isinstance(part, tree.NullLiteral) for part in partition_by):
            if len(partition_by) > 1:
                raise StatementError("NULL stands alone in PARTITION BY.", node=self._query)
            return ()
        return self._key_columns(partition_by, "PARTITION BY")

    def _key_columns(self, parts: Sequence[tree.Expression], clause: str) -> tuple[KeyColumn, ...]:
        keys = tuple(self._key_column(part) for part in parts)
        found = [key.candidates for key in keys]
        for number, part in enumerate(parts):
            if found[number] in found[:number]:
                raise StatementError(
                    f"'{format_expression(part)}' is named twice in {clause}.",
                    node=part,
                    fix="Name it once.",
                )
        return keys

    def _key_column(self, part: tree.Expression) -> KeyColumn:
        found = self._resolver.resolve(part)
        if found.type is None:
            raise StatementError("A key cannot be NULL.", node=part)
        name = self._selected_name(found) or self._namer.name(part)
        return KeyColumn(name, (found,), spell_reference(part))

    def _selected_name(self, key: Typed) -> str | None:
        """Return the name of the column that selects a key."""
        for item in self._query.select:
            if not isinstance(item, tree.SelectItem):
                continue
            if calls_aggregate(item.expression, self._functions):
                continue
            try:
                found = self._resolver.resolve(item.expression)
            except OrionError:
                continue
            if found == key:
                return item.alias.text if item.alias else self._names[id(item)]
        return None

    # -- groups

    def _grouped(self, step: Step) -> QueryPlan:
        query = self._query
        keys = self._group_keys()
        names = told_apart([key.name for key in keys])
        named = [Named(name, key.candidates[0]) for name, key in zip(names, keys, strict=True)]
        windowed = query.window is not None
        groups = GroupResolver(self._resolver, self._functions, named, windowed=windowed)
        inputs = tuple(
            KeyColumn(name, (Input(own.type, own.name),), key.written)
            for name, own, key in zip(names, named, keys, strict=True)
            if own.type
        )
        items = self._items(groups, inputs)
        having = None if query.having is None else groups.condition(query.having, "HAVING")
        self._check_aggregates(groups)
        aggregate = Aggregate(step, tuple(named), tuple(groups.calls), query.window, query.emit)
        key_columns, value = self._split(items, inputs)
        project = Project(aggregate, key_columns, value, having)
        return self._finish(project, items, Windowed.of(query.window))

    def _group_keys(self) -> Sequence[KeyColumn]:
        if self._query.group_by:
            return self._key_columns(self._query.group_by, "GROUP BY")
        if self._sink is not None:
            raise StatementError(
                "An aggregate needs a GROUP BY.",
                node=self._query,
                fix="GROUP BY a column, or by a constant for one group of all rows.",
            )
        # Nobody asks for the key of rows that go to no topic: all rows may be one group.
        return [KeyColumn("$all", (Constant(Scalar.INTEGER, 0),))]

    def _check_aggregates(self, groups: GroupResolver) -> None:
        is_table = steps.is_table(self._relation.step)
        lasting = [c.function.name for c in groups.calls if is_table and not c.aggregation().undo]
        if lasting:
            raise StatementError(
                f"{', '.join(lasting)} cannot take back a row, so a table has no use for it.",
                node=self._query,
                fix="Aggregate a stream instead.",
            )
        if not groups.calls:
            raise StatementError(
                "GROUP BY needs an aggregate in the SELECT.",
                node=self._query,
                fix="Add COUNT(*), or use PARTITION BY to change the key.",
            )

    # -- the projection

    def _items(self, resolver: Resolver, keys: Sequence[KeyColumn]) -> list[Named]:
        items: list[Named] = []
        for part in self._query.select:
            items.extend(self._expand(part, resolver, keys))
        return items

    def _expand(
        self, part: tree.SelectPart, resolver: Resolver, keys: Sequence[KeyColumn]
    ) -> Iterator[Named]:
        match part:
            case tree.AllColumns(source):
                yield from self._star(source, resolver, keys)
            case tree.AllFields(value):
                yield from self._fields(resolver.resolve(value), part)
            case tree.SelectItem(expression, alias):
                found = resolver.resolve(expression)
                if found.type is None:
                    raise StatementError(
                        "The type of this column is not known.",
                        node=expression,
                        fix="CAST(NULL AS STRING), or another type.",
                    )
                name = alias.text if alias else self._names[id(part)]
                check_unreserved(part, name, is_persistent=self._sink is not None)
                yield Named(name, found)

    def _star(
        self, source: tree.Name | None, resolver: Resolver, keys: Sequence[KeyColumn]
    ) -> Iterator[Named]:
        query = self._query
        if query.group_by is not None:
            yield from self._star_of_groups(source, resolver)
            return
        if query.partition_by is not None:
            for key in keys:
                yield Named(key.name, key.candidates[0])
        step = self._relation.step
        if (
            source is None
            and isinstance(step, JoinStep)
            and keys[:1]
            and (keys[0].name == step.key_name)
        ):
            yield Named(step.key_name, keys[0].candidates[0])
        columns = list(self._relation.scope.star(source))
        if query.partition_by is not None:
            # The old key joins the values, behind them.
            columns.sort(key=lambda found: found[1].role is Role.KEY)
        chosen = {candidate for key in keys for candidate in key.candidates}
        bounds = [] if self._sink else list(self._bounds())
        for read, column in columns:
            if column.role is not Role.KEY:
                # An answer shows the window behind the key.
                yield from bounds
                bounds = []
            value = Input(column.type, read.column(column.name))
            if query.partition_by is not None and value in chosen:
                continue
            name = self._namer.of_column(read.alias, column.name, always=True)
            yield Named(name, value)

    def _bounds(self) -> Iterator[Named]:
        """Yield a windowed source's bounds, which an answer shows and a sink keeps in its keys."""
        reads = self._relation.scope.reads
        if len(reads) == 1 and reads[0].source.windowed:
            for name, kind in WINDOW_BOUNDS.items():
                yield Named(name, Input(kind, name))

    def _star_of_groups(self, source: tree.Name | None, resolver: Resolver) -> Iterator[Named]:
        for read, column in self._relation.scope.star(source):
            name = tree.Name(column.name)
            alias = tree.Name(read.alias) if self._relation.is_join else None
            found = resolver.resolve(tree.ColumnRef(alias, name))
            shown = self._namer.of_column(read.alias, column.name, always=True)
            yield Named(shown, found)

    def _fields(self, value: Typed, node: tree.AllFields) -> Iterator[Named]:
        if not isinstance(value.type, Struct):
            raise StatementError(f"'->*' needs a STRUCT, found {value.type}.", node=node)
        for field in value.type.fields:
            found = typed.FieldOf(field.type, value, field.name)
            yield Named(field.name, found)

    def _split(
        self, items: Sequence[Named], keys: Sequence[KeyColumn]
    ) -> tuple[tuple[Named, ...], tuple[Named, ...]]:
        """Return the key columns and the value columns among the selected ones."""
        if self._sink is None:
            return (), tuple(items)
        taken: set[int] = set()
        key_columns = []
        for key in keys:
            position = self._find_key(items, key)
            if position is None:
                continue
            taken.add(position)
            key_columns.append(self._as_key(items[position]))
        value = tuple(item for number, item in enumerate(items) if number not in taken)
        return tuple(key_columns), value

    def _as_key(self, named: Named) -> Named:
        """Return a key column; of a join, what was joined by, which no side can lack."""
        step = self._relation.step
        if not isinstance(step, JoinStep) or self._query.partition_by is not None:
            return named
        if self._query.group_by is not None or named.type is None:
            return named
        return Named(named.name, Input(named.type, step.key_name))

    def _find_key(self, items: Sequence[Named], key: KeyColumn) -> int | None:
        for candidate in key.candidates:
            found = [n for n, item in enumerate(items) if item.expression == candidate]
            if len(found) > 1:
                names = " and ".join(items[number].name for number in found)
                raise StatementError(
                    f"The key column '{key.name}' is selected more than once, as {names}.",
                    node=self._query,
                    fix="Select it once, and a copy of it with AS_VALUE(…).",
                )
        positions = [
            number
            for candidate in key.candidates
            for number, item in enumerate(items)
            if item.expression == candidate
        ]
        if not positions:
            if self._drops_keys:
                return None
            raise StatementError(
                f"The key column '{key.selected}' must be selected: '{self._sink}' is keyed by it.",
                node=self._query,
                fix=f"Add it: SELECT {key.selected}, …",
            )
        return positions[0]

    def _finish(
        self, project: Project, items: Sequence[Named], windowed: Windowed | None
    ) -> QueryPlan:
        order = tuple(item.name for item in items)
        twice = repeated(order)
        if twice is not None:
            raise StatementError(
                f"Two columns are named '{twice}'.", node=self._query, fix="Give one an alias."
            )
        if self._sink is not None and not project.value:
            raise StatementError(
                "No value column is selected, only the key.",
                node=self._query,
                fix="Add a column, or a copy of the key with AS_VALUE(…).",
            )
        return QueryPlan(project, windowed, order, self._query.limit)
