"""The contenders: Orion's modes and hand-written Spark, in one warm Spark application."""

import uuid
from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

import orion
from bench.bids import COLUMNS, CONDITION, KEPT
from orion import pipeline
from orion.process.sink import TUNED_SINK

BATCH_RECORDS = 200_000


def orion_run(source: str, mode: str) -> Callable[[], None]:
    def run() -> None:
        rows = orion.stream(source, COLUMNS).where(CONDITION)
        kept = rows.select(*KEPT, "_key", "_timestamp")
        orion.to_topic(kept, f"out-{mode}", name=f"{mode}-{uuid.uuid4().hex[:8]}", mode=mode)
        failed = [status for status in orion.wait() if status.error]
        if failed:
            raise RuntimeError(failed[0].error)

    return run


def spark_bids(addresses: str, source: str, *, start: str = "earliest") -> DataFrame:
    """Return bids as Spark alone reads them, the record's key and time beside them."""
    reader = orion.spark.readStream.format("kafka").option("kafka.bootstrap.servers", addresses)
    reader = reader.option("subscribe", source).option("startingOffsets", start)
    raw = reader.option("maxOffsetsPerTrigger", str(BATCH_RECORDS)).load()
    value = F.from_json(F.col("value").cast("string"), COLUMNS)
    return raw.select("key", "timestamp", value.alias("v")).select("key", "timestamp", "v.*")


def spark_rows(addresses: str, source: str, *, start: str = "earliest") -> DataFrame:
    rows = spark_bids(addresses, source, start=start).where(CONDITION)
    return rows.select("key", F.to_json(F.struct(*KEPT)).alias("value"))


def write_by_spark(
    records: DataFrame, addresses: str, topic: str, *, tuned: bool, output_mode: str = "append"
) -> None:
    """Write records with Spark's own sink until the present end of their topic."""
    folder = pipeline.current().app.settings.data_dir / "checkpoints" / uuid.uuid4().hex
    writer = records.writeStream.format("kafka").options(**(TUNED_SINK if tuned else {}))
    query = (
        writer.option("kafka.bootstrap.servers", addresses)
        .option("topic", topic)
        .option("checkpointLocation", str(folder))
        .outputMode(output_mode)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def spark_run(addresses: str, source: str, *, tuned: bool) -> Callable[[], None]:
    def run() -> None:
        topic = f"out-spark-{'tuned' if tuned else 'default'}"
        write_by_spark(spark_rows(addresses, source), addresses, topic, tuned=tuned)

    return run
