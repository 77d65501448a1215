"""An operator inside of Spark's tasks: the rows of a batch in order, its state beside it."""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import pyarrow as pa
from pyspark import TaskContext

from orion.formats import arrow_type
from orion.model import Field, OrionError
from orion.state.columns import sorted_table
from orion.state.file import name_damage
from orion.state.piece import pieces_of, rows_a_piece
from orion.state.store import StateStore
from orion.state.value import Row, read_rows, write_rows

# A partition's columns in, and out.
Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
# Where Spark's streams tell their tasks the number of the batch.
BATCH_PROPERTY = "streaming.sql.batchId"
# Where a batch says how much a task may make of it, if it says so.
MOST_BYTES_PROPERTY = "orion.mostBytes"
# How many rows go out at once where they are made one by one: at first, and at most.
_FIRST_ROWS, _ROWS = 1_000, 10_000


class OutputTooLargeError(OrionError):
    """Raised when a task makes more of a batch than may be brought together."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        super().__init__(f"A task made more than {most_bytes} bytes of a batch.")


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
        notes_late: Whether rows that come too late are noted there, besides being counted.
    """

    folder: str | None
    partitions: int
    notes_late: bool = False


def make_task(operator: Operator, place: StatePlace, order: int) -> Task:
    """Return the function that runs an operator over one partition of a batch.

    Args:
        place: Where the operator keeps its state.
        order: The column that rows are taken in the order of.
    """

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        number = None if context is None else context.getLocalProperty(BATCH_PROPERTY)
        most = None if context is None else context.getLocalProperty(MOST_BYTES_PROPERTY)
        path = None if place.folder is None else Path(place.folder) / f"{partition}.db"
        batch = int(number) if number and path else 0
        # A batch makes millions of objects and no cycles: looking for some costs half of its time.
        gc.disable()
        try:
            with _keeping(StateStore(path, batch, notes_late=place.notes_late)) as state:
                made = run_partition(operator, list(batches), order, state)
                yield from _at_most(int(most), made) if most else made
        finally:
            gc.enable()

    return task


def _at_most(most_bytes: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    made = 0
    for batch in batches:
        made += batch.nbytes
        if made > most_bytes:
            raise OutputTooLargeError(most_bytes)
        yield batch


def order_task(order: int) -> Task:
    """Return the function that puts the rows of one partition in the order of a column."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        if given:
            table = pa.Table.from_batches(given)
            places = table.column(order).to_pylist()
            turn = sorted(range(len(places)), key=places.__getitem__)
            yield from pieces_of(table.take(pa.array(turn, pa.int64())))

    return task


@contextmanager
def _keeping(state: StateStore) -> Iterator[StateStore]:
    """Keep a state if all goes well; else leave it as it was."""
    try:
        yield state
        state.commit()
    except BaseException as error:
        state.abandon()
        name_damage(error, state.path)
        raise


def run_partition(
    operator: Operator, batches: list[pa.RecordBatch], order: int, state: StateStore
) -> Iterator[pa.RecordBatch]:
    """Give what an operator makes of the rows of one partition, by columns where it can."""
    tables = _run_table(operator, batches, order, state)
    if tables is not None:
        # The types that Spark was told.
        kinds = [arrow_type(field.type) for field in operator.outputs]
        for table in tables:
            yield from pieces_of(_fitted(table, kinds))
        return
    given = sorted(read_rows(batches, operator.inputs), key=itemgetter(order))
    rows = operator.run(given, state)
    count = _FIRST_ROWS
    while some := list(islice(rows, count)):
        made = write_rows(some, operator.outputs)
        yield from pieces_of(made)
        count = min(_ROWS, rows_a_piece(made.num_rows, made.nbytes))


def _run_table(
    operator: Operator, batches: list[pa.RecordBatch], order: int, state: StateStore
) -> Iterable[pa.Table] | None:
    """Return what an operator makes of whole columns, if it can do so."""
    run: Callable[[pa.Table, StateStore], pa.Table | Iterator[pa.Table] | None] | None
    run = getattr(operator, "run_table", None)
    if run is None or not batches:
        return None
    table = sorted_table(pa.Table.from_batches(batches), order)
    found = None if table is None else run(table, state)
    return [found] if isinstance(found, pa.Table) else found


def _fitted(table: pa.Table, kinds: Sequence[pa.DataType]) -> pa.Table:
    columns = zip(table.columns, kinds, strict=True)
    cast = [column if column.type == kind else column.cast(kind) for column, kind in columns]
    return pa.Table.from_arrays(cast, names=table.column_names)
