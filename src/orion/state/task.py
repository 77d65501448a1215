"""An operator inside of Spark's tasks: the rows of a batch in order, its state beside it."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyspark import TaskContext

from orion.formats import arrow_type, from_arrow, to_arrow
from orion.model import Array, Field, Map, Scalar, Struct, Type
from orion.state.column_group import sorted_table
from orion.state.store import StateStore

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


def make_task(
    operator: Operator, folder: str | None, order: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that runs an operator over one partition of a batch.

    Args:
        folder: Where the operator keeps its state; None: in memory.
        order: The column that rows are taken in the order of.
    """

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        number = None if context is None else context.getLocalProperty(_BATCH)
        path = None if folder is None else Path(folder) / f"{partition}.db"
        state = StateStore(path, int(number) if number and path else 0)
        # A batch makes millions of objects and no cycles: looking for some costs half of its time.
        gc.disable()
        try:
            given = list(batches)
            found = _run_table(operator, given, order, state)
            if found is None:
                rows = read_rows(given, operator.inputs)
                rows.sort(key=lambda row: row[order])
                found = [write_rows(list(operator.run(rows, state)), operator.outputs)]
            state.commit()
        except BaseException:
            state.abandon()
            raise
        finally:
            gc.enable()
        yield from found

    return task


def _run_table(
    operator: Operator, batches: list[pa.RecordBatch], order: int, state: StateStore
) -> list[pa.RecordBatch] | None:
    """Return what an operator makes of whole columns, if it can do so."""
    run: Callable[[pa.Table, StateStore], pa.Table | None] | None
    run = getattr(operator, "run_table", None)
    if run is None or not batches:
        return None
    table = sorted_table(pa.Table.from_batches(batches), order)
    found = None if table is None else run(table, state)
    return None if found is None else list(found.to_batches())


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
