"""A query on Spark: started, delivering, stopped; one run between two failures."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from orion.lake import TableWrite
from orion.log import Connection, Outgoing, TopicTimes, TransactionalWriter
from orion.model import ConflictError, Mode, OrionError
from orion.process.batch import Batch, Delivery, Sink
from orion.process.checkpoint import Checkpoint
from orion.process.definition import Definition
from orion.process.each_batch import EachBatch
from orion.process.encode import TopicWrite, encode_rows
from orion.process.late import LateRoute
from orion.process.pace import Pace
from orion.process.plan import limits_in_step, makes_many_of_one, require_realtime
from orion.process.planning import Planning
from orion.process.sink import TUNED_SINK, SparkSink, TableSink, TransactionSink
from orion.process.stranger import read_progress

logger = logging.getLogger(__name__)

_REALTIME_TRIGGER = "org.apache.spark.sql.execution.streaming.RealTimeTrigger"
# Less than a supervisor's patience with a process that was told to stop.
_LAST_BATCH_S = 5.0
# Real-time batches checkpoint this often; between two checkpoints a crash repeats records.
_REALTIME_CHECKPOINT = "30 seconds"


class QueryStoppedError(ConflictError):
    """Raised into Spark when a batch comes after the query was told to stop."""

    def __init__(self, query: str) -> None:
        self.query = query
        super().__init__(f"Query '{query}' was stopped before this batch.")


@dataclass(frozen=True)
class Place:
    """Where a query keeps its progress and its dead letters."""

    connection: Connection
    checkpoint: str
    dead_letter_topic: str


class RunningQuery:
    """One run of a query. Spark calls `_deliver` in a thread of its own."""

    def __init__(self, definition: Definition, place: Place, planning: Planning) -> None:
        self._definition = definition
        self._planning = planning
        self._place = place
        self._checkpoint = Checkpoint(definition.name, place.checkpoint)
        self._writer = TransactionalWriter(place.connection, definition.name)
        self._spark: StreamingQuery | None = None
        self._started = threading.Event()
        self._delivering = threading.Lock()
        self._stopping = False
        self._pace: Pace | None = None
        self._each_batch: EachBatch | None = None
        self._ended = threading.Event()
        self.cause: BaseException | None = None
        self.batch = -1
        self.dead_letters = 0

    def start(self) -> None:
        """Take the checkpoint and the name, then start on Spark."""
        self._checkpoint.hold()
        try:
            self._writer.open()
            if self._definition.mode is Mode.REALTIME:
                self._spark = self._realtime()
            else:
                self._spark = self._micro_batches()
            self._started.set()
            if self._pace is not None:
                threading.Thread(target=self._begin_reading, daemon=True).start()
        except BaseException:
            self.close()
            raise

    @property
    def is_active(self) -> bool:
        """Whether Spark still runs it."""
        return self._spark is not None and bool(self._spark.isActive)

    @property
    def failure(self) -> BaseException | None:
        """Why it ended, if it was not asked to."""
        if self.is_active or self._stopping:
            return None
        return self.cause or (self._spark.exception() if self._spark is not None else None)

    @property
    def progress(self) -> Mapping[str, Any]:
        """What Spark last reported, as its JSON; nothing when its JVM is gone."""
        try:
            return {} if self._spark is None else read_progress(self._spark)
        except (Py4JError, OSError):
            return {}

    @property
    def plan(self) -> str:
        """The physical plan of the last batch, in Spark's words; empty before the first."""
        try:
            text = "" if self._spark is None else self._spark._jsq.explainInternal(False)  # noqa: SLF001
        except (Py4JError, OSError):
            return ""
        return str(text) if "Physical Plan" in str(text) else ""

    def stop(self) -> None:
        """End after the batch that is being delivered; one that takes too long is given up.

        What it wrote is in an open transaction, which the next run aborts.
        """
        held = self._delivering.acquire(timeout=_LAST_BATCH_S)
        self._stopping = True
        if held:
            self._delivering.release()
        if self._spark is not None:
            try:
                self._spark.stop()
            except (Py4JError, OSError) as error:
                # The JVM is gone, and the query with it: a signal reached both processes.
                logger.debug("no JVM to stop: %s", error)
        self.close()

    def close(self) -> None:
        """Let go of the checkpoint and the producer."""
        self._ended.set()
        if self._each_batch is not None:
            self._each_batch.end(QueryStoppedError(self._definition.name))
        self._writer.close()
        self._checkpoint.release()

    def _micro_batches(self) -> StreamingQuery:
        rows = self._definition.rows(self._planning)
        limits = limits_in_step(rows)
        if limits:
            times = TopicTimes(self._place.connection, self._definition.event_times)
            self._pace = Pace(rows.sparkSession, limits, times)
        sink = self._sink(rows)
        delivery = Delivery(
            self._definition.name,
            self._writer,
            sink,
            dead_letter_topic=self._place.dead_letter_topic,
            late=self._late(),
        )
        if isinstance(self._definition.sink, TopicWrite):
            rows = encode_rows(rows, self._definition.sink)

        def deliver(batch_rows: DataFrame, number: int) -> None:
            self._deliver(delivery, batch_rows, number)

        writer = self._stream_writer(rows)
        self._each_batch = EachBatch(rows.sparkSession, deliver)
        self._each_batch.attach(writer)
        if self._definition.once:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{self._definition.trigger_ms} milliseconds").start()

    def _begin_reading(self) -> None:
        """Let sources that are read in step begin; the query ends if they cannot."""
        assert self._pace is not None
        assert self._spark is not None
        try:
            self._pace.begin(self._spark._jsq.streamingQuery(), self._ended)  # noqa: SLF001
        except (OrionError, Py4JError, OSError) as error:
            if not self._ended.is_set():
                self.cause = error
                # With its JVM gone, the query has ended anyway.
                with suppress(Py4JError, OSError):
                    self._spark.stop()

    def _late(self) -> Callable[[int], Sequence[Outgoing]] | None:
        state = self._definition.state
        if state is None or not state.late_topic:
            return None
        return LateRoute(self._definition.name, self._place.connection, state).outgoing

    def _sink(self, rows: DataFrame) -> Sink:
        target = self._definition.sink
        if isinstance(target, TableWrite):
            return TableSink(target)
        if self._definition.mode is Mode.EXACTLY_ONCE:
            # What it made may be what ended the run that left it.
            likely_large = int(self._checkpoint.has_open_batch())
            folder = self._checkpoint.folder("large")
            return TransactionSink(
                target.topic,
                folder,
                limits_rows=makes_many_of_one(rows),
                likely_large=likely_large,
            )
        return SparkSink(target.topic, self._place.connection.spark_options())

    def _deliver(self, delivery: Delivery, rows: DataFrame, number: int) -> None:
        self._started.wait()
        assert self._spark is not None
        execution = self._spark._jsq.streamingQuery()  # noqa: SLF001
        with self._delivering:
            if self._stopping:
                # Returning would tell Spark that the batch is done.
                raise QueryStoppedError(self._definition.name)
            try:
                batch = Batch(number, execution, self._definition.name, may_repeat=self.batch < 0)
                done = delivery.deliver(rows, batch)
                if self._definition.state is not None:
                    self._definition.state.note(number)
                if self._pace is not None:
                    self._pace.go_on(execution, batch.ends)
            except BaseException as error:
                self.cause = error
                raise
            self.batch = number
            self.dead_letters += done.dead_letters

    def _realtime(self) -> StreamingQuery:
        target = self._definition.sink
        assert isinstance(target, TopicWrite)
        rows = self._definition.rows(self._planning)
        require_realtime(rows, self._definition.name)
        encoded = encode_rows(rows, target)
        kept = [name for name in ("key", "value", "headers") if name in encoded.columns]
        writer = self._stream_writer(encoded.select(*kept)).format("kafka")
        options = {**TUNED_SINK, "kafka.linger.ms": "0", **self._place.connection.spark_options()}
        writer = writer.options(**options).option("topic", target.topic).outputMode("update")
        # PySpark 4.1 has no keyword for this trigger.
        jvm = rows.sparkSession._jvm  # noqa: SLF001
        trigger = getattr(jvm, _REALTIME_TRIGGER).apply(_REALTIME_CHECKPOINT)
        writer._jwrite = writer._jwrite.trigger(trigger)  # noqa: SLF001
        return writer.start()

    def _stream_writer(self, rows: DataFrame) -> DataStreamWriter:
        writer = rows.writeStream.queryName(self._definition.name)
        writer = writer.outputMode(self._definition.output_mode)
        return writer.option("checkpointLocation", self._place.checkpoint)
