"""Streaming SQL against the same job by hand: one warm Spark application, runs interleaved."""

import statistics
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from confluent_kafka import Consumer, TopicPartition
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
_STATEMENTS = f"""
CREATE STREAM bids (k STRING KEY, {COLUMNS}) WITH (KAFKA_TOPIC='{SOURCE}', VALUE_FORMAT='JSON');
CREATE STREAM even AS SELECT k, {", ".join(KEPT)} FROM bids WHERE {CONDITION} EMIT CHANGES;
CREATE TABLE per_bidder AS SELECT bidder, COUNT(*) AS n, SUM(price) AS total FROM bids
  GROUP BY bidder EMIT CHANGES;
"""


@dataclass(frozen=True)
class Job:
    """A way to do a piece of work: started under a name, it writes a topic until it is stopped."""

    topic: str
    start: Callable[[str], object]


def run_sql(app: App, *, records: int, rounds: int, only: str = "") -> dict[str, Any]:
    """Compare filters with filters and groups with groups; the second of a pair is by hand."""
    app.topics.create(SOURCE, partitions=PARTITIONS)
    load(app.settings.kafka.addresses, SOURCE, records)
    runtime = pipeline.current().runtime
    filtered, grouped = (
        sql_job(started, app, runtime) for started in plan_queries(app, _STATEMENTS)
    )
    pairs = {
        "filter": (filtered, Job("sql-hand-filter", _filter_by_hand)),
        "group": (grouped, Job("sql-hand-group", _group_by_hand)),
    }
    results: dict[str, Any] = {}
    for name in (name for name in pairs if only in name):
        pair = pairs[name]
        results |= _compare(name, pair, app, runtime, records=records, rounds=rounds)
    return results


def plan_queries(app: App, statements: str) -> list[Started]:
    """Return the queries of the statements; their topics are made."""
    planner = Planner(app.functions, FormatRules(app.schemas), {})
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


def _filter_by_hand(name: str) -> None:
    rows = orion.stream(SOURCE, COLUMNS).where(CONDITION).select(*KEPT, "_key", "_timestamp")
    orion.to_topic(rows, "sql-hand-filter", name=name, mode="exactly_once")


def _group_by_hand(name: str) -> None:
    groups = orion.stream(SOURCE, COLUMNS).groupBy("bidder")
    rows = groups.agg(F.count("*").alias("n"), F.sum("price").alias("total"))
    topic = "sql-hand-group"
    orion.to_topic(rows, topic, key="bidder", name=name, mode="exactly_once", output_mode="update")


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
