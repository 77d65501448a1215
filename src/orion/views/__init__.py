"""ANSWER: keeps tables from their topics and answers questions about now.

In:  streams and tables of the catalogue, their topics, pull queries, queries that only look.
Out: rows as of the last committed change, and each change to who follows.
Never: Spark; a look-up by key costs a look into a dictionary.
"""

from orion.views.feed import Feeds
from orion.views.followed import ChangedRow, FollowedQuery, followed_source
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
    "ChangedRow",
    "Feeds",
    "FollowedQuery",
    "PlanCache",
    "Projection",
    "PullPlan",
    "QuestionPlan",
    "TableNotQueryableError",
    "Values",
    "Views",
    "followed_source",
    "plan_pull",
    "plan_rows",
]
