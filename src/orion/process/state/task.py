"""An operator inside of Spark's tasks: the rows of a batch in order, its state beside it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructField, StructType

from orion.formats import arrow_type, from_arrow, to_arrow
from orion.model import Array, Field, Map, Scalar, Struct, Type
from orion.process.format import spark_type
from orion.process.state.store import StateStore

Row = tuple[Any, ...]
_BATCH = "streaming.sql.batchId"


class Operator(Protocol):
    """What happens to the rows of one partition of keys.

    Columns are given and returned in the order of `inputs` and `outputs`, as plain values.
    """

    @property
    def inputs(self) -> Sequence[Field]:
        """The columns that rows come with."""

    @property
    def outputs(self) -> Sequence[Field]:
        """The columns of what goes out."""

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Take rows in their order; the state is kept when all have been taken."""


@dataclass(frozen=True)
class StatePlace:
    """Where an operator keeps its state.

    Args:
        folder: Its files, one a partition; None: in memory, for one batch alone.
        partitions: How many parts the keys are spread over; never changes for a query.
    """

    folder: str | None
    partitions: int


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
    made = chosen.mapInArrow(_task(operator, place.folder, names.index(order)), shape)
    outputs = (F.col(f"c{n}").alias(f.name) for n, f in enumerate(operator.outputs))
    return made.select(*outputs)


def _key_names(keys: Sequence[Column]) -> list[str]:
    return [f"$spread.{number}" for number in range(len(keys))]


def _aliased(keys: Sequence[Column]) -> list[Column]:
    return [key.alias(name) for key, name in zip(keys, _key_names(keys), strict=True)]


def _task(
    operator: Operator, folder: str | None, order: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        number = None if context is None else context.getLocalProperty(_BATCH)
        path = None if folder is None else Path(folder) / f"{partition}.db"
        state = StateStore(path, int(number) if number and path else 0)
        try:
            rows = read_rows(batches, operator.inputs)
            rows.sort(key=lambda row: row[order])
            made = list(operator.run(rows, state))
            state.commit()
        except BaseException:
            state.abandon()
            raise
        yield write_rows(made, operator.outputs)

    return task


def read_rows(batches: Iterable[pa.RecordBatch], fields: Sequence[Field]) -> list[Row]:
    """Return the rows of Arrow batches as plain values."""
    rows: list[Row] = []
    for batch in batches:
        columns = [_plain(batch.column(number), field.type) for number, field in enumerate(fields)]
        rows.extend(zip(*columns, strict=True))
    return rows


def _plain(column: pa.Array, kind: Type) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return [from_arrow(value, kind) for value in values] if _needs_change(kind) else values


def _needs_change(kind: Type) -> bool:
    match kind:
        case Array(element):
            return _needs_change(element)
        case Map():
            return True
        case Struct(fields):
            return any(_needs_change(field.type) for field in fields)
    return kind in (Scalar.DATE, Scalar.TIMESTAMP)


def write_rows(rows: Sequence[Row], fields: Sequence[Field]) -> pa.RecordBatch:
    """Return plain rows as an Arrow batch."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
    arrays = [
        pa.array(
            [to_arrow(value, field.type) for value in column]
            if _needs_change(field.type) or field.type is Scalar.DOUBLE
            else list(column),
            arrow_type(field.type),
        )
        for column, field in zip(columns, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=[f"c{n}" for n in range(len(fields))])
