"""ROW_NUMBER over events: what they are partitioned and sorted by comes with the inner query."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Field, Scalar
from orion.process.sql.expression import compile_expression, quoted
from orion.process.sql.group import change_rows
from orion.process.sql.operate import apply_operator, fact_columns
from orion.process.sql.read import Surroundings
from orion.process.sql.watch import watch
from orion.sql import step
from orion.state import ABSENT, SEQUENCE, RankOperator, RankTableOperator


def rank_rows(rows: DataFrame, node: step.Rank, around: Surroundings) -> DataFrame:
    """Return the places that change for every event, or the events that take one.

    Args:
        rows: Those that the inner query's columns are computed from.
    """
    types = {named.name: named.type or Scalar.STRING for named in node.input.value}
    keys, orders, columns = (
        tuple(Field(name, types[name]) for name in names)
        for names in (node.keys, [sort.name for sort in node.sorts], node.columns)
    )
    operator = RankOperator(
        keys, orders, node.sorts, columns, node.number, node.count, node.is_table
    )
    rows = watch(rows, [part.expression for part in node.input.value])
    named = {part.name: compile_expression(part.expression) for part in node.input.value}
    fields = (*keys, *orders, *columns)
    chosen = [named[field.name].alias(field.name) for field in fields]
    # Without keys all events meet in one partition.
    spread = [quoted(key.name) for key in keys] or [F.lit(0)]
    if step.is_table(node.input):
        rows = change_rows(rows, node.input.input, (len(keys), fields), chosen, around)
        undoing = RankTableOperator(operator)
        return apply_operator(rows, undoing, spread, next(around.places), SEQUENCE)
    rows = rows.where(~F.col(ABSENT)).select(*chosen, *fact_columns())
    for key in keys:
        rows = rows.where(quoted(key.name).isNotNull())
    return apply_operator(rows, operator, spread, next(around.places), SEQUENCE)
