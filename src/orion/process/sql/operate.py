"""Operators on DataFrames: rows are spread by key, taken in order, and given to their tasks."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType

from orion.process.format import spark_type
from orion.state import FACTS, Operator, StatePlace, make_task


def fact_columns() -> list[Column]:
    """Return the facts that travel with every row."""
    return [F.col(name) for name in FACTS]


def apply_operator(
    rows: DataFrame, operator: Operator, keys: Sequence[Column], place: StatePlace, order: str
) -> DataFrame:
    """Return what an operator makes of rows, spread by their keys and taken in order.

    Args:
        keys: Some of the operator's inputs.
    """
    names = [field.name for field in operator.inputs]
    own = [F.col("`" + name.replace("`", "``") + "`") for name in names]
    chosen = rows.select(*own)
    if place.partitions > 1 or place.folder is not None:
        chosen = chosen.repartition(place.partitions, *keys)
    else:
        chosen = chosen.coalesce(1)
    # By position: PySpark takes the dots in names of columns for fields.
    chosen = chosen.select(*(column.alias(f"c{n}") for n, column in enumerate(own)))
    shape = StructType(
        [StructField(f"c{n}", spark_type(f.type)) for n, f in enumerate(operator.outputs)]
    )
    made = chosen.mapInArrow(make_task(operator, place, names.index(order)), shape)
    outputs = (F.col(f"c{n}").alias(f.name) for n, f in enumerate(operator.outputs))
    return made.select(*outputs)
