"""ANSWER: keeps tables from their topics and answers questions about now.

In:  streams and tables of the catalogue, their topics, pull queries.
Out: rows, as of the last committed change.
Never: Spark; a look-up by key costs a look into a dictionary.
"""

from orion.views.plan_cache import PlanCache
from orion.views.projection import Projection, Values
from orion.views.pull import (
    PullPlan,
    QuestionPlan,
    TableNotQueryableError,
    plan_pull,
    plan_rows,
)
from orion.views.view import Views

__all__ = [
    "PlanCache",
    "Projection",
    "PullPlan",
    "QuestionPlan",
    "TableNotQueryableError",
    "Values",
    "Views",
    "plan_pull",
    "plan_rows",
]
