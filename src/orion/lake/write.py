"""Write one batch to a table, exactly once: its number is part of the table's own commit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from orion.model import InvalidInputError

TOMBSTONE = "_tombstone"
_ORDER = ("_topic", "_partition", "_offset")
_HEADERS = "_headers"
_NUMBER = "spark.databricks.delta.write"


@dataclass(frozen=True)
class TableWrite:
    """How rows go to a table.

    Args:
        path: The table's folder.
        key: Columns that identify a row; none: rows are appended.
        partition_by: Columns whose values make the table's sub-folders.
    """

    path: str
    key: Sequence[str] = ()
    partition_by: Sequence[str] = ()


class TableColumnsError(InvalidInputError):
    """Raised when rows lack what an upsert needs."""

    def __init__(self, missing: Sequence[str], purpose: str) -> None:
        self.missing = tuple(missing)
        super().__init__(
            f"Column(s) {', '.join(missing)} are missing; {purpose}.",
            fix="Keep them in your select.",
        )


def check_columns(columns: Sequence[str], table: TableWrite, *, one_row_per_key: bool) -> None:
    """Refuse rows that cannot be written as asked, before a query starts.

    Args:
        one_row_per_key: Whether a batch holds each key at most once, as an aggregation's does.
    """
    if absent := [name for name in (*table.key, *table.partition_by) if name not in columns]:
        raise TableColumnsError(absent, "they were named as key or partition of the table")
    absent = [name for name in _ORDER if name not in columns]
    if table.key and absent and not one_row_per_key:
        raise TableColumnsError(absent, "an upsert needs them to know a key's last record")


def write_batch(
    rows: DataFrame,
    table: TableWrite,
    *,
    writer: str,
    batch: int,
    on_written: Callable[[], None] = lambda: None,
) -> None:
    """Append or merge a batch; the same writer and batch again change nothing.

    Args:
        rows: The batch; the column `_tombstone`, where there is one, marks deletions.
        writer: Identity of the checkpoint that numbers the batches.
        on_written: Called once the rows are computed, right before the table's commit.
    """
    columns = [name for name in rows.columns if name != _HEADERS]
    if table.key:
        _merge(rows.select(*columns), table, writer=writer, batch=batch, on_written=on_written)
    else:
        kept = rows.where(~F.col(TOMBSTONE)) if TOMBSTONE in columns else rows
        kept = kept.select(*(name for name in columns if name != TOMBSTONE))
        on_written()
        _append(kept, table, writer=writer, batch=batch)


def _append(rows: DataFrame, table: TableWrite, *, writer: str, batch: int) -> None:
    save = rows.write.format("delta").mode("append").option("mergeSchema", "true")
    if table.partition_by:
        save = save.partitionBy(*table.partition_by)
    save.option("txnAppId", writer).option("txnVersion", str(batch)).save(table.path)


def _merge(
    rows: DataFrame, table: TableWrite, *, writer: str, batch: int, on_written: Callable[[], None]
) -> None:
    """Merge the last record of each key; a tombstone deletes."""
    last = _last_by_key(rows, table.key).persist()
    try:
        target = _open(last, table)
        on_written()
        same = " AND ".join(f"t.{_quoted(name)} <=> s.{_quoted(name)}" for name in table.key)
        values: dict[str, str | Column] = {
            _quoted(name): f"s.{_quoted(name)}" for name in last.columns if name != TOMBSTONE
        }
        merge = target.alias("t").merge(last.alias("s"), same)
        gone = f"s.{TOMBSTONE}" if TOMBSTONE in last.columns else "false"
        merge = merge.whenMatchedDelete(gone).whenMatchedUpdate(set=values)
        merge = merge.whenNotMatchedInsert(f"NOT {gone}", values)
        with _numbered(last, writer, batch):
            merge.execute()
    finally:
        last.unpersist()


def _last_by_key(rows: DataFrame, key: Sequence[str]) -> DataFrame:
    if any(name not in rows.columns for name in _ORDER):
        return rows
    order = Window.partitionBy(*key).orderBy(*(F.col(name).desc() for name in _ORDER))
    ranked = rows.withColumn("_rank", F.row_number().over(order))
    return ranked.where("_rank = 1").drop("_rank")


def _open(rows: DataFrame, table: TableWrite) -> DeltaTable:
    """Return the table, made with the rows' columns where it is new."""
    builder = DeltaTable.createIfNotExists(rows.sparkSession).location(table.path)
    kept = [field for field in rows.schema.fields if field.name != TOMBSTONE]
    builder = builder.addColumns(kept)
    if table.partition_by:
        builder = builder.partitionedBy(*table.partition_by)
    return builder.execute()


@contextmanager
def _numbered(rows: DataFrame, writer: str, batch: int) -> Iterator[None]:
    """Number the next commit; a merge takes the number from the session, not from options."""
    conf = rows.sparkSession.conf
    conf.set(f"{_NUMBER}.txnAppId", writer)
    conf.set(f"{_NUMBER}.txnVersion", str(batch))
    try:
        yield
    finally:
        conf.unset(f"{_NUMBER}.txnAppId")
        conf.unset(f"{_NUMBER}.txnVersion")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
