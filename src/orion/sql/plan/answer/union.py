"""UNION: the rows of several queries, whose columns find a common type place by place."""

from collections.abc import Sequence
from dataclasses import replace

from orion.sql.parse import tree
from orion.sql.plan.answer.plan import SelectPlan
from orion.sql.plan.errors import StatementError
from orion.sql.plan.meet import meet
from orion.sql.plan.step import Named

_ALIAS = tree.Name("UNION")


def ordered(query: tree.Query) -> tree.Query:
    """Return a union with an order or a limit as a query over the union without them."""
    inner = replace(query, order_by=(), limit=None, offset=0, common=())
    return tree.Query(
        (tree.AllColumns(place=query.place),),
        tree.QuerySource(inner, _ALIAS, place=query.place),
        limit=query.limit,
        is_pull=True,
        order_by=query.order_by,
        offset=query.offset,
        place=query.place,
    )


def unite(
    first: SelectPlan, others: Sequence[tuple[SelectPlan, bool]], node: tree.Query
) -> SelectPlan:
    """Return the first query's plan with those behind it, all in the same types.

    Args:
        others: With whether all their rows follow, or each once.
    """
    plans = [first, *(plan for plan, _ in others)]
    for plan, one in zip(plans[1:], node.united, strict=True):
        if len(plan.items) != len(first.items):
            raise StatementError(
                f"A UNION needs as many columns on each side: there are {len(first.items)} and"
                f" {len(plan.items)}.",
                node=one,
            )
    columns = [
        meet([item.expression for item in place], node)
        for place in zip(*(plan.items for plan in plans), strict=True)
    ]
    typed = [
        replace(
            plan,
            items=tuple(
                Named(item.name, column[number])
                for item, column in zip(plan.items, columns, strict=True)
            ),
        )
        for number, plan in enumerate(plans)
    ]
    united = tuple((plan, is_all) for plan, (_, is_all) in zip(typed[1:], others, strict=True))
    return replace(typed[0], united=united)
