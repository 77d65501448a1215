"""A query over topics as they grow: the same plan as a test's, with Kafka before it."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from orion.command import time_reader
from orion.formats import SchemaSource
from orion.log import Connection, ReadTime
from orion.process.failure import forget_failures, noting_failures
from orion.process.planning import BatchLimit, Planning
from orion.process.source import TopicRead, observe_dead_letters, read_raw
from orion.process.sql.compile import compile_query
from orion.process.sql.keep import KeptState, is_news, waits
from orion.process.sql.read import REASON, Order, Surroundings
from orion.process.sql.succession import Succession
from orion.sql import Functions, Source, Started, step
from orion.state import SEQUENCE, StatePlace


@dataclass(frozen=True)
class LiveSql:
    """Compiles queries to streaming DataFrames.

    Args:
        spark: A session from `sql_session`.
        batch_limit: How many records of a topic a batch may hold.
        partitions: How many partitions a topic has; state is spread over as many.
        state_folder: Where operators keep their state, a folder a query.
        checkpoints: Where Spark keeps the progress of queries, a folder a query.
    """

    spark: SparkSession
    connection: Connection
    functions: Functions
    schemas: SchemaSource | None
    batch_limit: Callable[[str], BatchLimit]
    partitions: Callable[[str], int]
    state_folder: str
    checkpoints: str = ""

    def rows(self, started: Started, planning: Planning, *, start: str = "earliest") -> DataFrame:
        """Return the records that a query writes, as its topics grow.

        Args:
            start: Where a query without a checkpoint begins: earliest or latest.
        """
        kept = self.state(started.query, started.late_topic)
        done = kept.done_before()
        reads = self._reads(started, planning, "earliest" if done else start)

        def records(source: Source) -> DataFrame:
            return self._records(reads[source.topic])

        def set_aside(rows: DataFrame) -> DataFrame:
            reason = F.col(REASON)
            if done:
                reason = F.when(is_news(done, F.col(SEQUENCE)), reason)
            return observe_dead_letters(rows, reason).where(F.col(REASON).isNull())

        operators = count()
        places = self._places(started, operators)
        around = Surroundings(
            records,
            set_aside,
            self.functions,
            places,
            self.schemas,
            planning.schema_ids,
            # A change of several records may be news by one of them and not by the last.
            collapses=started.collapses and not done,
            notes_late=bool(started.late_topic),
            order=Order.EVENT_TIME if _all_meet_by_event_time(started) else Order.RECORD_TIME,
            tells_places=bool(done),
        )
        with noting_failures(self.spark, started.query):
            rows = compile_query(started.plan.step, started.sink, around)
        kept.require(next(operators))
        if done and not waits(started.plan.step):
            rows = rows.where(is_news(done, F.col(SEQUENCE)))
        return rows.drop(SEQUENCE)

    def state(self, query: str, late_topic: str = "") -> KeptState:
        """Return the state of a query; see `KeptState` for its late records."""
        checkpoint = f"{self.checkpoints.rstrip('/')}/{query}" if self.checkpoints else ""
        return KeptState(query, Path(self.state_folder) / query, checkpoint, late_topic)

    def succession(self, started: Started) -> Succession | None:
        """Return how a query takes the place of another, if it does."""
        if started.predecessor is None:
            return None
        return Succession(started, self.state(started.query).folder, self.connection)

    @staticmethod
    def topics(started: Started) -> tuple[str, ...]:
        """Return the topics that a query reads, each once."""
        return tuple(dict.fromkeys(source.topic for source in _sources(started)))

    def sources(self, started: Started) -> dict[str, ReadTime | None]:
        """Return the topics that a query reads, and what reads the times that they meet by."""
        return {**dict.fromkeys(self.topics(started)), **self._event_times(started)}

    def _event_times(self, started: Started) -> dict[str, ReadTime]:
        """Return what reads the times of events, by topic, where all topics meet by these."""
        if not _all_meet_by_event_time(started):
            return {}
        readers = {s.topic: time_reader(s, self.schemas) for s in _sources(started)}
        return {topic: read for topic, read in readers.items() if read is not None}

    def forget(self, query: str) -> None:
        """Remove the state of a query that will not come back."""
        forget_failures(query)
        shutil.rmtree(self.state(query).folder, ignore_errors=True)

    def _reads(self, started: Started, planning: Planning, start: str) -> dict[str, TopicRead]:
        """Return how each topic of a query is read."""
        limits = {topic: self.batch_limit(topic) for topic in self.topics(started)}
        by_one_time = _all_meet_by_event_time(started) or not _meet_by_event_time(started)
        in_step = len(limits) > 1 and by_one_time
        is_held = in_step and any(limit.is_exceeded for limit in limits.values())
        options = {"failOnDataLoss": str(not planning.skips_lost).lower()}
        return {
            topic: TopicRead(
                topic,
                columns=None,
                start=start,
                max_batch_records=limit.records,
                in_step=in_step,
                is_held=is_held,
                options=options,
            )
            for topic, limit in limits.items()
        }

    def _records(self, read: TopicRead) -> DataFrame:
        raw = read_raw(self.spark, self.connection, read)
        return raw.withColumn("$timestamp", F.unix_millis("timestamp"))

    def _places(self, started: Started, operators: Iterator[int]) -> Iterator[StatePlace]:
        most = max(self.partitions(topic) for topic in self.topics(started))
        for number in operators:
            folder = self.state(started.query).place(number)
            yield StatePlace(folder, most, notes_late=bool(started.late_topic))


def _sources(started: Started) -> list[Source]:
    return [read.source for read in step.reads_of(started.plan.step)]


def _meet_by_event_time(started: Started) -> bool:
    """Tell whether streams meet by times of their events which are not those of their records.

    An event and a table meet by when their records came.
    """
    streams = [source for source in _sources(started) if not source.is_table]
    return len(streams) > 1 and any(source.event_time is not None for source in streams)


def _all_meet_by_event_time(started: Started) -> bool:
    tables = any(source.is_table for source in _sources(started))
    return _meet_by_event_time(started) and not tables
