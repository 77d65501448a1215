"""Trees to checked plans: names are found, types agree, keys are known, nothing has run yet.

In:  a statement's tree, the catalogue, the functions, what formats can carry.
Out: the change it makes, with its query as typed steps; or an error that shows the place.
Never: Kafka, Spark, files or the network.
"""

from orion.sql.plan import answer, step, typed
from orion.sql.plan.cast import spell
from orion.sql.plan.catalogue import Catalogue, Reader
from orion.sql.plan.change import (
    Change,
    Declared,
    Dropped,
    Paused,
    Started,
    Terminated,
    TypeMade,
    Unchanged,
)
from orion.sql.plan.declare import Formats
from orion.sql.plan.errors import SourceExistsError, SourceNotFoundError, StatementError
from orion.sql.plan.evaluate import (
    Computation,
    computation_or_null,
    evaluate,
    evaluate_or_null,
)
from orion.sql.plan.explain import explain
from orion.sql.plan.failure import tell_failure, telling_failures
from orion.sql.plan.insert import InsertedRow, plan_row
from orion.sql.plan.query import QueryPlan, plan_query
from orion.sql.plan.source import Column, Format, Role, Source, Windowed
from orion.sql.plan.statement import Planner

__all__ = [
    "Catalogue",
    "Change",
    "Column",
    "Computation",
    "Declared",
    "Dropped",
    "Format",
    "Formats",
    "InsertedRow",
    "Paused",
    "Planner",
    "QueryPlan",
    "Reader",
    "Role",
    "Source",
    "SourceExistsError",
    "SourceNotFoundError",
    "Started",
    "StatementError",
    "Terminated",
    "TypeMade",
    "Unchanged",
    "Windowed",
    "answer",
    "computation_or_null",
    "evaluate",
    "evaluate_or_null",
    "explain",
    "plan_query",
    "plan_row",
    "spell",
    "step",
    "tell_failure",
    "telling_failures",
    "typed",
]
