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


def spark_rows(addresses: str, source: str, *, start: str = "earliest") -> DataFrame:
    reader = orion.spark.readStream.format("kafka").option("kafka.bootstrap.servers", addresses)
    reader = reader.option("subscribe", source).option("startingOffsets", start)
    raw = reader.option("maxOffsetsPerTrigger", str(BATCH_RECORDS)).load()
    value = F.from_json(F.col("value").cast("string"), COLUMNS)
    rows = raw.select("key", value.alias("v")).select("key", "v.*").where(CONDITION)
    return rows.select("key", F.to_json(F.struct(*KEPT)).alias("value"))


def spark_run(addresses: str, source: str, *, tuned: bool) -> Callable[[], None]:
    def run() -> None:
        writer = spark_rows(addresses, source).writeStream.format("kafka")
        writer = writer.options(**(TUNED_SINK if tuned else {}))
        folder = pipeline.current().app.settings.data_dir / "checkpoints" / uuid.uuid4().hex
        query = (
            writer.option("kafka.bootstrap.servers", addresses)
            .option("topic", f"out-spark-{'tuned' if tuned else 'default'}")
            .option("checkpointLocation", str(folder))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    return run
