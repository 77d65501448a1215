"""Batches that make more than the driver may hold: the same records, by way of files."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion import pipeline
from orion.log import Outgoing
from orion.model import Field, Scalar
from orion.process.batch import Batch
from orion.process.sink import TransactionSink
from orion.process.sql.operate import apply_operator
from orion.state import (
    JOIN_KEY,
    SEQUENCE,
    TIME,
    IntervalOperator,
    JoinLayout,
    StatePlace,
)
from orion.state.value import write_rows

OPERATOR = IntervalOperator(
    JoinLayout(
        Scalar.STRING, (Field("L", Scalar.BIGINT),), (Field("R", Scalar.BIGINT),), False, False
    ),
    0,
    0,
    None,
)
BATCH = Batch(0, None, "query", may_repeat=False)


@pytest.fixture
def rows(spark_app: pipeline.Pipeline, tmp_path: Path) -> DataFrame:
    """Events of three keys, the first of which meets itself 360,000 times."""
    keys = [("hot", 1_200), ("warm", 20), ("cold", 2)]
    names = [key for key, count in keys for _ in range(count)]
    events = [
        (n % 2, key, n, n, 5, [5, 7, 0, n], False, None, "t/0") for n, key in enumerate(names)
    ]
    batch = write_rows(events, OPERATOR.inputs)
    table = pa.Table.from_batches([batch.rename_columns([f.name for f in OPERATOR.inputs])])
    place = StatePlace(str(tmp_path / "state"), 2)
    given = spark_app.runtime.spark.createDataFrame(table)
    joined = apply_operator(given, OPERATOR, [F.col(f"`{JOIN_KEY}`")], place, SEQUENCE)
    return joined.select(
        F.col(f"`{JOIN_KEY}`").cast("binary").alias("key"),
        F.to_json(F.struct("L", "R")).cast("binary").alias("value"),
        F.col(f"`{TIME}`").alias("timestamp_ms"),
    )


def records(given: Sequence[Outgoing]) -> list[tuple[bytes | None, bytes | None, int]]:
    return [
        record
        for part in given
        for record in zip(part.keys or (), part.values, part.timestamps_ms or (), strict=True)
    ]


def test_a_large_batch_goes_by_way_of_files(rows: DataFrame, tmp_path: Path) -> None:
    # A path that is no address as it stands.
    spill = tmp_path / "a b" / "large"
    whole = list(TransactionSink("t", spill).prepare(rows, BATCH))
    assert len(whole) == 1
    assert not spill.exists()
    sink = TransactionSink("t", spill, most_bytes=1_000_000)
    by_files = sink.prepare(rows, BATCH)
    assert len(list(spill.glob("*.parquet"))) > 3
    parts = list(by_files)
    assert max(len(part.values) for part in parts) <= 100_000
    found = records(parts)
    assert len(found) == 600 * 600 + 10 * 10 + 1
    assert found == records(whole)
    assert not spill.exists()
    # The next one is likely to be as large, and is not tried otherwise.
    small = rows.sparkSession.createDataFrame(
        [(b"k", b"v", 7)], "key binary, value binary, timestamp_ms long"
    )
    after = sink.prepare(small, BATCH)
    assert spill.exists()
    assert records(list(after)) == [(b"k", b"v", 7)]


def test_without_a_shared_folder_nothing_is_limited(rows: DataFrame) -> None:
    (whole,) = TransactionSink("t", None, most_bytes=1).prepare(rows, BATCH)
    assert len(whole.values) == 600 * 600 + 10 * 10 + 1


def test_what_spark_itself_makes_of_few_rows_goes_by_way_of_files(
    spark_app: pipeline.Pipeline, tmp_path: Path
) -> None:
    few = spark_app.runtime.spark.range(4, numPartitions=2)
    many = few.select(
        F.col("id").cast("string").cast("binary").alias("key"),
        F.explode(F.array_repeat(F.lit(b"x" * 1_000), 5_000)).alias("value"),
        F.lit(7).cast("long").alias("timestamp_ms"),
    )
    spill = tmp_path / "large"
    kept = list(TransactionSink("t", spill, limits_rows=True).prepare(many, BATCH))
    assert not spill.exists()
    sink = TransactionSink("t", spill, most_bytes=1_000_000, limits_rows=True)
    by_files = sink.prepare(many, BATCH)
    assert spill.exists()
    assert records(list(by_files)) == records(kept)
    assert len(records(kept)) == 20_000
