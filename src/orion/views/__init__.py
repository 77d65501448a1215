"""ANSWER: keeps tables from their topics and answers questions about now.

In:  streams and tables of the catalogue, their topics, pull queries.
Out: rows, as of the last committed change.
Never: Spark; a look-up by key costs a look into a dictionary.
"""

from orion.views.pull import PullPlan, TableNotQueryableError, plan_pull
from orion.views.view import Views

__all__ = ["PullPlan", "TableNotQueryableError", "Views", "plan_pull"]
