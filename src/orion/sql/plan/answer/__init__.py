"""Queries that answer once and ask for more than rows of one table: joins, groups, order, nesting.

In:  the tree of such a query, the catalogue, the functions.
Out: a plan of relations, with expressions typed as everywhere; or an error that shows the place.
Never: rows; who keeps them runs the plan.
"""

from orion.sql.plan.answer.explain import explain_answer
from orion.sql.plan.answer.plan import (
    Derived,
    Inner,
    Joined,
    OverCall,
    Relation,
    Scan,
    SelectPlan,
    Sorting,
    Use,
    scans_of,
)
from orion.sql.plan.answer.planner import asks_for_more, plan_answer

__all__ = [
    "Derived",
    "Inner",
    "Joined",
    "OverCall",
    "Relation",
    "Scan",
    "SelectPlan",
    "Sorting",
    "Use",
    "asks_for_more",
    "explain_answer",
    "plan_answer",
    "scans_of",
]
