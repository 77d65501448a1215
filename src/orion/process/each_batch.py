"""The calls between Spark's JVM and Python that every batch makes: as few of them as will do."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from py4j.java_gateway import java_import
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter


class EachBatch:
    """What Spark calls with every batch of a query.

    `foreachBatch` of PySpark makes a session for every batch, which asks the JVM several times;
    a query has one.
    """

    def __init__(self, spark: SparkSession, deliver: Callable[[DataFrame, int], None]) -> None:
        self._context, self._deliver = spark.sparkContext, deliver
        self._session: SparkSession | None = None

    def attach(self, writer: DataStreamWriter) -> None:
        """Let a query's batches go to this object."""
        gateway = self._context._gateway  # noqa: SLF001
        assert gateway is not None
        java_import(gateway.jvm, "org.apache.spark.sql.execution.streaming.sources.*")
        gateway.jvm.PythonForeachBatchHelper.callForeachBatch(writer._jwrite, self)  # noqa: SLF001
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]

    def call(self, frame: Any, number: int) -> None:
        """Take a batch; Spark's name for it."""
        if self._session is None:
            self._session = SparkSession(self._context, frame.sparkSession())
        self._deliver(DataFrame(frame, self._session), number)

    class Java:
        """How py4j knows what this is in Java."""

        implements = (
            "org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchFunction",
        )


def collect(rows: DataFrame) -> pa.Table | None:
    """Run a batch and return its rows, in order; None where there are none.

    `toArrow` asks the JVM for the schema and for settings as well.
    """
    batches = rows._collect_as_arrow()  # type: ignore[operator]  # noqa: SLF001
    return pa.Table.from_batches(batches) if batches else None
