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
    """Return what an operator makes of rows, spread by their keys and taken in order."""
    names = [field.name for field in operator.inputs]
    own = [F.col("`" + name.replace("`", "``") + "`") for name in names]
    chosen = rows.select(*own, *_aliased(keys))
    spread = [F.col(f"`{name}`") for name in _key_names(keys)]
    if place.partitions > 1 or place.folder is not None:
        chosen = chosen.repartition(place.partitions, *spread)
    else:
        chosen = chosen.coalesce(1)
    # By position: PySpark takes the dots in names of columns for fields.
    chosen = chosen.select(*(column.alias(f"c{n}") for n, column in enumerate(own)))
    shape = StructType(
        [StructField(f"c{n}", spark_type(f.type)) for n, f in enumerate(operator.outputs)]
    )
    made = chosen.mapInArrow(make_task(operator, place.folder, names.index(order)), shape)
    outputs = (F.col(f"c{n}").alias(f.name) for n, f in enumerate(operator.outputs))
    return made.select(*outputs)


def _key_names(keys: Sequence[Column]) -> list[str]:
    return [f"$spread.{number}" for number in range(len(keys))]


def _aliased(keys: Sequence[Column]) -> list[Column]:
    return [key.alias(name) for key, name in zip(keys, _key_names(keys), strict=True)]
