"""A first run that does what queries do, so that its JVM has loaded what later ones will need."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from orion.process.each_batch import EachBatch, collect

_SHAPE = "id BIGINT, name STRING"
# Nothing listens there: the query loads Kafka's clients, and fails soon.
_NOWHERE = {
    "kafka.bootstrap.servers": "127.0.0.1:1",
    "kafka.default.api.timeout.ms": "1000",
    "kafka.request.timeout.ms": "500",
    "fetchOffset.numRetries": "1",
    "subscribe": "nothing",
}


def rehearse_queries(spark: SparkSession, folder: Path) -> None:
    """Run a small query through Python, and one that finds no Kafka.

    Args:
        folder: An empty one, for its files.
    """
    given = folder / "given"
    given.mkdir(parents=True)
    (given / "rows.json").write_text('{"id": 1, "name": "a"}\n')
    rows = spark.readStream.schema(_SHAPE).json(str(given)).where("id > 0")
    made = rows.repartition(2, "id").mapInArrow(_as_they_are, _SHAPE)
    values = made.select(F.to_json(F.struct("id", "name")).cast("binary").alias("value"))

    def deliver(batch: DataFrame, number: int) -> None:
        del number
        collect(batch)

    lost = spark.readStream.format("kafka").options(**_NOWHERE).load().writeStream.format("noop")
    lost = lost.option("checkpointLocation", str(folder / "lost"))
    writer = values.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    EachBatch(spark, deliver).attach(writer)
    # Beside each other, since the first one waits most of the time.
    waiting = lost.start()
    writer.trigger(availableNow=True).start().awaitTermination()
    with suppress(StreamingQueryException):
        waiting.awaitTermination()


def _as_they_are(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches
