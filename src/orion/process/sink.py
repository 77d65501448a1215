"""The sinks of a query: a topic in the batch's own transaction, Spark's Kafka sink, a table."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from orion.lake import TableWrite, write_batch
from orion.log import Outgoing
from orion.process.batch import Batch
from orion.process.each_batch import collect
from orion.process.large import (
    MOST_BYTES,
    LargeOutput,
    is_too_large,
    limit_rows,
    limit_tasks,
)
from orion.process.strike import pass_point

logger = logging.getLogger(__name__)

# So many batches from a large one on are not tried otherwise: each try runs the batch.
_ALIKE = 20
_MANY_ROWS = 200_000
# Larger batches and fewer requests than Spark's defaults; docs/performance.md compares both.
TUNED_SINK = {
    "kafka.linger.ms": "20",
    "kafka.batch.size": "262144",
    "kafka.compression.type": "lz4",
    "kafka.max.request.size": str(64 << 20),
}


@dataclass
class TransactionSink:
    """Brings the batch to the driver as Arrow; its one producer writes it in the transaction.

    Args:
        spill: A folder that tasks share with the driver, for batches that it cannot hold; None:
            there is none, and such batches fail.
        most_bytes: How much a task may make of a batch before it goes there.
        limits_rows: Whether Spark itself may make that much, without an operator of ours.
        likely_large: How many batches go there without being tried otherwise.
    """

    topic: str
    spill: Path | None
    most_bytes: int = MOST_BYTES
    limits_rows: bool = False
    likely_large: int = 0

    def prepare(self, rows: DataFrame, batch: Batch) -> Iterable[Outgoing]:
        """Run the batch and return its records, in the order of their input."""
        if self.spill is None:
            return self._collected(rows)
        if not self.likely_large:
            limit_tasks(rows, self.most_bytes)
            limited = limit_rows(rows, self.most_bytes) if self.limits_rows else rows
            try:
                return self._collected(limited)
            except Exception as error:
                if not is_too_large(error):
                    raise
            logger.info("batch %d for %s goes by way of files", batch.number, self.topic)
            batch.give_up()
            self.likely_large = _ALIKE
        self.likely_large -= 1
        limit_tasks(rows, None)
        output = LargeOutput(self.spill)
        if output.write(rows) > _MANY_ROWS:
            self.likely_large = _ALIKE
        return (_outgoing(self.topic, table) for table in output.tables())

    def _collected(self, rows: DataFrame) -> Sequence[Outgoing]:
        table = collect(rows)
        return [_outgoing(self.topic, table)] if table is not None else []


@dataclass(frozen=True)
class SparkSink:
    """Spark's own Kafka sink with tuned options: written by the tasks, at least once."""

    topic: str
    options: Mapping[str, str]

    def prepare(self, rows: DataFrame, batch: Batch) -> Iterable[Outgoing]:
        """Write the batch from its tasks; a repeated batch is written again."""
        del batch
        kept = [name for name in ("key", "value", "headers") if name in rows.columns]
        writer = rows.select(*kept).write.format("kafka").option("topic", self.topic)
        writer.options(**{**TUNED_SINK, **self.options}).save()
        return []


@dataclass(frozen=True)
class TableSink:
    """A lake table; the batch's number is stored in the same table commit as its rows."""

    table: TableWrite

    def prepare(self, rows: DataFrame, batch: Batch) -> Iterable[Outgoing]:
        """Append or merge the batch; a repeated batch changes nothing."""
        if not batch.may_repeat:
            self._write(rows, batch)
            return []
        # A table that holds the batch already does not run it; its dead letters need it to run.
        rows = rows.persist()
        try:
            rows.count()
            self._write(rows, batch)
        finally:
            rows.unpersist()
        return []

    def _write(self, rows: DataFrame, batch: Batch) -> None:
        write_batch(
            rows, self.table, writer=batch.checkpoint, batch=batch.number, on_written=_in_commit
        )
        pass_point("after_table_commit")


def _in_commit() -> None:
    pass_point("in_table_commit")


def _outgoing(topic: str, table: pa.Table) -> Outgoing:
    headers = table.column("headers") if "headers" in table.column_names else None
    return Outgoing(
        topic,
        values=_objects(table.column("value")),
        keys=_unless_null(table.column("key")),
        timestamps_ms=_unless_null(table.column("timestamp_ms")),
        headers=None if headers is None else _headers(headers),
    )


def _objects(column: pa.ChunkedArray) -> list[Any]:
    """Return a column as Python objects; through numpy, which is five times faster than scalars."""
    if column.null_count and pa.types.is_integer(column.type):
        column = column.fill_null(0)
    objects: list[Any] = column.to_numpy().tolist()
    return objects


def _unless_null(column: pa.ChunkedArray) -> list[Any] | None:
    return None if column.null_count == len(column) else _objects(column)


def _headers(column: pa.ChunkedArray) -> list[list[tuple[str, bytes | None]]] | None:
    if column.null_count == len(column):
        return None
    return [[(h["key"], h["value"]) for h in found or ()] for found in column.to_pylist()]
