"""What stands inside expressions of answers only: other queries, and calls over many rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from orion.model import Array, Scalar, Type
from orion.sql.function import Functions, Resolved
from orion.sql.function.function import Function, variant
from orion.sql.parse import tree
from orion.sql.plan import typed
from orion.sql.plan.answer.plan import Inner, OverCall, SelectPlan, Sorting, Use
from orion.sql.plan.errors import StatementError, TypeMismatchError
from orion.sql.plan.grouping import call_of
from orion.sql.plan.meet import meet
from orion.sql.plan.resolve import Resolver, Scope
from orion.sql.plan.step import Named
from orion.sql.plan.typed import Typed

Links = tuple[tuple[typed.Variable, Typed], ...]
_RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK")
_NEIGHBOURS = ("LAG", "LEAD")
_ENDS = ("FIRST_VALUE", "LAST_VALUE")
_MOST_ARGUMENTS = {
    **dict.fromkeys(_RANKS, 0),
    **dict.fromkeys(_NEIGHBOURS, 3),
    **dict.fromkeys(_ENDS, 1),
}
# Members come as a set, so that many rows cost little each.
_IS_MEMBER = variant("value ANY, members ANY", "BOOLEAN", lambda value, members: value in members)
_MEMBER = Function("IN", "", "", (_IS_MEMBER,))


@dataclass
class Nested:
    """Collects the inner queries and the calls with OVER of one SELECT.

    Args:
        plan: Plans a query inside of this one; in a scope whose columns it may name, if any.
        may_look_beside: Whether OVER may stand here; rows must be there before it can.
        may_look_around: Whether queries may name columns of this one; rows must be whole.
    """

    functions: Functions
    plan: Callable[[tree.Query, Scope | None], tuple[SelectPlan, Links]]
    may_look_beside: bool = False
    may_look_around: bool = True
    inner: list[Inner] = field(default_factory=list)
    overs: list[OverCall] = field(default_factory=list)
    _known: dict[int, Typed] = field(default_factory=dict)

    def with_over(self) -> "Nested":
        """Return the same collection for places where OVER may stand."""
        return replace(self, may_look_beside=True)

    def without_outer(self) -> "Nested":
        """Return the same collection for places without whole rows: joins and groups."""
        return replace(self, may_look_around=False)

    def resolve(
        self,
        node: tree.QueryValue | tree.QueryExists | tree.InQuery | tree.Over,
        resolver: Resolver,
    ) -> Typed:
        """Return the variable or column that stands for a node."""
        if id(node) not in self._known:
            if isinstance(node, tree.Over):
                self._known[id(node)] = self._over(node, resolver)
            else:
                self._known[id(node)] = self._query(node, resolver)
        return self._known[id(node)]

    # -- queries

    def _query(
        self, node: tree.QueryValue | tree.QueryExists | tree.InQuery, resolver: Resolver
    ) -> Typed:
        plan, links = self.plan(node.query, resolver.scope if self.may_look_around else None)
        match node:
            case tree.QueryExists():
                return self._variable(plan, links, Use.EXISTS, Scalar.BOOLEAN)
            case tree.QueryValue():
                column = _only(plan, node)
                return self._variable(plan, links, Use.VALUE, column.type or Scalar.STRING)
            case tree.InQuery(value, _, negated):
                found = self._member(resolver.resolve(value), plan, links, node)
                return typed.Negated(Scalar.BOOLEAN, found) if negated else found

    def _member(self, value: Typed, plan: SelectPlan, links: Links, node: tree.InQuery) -> Typed:
        column = _only(plan, node)
        value, expression = meet([value, column.expression], node)
        kind = expression.type or Scalar.STRING
        plan = replace(plan, items=(Named(column.name, expression),))
        members = self._variable(plan, links, Use.MEMBERS, Array(kind))
        call = Resolved(_MEMBER, _IS_MEMBER, (kind, members.type), Scalar.BOOLEAN)
        return typed.Applied(Scalar.BOOLEAN, call, (value, members))

    def _variable(
        self, plan: SelectPlan, links: Links, use: Use, kind: Type
    ) -> typed.Variable | typed.Input:
        name = f"?{len(self.inner)}"
        self.inner.append(Inner(name, plan, use, kind, links))
        return typed.Input(kind, name) if links else typed.Variable(kind, name)

    # -- calls over rows

    def _over(self, node: tree.Over, resolver: Resolver) -> Typed:
        if not self.may_look_beside:
            raise StatementError("OVER stands in SELECT and ORDER BY only.", node=node)
        name = node.call.name.text.upper()
        partition_by = tuple(resolver.resolve(part) for part in node.partition_by)
        order_by = tuple(sorting_of(part, resolver) for part in node.order_by)
        column = f"_over_{len(self.overs)}"
        if self.functions.is_aggregate(name):
            applied = resolver.apply(node.call)
            call = call_of(applied, column, node)
            found = OverCall(column, call, call.arguments, partition_by, order_by)
            kind: Type = applied.type
        else:
            arguments = self._arguments(node, name, resolver)
            found = OverCall(column, name, arguments, partition_by, order_by)
            is_rank = name in _RANKS
            kind = Scalar.BIGINT if is_rank else arguments[0].type or Scalar.STRING
        self.overs.append(found)
        return typed.Input(kind, column)

    def _arguments(self, node: tree.Over, name: str, resolver: Resolver) -> tuple[Typed, ...]:
        most = _MOST_ARGUMENTS.get(name)
        if most is None:
            known = ", ".join(_MOST_ARGUMENTS)
            raise StatementError(
                f"'{name}' cannot stand before OVER.",
                node=node.call,
                fix=f"There are {known}, and every aggregate.",
            )
        given = tuple(resolver.resolve(argument) for argument in node.call.arguments)
        if len(given) > most or (most and not given):
            raise StatementError(f"{name} takes {most or 'no'} argument(s).", node=node.call)
        if name in _RANKS + _NEIGHBOURS and not node.order_by:
            raise StatementError(f"{name} needs an ORDER BY in its OVER.", node=node)
        if len(given) > 1 and given[1].type not in (Scalar.INTEGER, Scalar.BIGINT):
            raise TypeMismatchError(f"{name} steps by a whole number of rows.", node=node.call)
        if len(given) > 2:
            value, default = meet([given[0], given[2]], node)
            given = (value, given[1], default)
        return given


def _only(plan: SelectPlan, node: tree.Node) -> Named:
    if len(plan.items) != 1:
        raise StatementError(
            f"A query inside of an expression gives one column, not {len(plan.items)}.", node=node
        )
    return plan.items[0]


def sorting_of(node: tree.Ordering, resolver: Resolver) -> Sorting:
    """Return what an ORDER BY sorts by."""
    return Sorting(resolver.resolve(node.expression), node.descending, node.nulls_first)
