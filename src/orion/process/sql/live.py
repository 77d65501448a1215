"""A query over topics as they grow: the same plan as a test's, with Kafka before it."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from orion.formats import SchemaSource
from orion.log import Connection
from orion.process.source import TopicRead, observe_dead_letters, read_raw
from orion.process.sql.compile import compile_query
from orion.process.sql.read import REASON, SEQUENCE, Surroundings
from orion.sql import Functions, Source, Started


@dataclass(frozen=True)
class LiveSql:
    """Compiles queries to streaming DataFrames.

    Args:
        spark: A session from `sql_session`.
        batch_records: How many records of a topic a batch may hold.
    """

    spark: SparkSession
    connection: Connection
    functions: Functions
    schemas: SchemaSource | None
    batch_records: Callable[[str], int]

    def rows(self, started: Started, *, start: str = "earliest") -> DataFrame:
        """Return the records that a query writes, as its topics grow.

        Args:
            start: Where a query without a checkpoint begins: earliest or latest.
        """

        def records(source: Source) -> DataFrame:
            return self._records(source, start)

        around = Surroundings(records, _set_aside, self.functions, self.schemas)
        return compile_query(started.plan.step, started.sink, around).drop(SEQUENCE)

    def _records(self, source: Source, start: str) -> DataFrame:
        read = TopicRead(
            source.topic,
            columns=None,
            start=start,
            max_batch_records=self.batch_records(source.topic),
        )
        raw = read_raw(self.spark, self.connection, read)
        time = F.unix_millis("timestamp")
        return raw.withColumns({"$timestamp": time, SEQUENCE: time})


def _set_aside(rows: DataFrame) -> DataFrame:
    return observe_dead_letters(rows, F.col(REASON)).where(F.col(REASON).isNull())
