"""One Spark application and its queries: starts them, watches them, tells the log how they are."""

import logging
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from orion.config import EngineSettings
from orion.lake import Lake, TableWrite, check_columns
from orion.log import (
    Connection,
    DeadLetters,
    GroupNotFoundError,
    Groups,
    OrderLog,
    ReadTime,
    TopicExistsError,
    TopicNotFoundError,
    Topics,
    create_own_topics,
)
from orion.model import (
    ConflictError,
    Mode,
    OrionError,
    QueryStatus,
    State,
    parse_duration_ms,
)
from orion.process.announcement import Announcements
from orion.process.checkpoint import remove_checkpoint
from orion.process.decoding import plan_for_known
from orion.process.definition import Definition, Keeper, check_name
from orion.process.encode import RECORDS, TopicWrite, encode_rows
from orion.process.lost import committed_offsets
from orion.process.plan import keeps_state, require_realtime, topics_read
from orion.process.planning import BatchLimit, BuildRows
from orion.process.query import Query, RestartPolicy
from orion.process.running import Place
from orion.process.session import jvm_end, require_jvm
from orion.process.source import TopicRead, read_dead_letters, read_topic
from orion.process.stranger import Strangers

logger = logging.getLogger(__name__)

_STEP_S = 0.25
# Kept until someone deals with them; larger than what the source may hold, for their headers.
_DEAD_LETTER_TOPIC = {"retention.ms": "-1"}


class QueryExistsError(ConflictError):
    """Raised when an application names two queries alike."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"This application already has a query '{name}'.",
            fix="Give one of them another name=….",
        )


@dataclass(frozen=True)
class Rooms:
    """What a runtime works with."""

    spark: SparkSession
    connection: Connection
    lake: Lake
    settings: EngineSettings
    checkpoints: str


class Runtime:
    """The queries of one application. Methods may be called from any thread."""

    def __init__(self, rooms: Rooms, *, app: str) -> None:
        self._rooms = rooms
        self._app = app
        self._queries: dict[str, Query] = {}
        self._realtime_reads: dict[str, TopicRead] = {}
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._announcements = Announcements(rooms.connection, app=app)
        self._topics = Topics(rooms.connection)
        self._dead_letters = DeadLetters(rooms.connection, rooms.settings.dead_letter_suffix)
        self._strangers = Strangers(rooms.spark, rooms.connection, app=app)

    @property
    def spark(self) -> SparkSession:
        """The Spark session of this application."""
        return self._rooms.spark

    @property
    def lake(self) -> Lake:
        """The lake that tables go to."""
        return self._rooms.lake

    @property
    def default_mode(self) -> Mode:
        """The mode of queries that name none."""
        return Mode(self._rooms.settings.mode)

    def read(self, read: TopicRead) -> DataFrame:
        """Return a topic as a streaming DataFrame."""
        if not self._topics.exists(read.topic):
            raise TopicNotFoundError(read.topic, self._topics.names())
        if read.native:
            self._realtime_reads[read.topic] = read
        read = replace(read, max_batch_records=self.batch_limit(read.topic).records)
        return read_topic(self._rooms.spark, self._rooms.connection, read)

    def batch_limit(self, topic: str) -> BatchLimit:
        """Return how many records of a topic a batch may hold."""
        return BatchLimit.of(self._topics.get(topic), self._rooms.settings)

    def write_topic(
        self,
        df: DataFrame,
        write: TopicWrite,
        *,
        name: str,
        mode: Mode,
        output_mode: str,
        once: bool,
    ) -> Query:
        """Start a query that writes rows to a topic, which is made where it is missing."""
        encode_rows(df, write)
        sources = topics_read(df)
        if mode is Mode.REALTIME:
            require_realtime(df, name)
        self._create_topic(write.topic, like=sources)
        definition = self._definition(plan_for_known(df), write, name, mode, once)
        definition = replace(definition, output_mode=output_mode, sink_name=f"topic {write.topic}")
        query = self._start(definition, sources)
        if mode is Mode.REALTIME:
            self._start_dead_letters(name, sources)
        return query

    def write_table(
        self, df: DataFrame, table: str, *, write: TableWrite, name: str, once: bool
    ) -> Query:
        """Start a query that writes rows to a table."""
        check_columns(df.columns, write, one_row_per_key=keeps_state(df))
        definition = self._definition(plan_for_known(df), write, name, Mode.EXACTLY_ONCE, once)
        output_mode = "update" if write.key else "append"
        definition = replace(definition, sink_name=f"table {table}", output_mode=output_mode)
        return self._start(definition, topics_read(df))

    def write_records(
        self,
        rows: BuildRows,
        topic: str,
        *,
        name: str,
        sources: Mapping[str, ReadTime | None],
        letters: str = "",
        state: Keeper | None = None,
    ) -> Query:
        """Start a query whose rows are records of a topic already; a refusal becomes its status.

        Args:
            rows: Builds them; called again whenever the query is planned anew.
            sources: The topics that they come from, and what reads the times that these are read in
                step by, where they are not the log's own.
            letters: The topic of its dead letters; empty: one of its own.
            state: What it keeps beside its checkpoint.
        """
        write = TopicWrite(topic, format=RECORDS)
        definition = self._definition(rows, write, name, Mode.EXACTLY_ONCE, False)
        definition = replace(definition, sink_name=f"topic {topic}", state=state)
        times = {source: read for source, read in sources.items() if read is not None}
        definition = replace(definition, event_times=times)
        return self._start(definition, tuple(sources), letters=letters, must_start=False)

    def refuse(self, name: str, error: Exception, *, state: State = State.FAILED) -> None:
        """Say of a query that could not even be started why that is."""
        with self._lock:
            self._announcements.refuse(name, error, state=state)

    def remove(self, name: str, *, forget: bool = False) -> None:
        """Stop a query; forgotten, it leaves nothing but what it wrote."""
        with self._lock:
            query = self._queries.pop(name, None)
            if query is not None:
                query.stop()
            if forget:
                self._announcements.forget(name)
                remove_checkpoint(self._checkpoint(name))
                self._clear_log(name)
            else:
                self._announcements.end(name, None if query is None else query.status)

    def _clear_log(self, name: str) -> None:
        """Remove a query's offsets, which would seem to lag for ever, and an empty letter box."""
        letters = self._dead_letters.topic(name)
        try:
            with suppress(GroupNotFoundError):
                Groups(self._rooms.connection).delete(name)
            with suppress(TopicNotFoundError):
                if self._topics.get(letters).records == 0:
                    self._topics.delete(letters)
        except OrionError as error:
            logger.warning("query %s is gone, but not all of it: %s", name, error)

    @property
    def checkpoints(self) -> str:
        """Where the progress of queries is kept, a folder a query."""
        return self._rooms.checkpoints

    def _checkpoint(self, name: str) -> str:
        return f"{self.checkpoints.rstrip('/')}/{name}"

    def statuses(self) -> list[QueryStatus]:
        """Return how each query is."""
        with self._lock:
            return [query.status for query in self._queries.values()]

    def wait(self, *, until_stopped: bool = True) -> list[QueryStatus]:
        """Block until no query is active, or forever when told so; return how each ended.

        An end of Spark's JVM, which ends all queries at once, is raised.
        """
        while not self._ended.wait(_STEP_S):
            require_jvm(self._rooms.spark)
            active = any(status.state.is_active for status in self.statuses())
            if until_stopped and not active and not self._strangers.active():
                break
        return self.statuses()

    @property
    def has_ended(self) -> bool:
        """Whether it was told to stop."""
        return self._ended.is_set()

    def stop(self) -> None:
        """Stop every query after its current batch, and say so."""
        self._ended.set()
        for thread in self._threads:
            thread.join(timeout=10)
        with self._lock:
            for query in self._queries.values():
                query.stop()
            self._publish(force=True)
        self._announcements.flush()

    def take(self, verb: str, name: str) -> None:
        """Carry out an order from the log, if the query is one of ours."""
        with self._lock:
            query = self._queries.get(name)
            if query is None:
                return
            logger.info("order: %s %s", verb, name)
            if verb in ("stop", "restart", "rebuild", "skip"):
                query.stop()
            if verb == "rebuild" and query.definition.state is not None:
                done = committed_offsets(self._rooms.connection, name)
                query.definition.state.begin_anew(done)
                remove_checkpoint(self._checkpoint(name))
            if verb in ("restart", "rebuild", "skip"):
                query.restart(skips_lost=verb == "skip")

    def warm_up(self) -> None:
        """Run a first small job, so that the first query does not pay for Spark's start."""
        self._rooms.spark.range(1).selectExpr("to_json(struct(id))").toArrow()

    def watch(self) -> None:
        """Begin to look after queries, those of plain Spark code included; once."""
        if self._threads:
            return
        create_own_topics(self._rooms.connection)
        orders = OrderLog(self._rooms.connection)
        self._threads = [
            threading.Thread(target=self._look_after, name="orion-queries", daemon=True),
            threading.Thread(target=orders.follow, args=(self.take, self._ended), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _definition(
        self,
        rows: BuildRows,
        sink: TopicWrite | TableWrite,
        name: str,
        mode: Mode,
        once: bool,
    ) -> Definition:
        return Definition(
            name=check_name(name),
            rows=rows,
            sink=sink,
            mode=mode,
            sink_name="",
            once=once,
            trigger_ms=parse_duration_ms(self._rooms.settings.trigger),
        )

    def _start(
        self,
        definition: Definition,
        sources: tuple[str, ...],
        *,
        letters: str = "",
        must_start: bool = True,
    ) -> Query:
        name, settings = definition.name, self._rooms.settings
        letters = letters or self._dead_letters.topic(name)
        # The topics that every query may write to are there before the first batch.
        self.watch()
        self._create_topic(letters, configs=_DEAD_LETTER_TOPIC)
        if definition.state is not None and definition.state.late_topic:
            late = definition.state.late_topic
            self._create_topic(late, like=sources, configs=_DEAD_LETTER_TOPIC)
        place = Place(self._rooms.connection, self._checkpoint(name), letters)
        query = Query(definition, place, RestartPolicy.from_settings(settings), app=self._app)
        with self._lock:
            if name in self._queries and self._queries[name].status.state.is_active:
                raise QueryExistsError(name)
            self._strangers.own.add(name)
            if must_start:
                query.start(sources)
            else:
                query.attempt(sources)
            self._queries[name] = query
        return query

    def _start_dead_letters(self, query: str, sources: Sequence[str]) -> None:
        """Start the queries that set aside what a real-time query cannot read."""
        for topic in sources:
            read = self._realtime_reads.get(topic)
            if read is None:
                continue
            rooms = self._rooms
            df = read_dead_letters(rooms.spark, rooms.connection, read, query=query)
            write = TopicWrite(self._dead_letters.topic(query), format="raw")
            name = f"{query}.bad.{topic}"
            own = self._definition(_always(df), write, name, Mode.EXACTLY_ONCE, False)
            own = replace(own, sink_name=f"topic {write.topic}", trigger_ms=500)
            self._start(own, (topic,), letters=write.topic)

    def _create_topic(
        self, name: str, *, like: Sequence[str] = (), configs: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic with as many partitions as the largest it is fed from."""
        if self._topics.exists(name):
            return
        counts = [len(self._topics.get(topic).partitions) for topic in like]
        try:
            most = max(counts, default=1)
            self._topics.create(name, partitions=most, configs=configs, is_open=True)
        except TopicExistsError:
            return

    def _look_after(self) -> None:
        while not self._ended.wait(_STEP_S):
            try:
                with self._lock:
                    for query in self._queries.values():
                        query.step()
                    self._publish()
            except OrionError as error:
                logger.warning("%s", error)
            except (Py4JError, OSError) as error:
                # Of a JVM that is gone tells whoever waits for its queries.
                if jvm_end(self._rooms.spark) is None:
                    logger.warning("queries cannot be looked at: %s", error)

    def _publish(self, *, force: bool = False) -> None:
        """Say what has changed, and that the rest still lives."""
        self._announcements.say_plans(self._queries.values())
        known = {name: query.status for name, query in self._queries.items()}
        self._announcements.say({**known, **self._strangers.look()}, force=force)


def _always(df: DataFrame) -> BuildRows:
    """Return rows that the caller has built, which cannot be planned anew."""
    return lambda _: df
