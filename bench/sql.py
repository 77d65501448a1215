"""Streaming SQL against the same job by hand: one warm Spark application, runs interleaved."""

import statistics
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F  # noqa: N812

import orion
from bench.bids import COLUMNS, CONDITION, KEPT, load
from bench.measure import Cost, cost_of
from orion import pipeline
from orion.app import App
from orion.command import FormatRules, Preparation
from orion.process import LiveSql, Runtime, sql_session
from orion.sql import Catalogue, Planner, Started, parse_statements, tree

SOURCE, PARTITIONS = "sql-bids", 2
_WARM_UPS, _LONGEST_S = 2, 300.0
_BIDS = f"(k STRING KEY, {COLUMNS}) WITH (KAFKA_TOPIC='{SOURCE}', VALUE_FORMAT='JSON'"
_SOURCES = f"""
CREATE STREAM bids {_BIDS});
CREATE STREAM timed_bids {_BIDS}, TIMESTAMP='dateTime');
CREATE STREAM same_bids {_BIDS}, TIMESTAMP='dateTime');
"""
_TOTALS = "SELECT bidder, COUNT(*) AS n, SUM(price) AS total"
_TUMBLING = "WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 1 MINUTE)"
_PAIRS = (
    "SELECT a.bidder AS bidder, a.price AS price, b.price AS other"
    " FROM timed_bids a JOIN same_bids b WITHIN 500 MILLISECONDS GRACE PERIOD 1 MINUTE"
    " ON a.bidder = b.bidder"
)
_SESSION = "WINDOW SESSION (10 SECONDS, GRACE PERIOD 1 MINUTE)"
# A change for every record, as streaming SQL has it, and the last of each group in a batch.
_EVERY, _LAST = {"cache.max.bytes.buffering": "0"}, {"cache.max.bytes.buffering": "10000000"}


@dataclass(frozen=True)
class Job:
    """A way to do a piece of work: started under a name, it writes a topic until it is stopped."""

    topic: str
    start: Callable[[str], object]


def run_sql(app: App, *, records: int, rounds: int, only: str = "") -> dict[str, Any]:
    """Compare statements with Spark's own operators; the second of a pair is by hand."""
    app.topics.create(SOURCE, partitions=PARTITIONS)
    load(app.settings.kafka.addresses, SOURCE, records)
    runtime = pipeline.current().runtime
    group = f"{_TOTALS} FROM bids GROUP BY bidder"
    windows = f"{_TOTALS} FROM timed_bids {_TUMBLING} GROUP BY bidder"
    sessions = f"{_TOTALS} FROM timed_bids {_SESSION} GROUP BY bidder"
    works = {
        "filter": (_stream(f"SELECT k, {', '.join(KEPT)} FROM bids WHERE {CONDITION}"), _filter),
        "group": (_table(group), _group),
        "group, last of a batch": (_table(group, _LAST), _group),
        "tumbling": (_table(windows), _tumbling),
        "tumbling, last of a batch": (_table(windows, _LAST), _tumbling),
        "session, final": (_table(f"{sessions} EMIT FINAL"), _session),
        "two streams": (_stream(_PAIRS), _pairs),
    }
    pairs: dict[str, tuple[Job, Job]] = {}
    for number, (name, (statement, by_hand)) in enumerate(works.items()):
        (started,) = plan_queries(app, statement.text(number), statement.properties)
        topic = f"sql-hand-{number}"
        pairs[name] = sql_job(started, app, runtime), Job(topic, partial(by_hand, topic))
    results: dict[str, Any] = {}
    for name in (name for name in pairs if only in name):
        results |= _compare(name, pairs[name], app, runtime, records=records, rounds=rounds)
    return results


@dataclass(frozen=True)
class Statement:
    """A query, and what it makes."""

    kind: str
    query: str
    properties: Mapping[str, str]

    def text(self, number: int) -> str:
        """Return the statements that make it, under a name of its own."""
        return f"{_SOURCES} CREATE {self.kind} made_{number} AS {self.query};"


def _stream(query: str) -> Statement:
    return Statement("STREAM", query, _EVERY)


def _table(query: str, properties: Mapping[str, str] = _EVERY) -> Statement:
    return Statement("TABLE", query, properties)


def plan_queries(
    app: App, statements: str, properties: Mapping[str, str] | None = None
) -> list[Started]:
    """Return the queries of the statements; their topics are made."""
    planner = Planner(app.functions, FormatRules(app.schemas), properties or {})
    preparation = Preparation(app.topics, app.schemas)
    catalogue, queries = Catalogue(), []
    for number, statement in enumerate(parse_statements(statements)):
        assert isinstance(statement, tree.CreateSource | tree.CreateAs)
        change = planner.plan(statement, catalogue, number=number)
        preparation.prepare(change)
        catalogue = change.apply(catalogue)
        if isinstance(change, Started):
            queries.append(change)
    return queries


def sql_job(started: Started, app: App, runtime: Runtime) -> Job:
    live = LiveSql(
        sql_session(runtime.spark),
        app.connection,
        app.functions,
        app.schemas,
        runtime.batch_records,
        partitions=lambda _: PARTITIONS,
        state_folder=str(app.settings.data_dir / "state"),
    )

    def start(name: str) -> None:
        own = replace(started, query=name)
        runtime.write_records(
            lambda ids: live.rows(own, ids),
            own.sink.topic,
            name=name,
            sources=live.topics(own),
        )

    return Job(started.sink.topic, start)


def _filter(topic: str, name: str) -> None:
    rows = orion.stream(SOURCE, COLUMNS).where(CONDITION).select(*KEPT, "_key", "_timestamp")
    orion.to_topic(rows, topic, name=name, mode="exactly_once")


def _group(topic: str, name: str) -> None:
    rows = _totals(orion.stream(SOURCE, COLUMNS).groupBy("bidder"))
    _write(rows, topic, name, key=("bidder",))


def _tumbling(topic: str, name: str) -> None:
    windows = _timed().groupBy(F.window("at", "1 minute").alias("w"), "bidder")
    rows = _totals(windows).select("bidder", F.col("w.start").alias("start"), "n", "total")
    _write(rows, topic, name, key=("bidder", "start"))


def _session(topic: str, name: str) -> None:
    sessions = _timed().groupBy(F.session_window("at", "10 seconds").alias("w"), "bidder")
    rows = _totals(sessions).select("bidder", F.col("w.start").alias("start"), "n", "total")
    # Spark has no sessions in update mode.
    _write(rows, topic, name, key=("bidder", "start"), output_mode="append")


def _pairs(topic: str, name: str) -> None:
    """Join each bid with those of its bidder that came in the half second around it."""
    left, right = (_timed().alias(side) for side in "ab")
    near = F.expr(
        "a.bidder = b.bidder AND b.at >= a.at - INTERVAL 500 MILLISECONDS"
        " AND b.at <= a.at + INTERVAL 500 MILLISECONDS"
    )
    rows = left.join(right, near).select("a.bidder", "a.price", F.col("b.price").alias("other"))
    _write(rows, topic, name, key=("bidder",), output_mode="append")


def _timed() -> DataFrame:
    rows = orion.stream(SOURCE, COLUMNS).withColumn("at", F.timestamp_millis("dateTime"))
    return rows.select(*KEPT, "at").withWatermark("at", "1 minute")


def _totals(groups: GroupedData) -> DataFrame:
    return groups.agg(F.count("*").alias("n"), F.sum("price").alias("total"))


def _write(
    rows: DataFrame, topic: str, name: str, *, key: Sequence[str], output_mode: str = "update"
) -> None:
    mode = "exactly_once"
    orion.to_topic(rows, topic, key=key, name=name, mode=mode, output_mode=output_mode)


def _compare(
    name: str, pair: tuple[Job, Job], app: App, runtime: Runtime, *, records: int, rounds: int
) -> dict[str, Any]:
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    for number in range(_WARM_UPS + rounds):
        # Each goes first every other time.
        for place in (0, 1) if number % 2 else (1, 0):
            cost = cost_of(partial(run_job, pair[place], app, runtime, records))
            if number >= _WARM_UPS:
                costs[place].append(cost)
    runs = (_WARM_UPS + rounds) * records
    return {
        f"{name} {how}": _summary(own, costs[1], records)
        | {"output_per_input": round((app.topics.get(job.topic).records or 0) / runs, 3)}
        for how, job, own in zip(("by SQL", "by hand"), pair, costs, strict=True)
    }


def run_job(job: Job, app: App, runtime: Runtime, records: int) -> float:
    """Start a query, wait until it has committed the end of its topic; tell its pace.

    That is records a second from the first commit on, without the start of the query.
    """
    name = f"bench-{uuid.uuid4().hex[:8]}"
    job.start(name)
    try:
        return _wait(name, app.settings.kafka.addresses, runtime, records)
    finally:
        runtime.remove(name, forget=True)


def _wait(name: str, addresses: str, runtime: Runtime, records: int) -> float:
    partitions = [TopicPartition(SOURCE, number) for number in range(PARTITIONS)]
    deadline = time.monotonic() + _LONGEST_S
    with closing(Consumer({"bootstrap.servers": addresses, "group.id": name})) as reader:
        first: tuple[float, int] | None = None
        while (done := sum(max(0, p.offset) for p in reader.committed(partitions))) < records:
            if done and first is None:
                first = time.monotonic(), done
            error = next((s.error for s in runtime.statuses() if s.name == name and s.error), "")
            if error or time.monotonic() > deadline:
                raise RuntimeError(error or f"{name} did not end in {_LONGEST_S:g} s")
            time.sleep(0.02)
    if first is None:
        return 0.0
    return (records - first[1]) / (time.monotonic() - first[0])


def _summary(own: list[Cost], by_hand: list[Cost], records: int) -> dict[str, Any]:
    pairs = list(zip(own, by_hand, strict=True))
    cpu_s = statistics.median(cost.cpu_s for cost in own)
    return {
        "records_per_s": round(records / statistics.median(cost.wall_s for cost in own)),
        "cpu_s_per_million": round(cpu_s / records * 1_000_000, 2),
        "speed vs by hand": round(statistics.median(b.wall_s / a.wall_s for a, b in pairs), 2),
        "cpu vs by hand": round(statistics.median(a.cpu_s / b.cpu_s for a, b in pairs), 2),
    }
