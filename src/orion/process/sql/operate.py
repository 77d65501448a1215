"""Operators on DataFrames: rows are spread by key, taken in order, and given to their tasks."""

from collections.abc import Collection, Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType

from orion.model import Field
from orion.process.failure import current_failures
from orion.process.format import spark_type
from orion.process.sql.expression import quoted
from orion.state import (
    FACTS,
    Failures,
    Operator,
    StatePlace,
    Task,
    make_task,
    noting_failures_in,
    order_task,
)


def fact_columns() -> list[Column]:
    """Return the facts that travel with every row."""
    return [F.col(name) for name in FACTS]


def apply_operator(
    rows: DataFrame,
    operator: Operator,
    keys: Sequence[Column],
    place: StatePlace,
    order: str,
    *,
    unasked: Collection[str] = (),
) -> DataFrame:
    """Return what an operator makes of rows, spread by their keys and taken in order.

    Args:
        keys: Some of the operator's inputs.
        unasked: Outputs that nobody reads, null in the result: Spark takes each value of each row
            out of what comes from Python, whether it is used or not.
    """
    names = [field.name for field in operator.inputs]
    chosen = _spread(rows.select(*(quoted(name) for name in names)), keys, place)
    task = _noting(make_task(operator, place, names.index(order)), current_failures())
    asked = [field for field in operator.outputs if field.name not in unasked]
    made = map_batches(chosen, _giving(task, operator, asked), operator.inputs, asked)
    absent = (field for field in operator.outputs if field.name in unasked)
    return made.withColumns({f.name: F.lit(None).cast(spark_type(f.type)) for f in absent})


def _giving(task: Task, operator: Operator, asked: Sequence[Field]) -> Task:
    """Return a task that gives some of its operator's outputs."""
    places = [at for at, field in enumerate(operator.outputs) if field in asked]

    def giving(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in task(batches):
            yield batch.select(places)

    return giving


def _noting(task: Task, failures: Failures | None) -> Task:
    """Return a task that notes what fails in it."""

    def noting(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with noting_failures_in(failures):
            yield from task(batches)

    return noting


def bring_together(
    rows: DataFrame, fields: Sequence[Field], keys: Sequence[Column], place: StatePlace, order: str
) -> DataFrame:
    """Return rows with those of one key in one partition, and in order.

    Args:
        fields: Their columns.
    """
    # Spark sorts no streams.
    task = order_task([field.name for field in fields].index(order))
    return map_batches(_spread(rows, keys, place), task, fields, fields)


def _spread(rows: DataFrame, keys: Sequence[Column], place: StatePlace) -> DataFrame:
    if place.partitions > 1 or place.folder is not None:
        return rows.repartition(place.partitions, *keys)
    return rows.coalesce(1)


def map_batches(
    rows: DataFrame, task: Task, inputs: Sequence[Field], outputs: Sequence[Field]
) -> DataFrame:
    """Return what a function makes of the columns of each partition."""
    # By position: PySpark takes the dots in names of columns for fields.
    given = rows.select(*(quoted(field.name).alias(f"c{n}") for n, field in enumerate(inputs)))
    shape = StructType([StructField(f"c{n}", spark_type(f.type)) for n, f in enumerate(outputs)])
    made = given.mapInArrow(task, shape)
    return made.select(*(F.col(f"c{n}").alias(f.name) for n, f in enumerate(outputs)))
