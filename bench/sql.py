"""Streaming SQL against the same jobs by hand: one warm Spark application, runs interleaved."""

import statistics
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from rich.progress import track

from bench import by_hand
from bench.bids import COLUMNS, CONDITION, KEPT, load
from bench.measure import Cost, cost_of
from orion import pipeline
from orion.app import App
from orion.command import FormatRules, Preparation
from orion.process import LiveSql, Runtime, sql_session
from orion.sql import Catalogue, Planner, Started, parse_statements, tree

SOURCE, PARTITIONS = "sql-bids", 2
# Some jobs by hand serve two statements, and have run before: none shall gain from a warmer JVM.
_WARM_UPS, _LONGEST_S = 4, 300.0
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
    """A way to do a piece of work: started under a name, it writes a topic until it is stopped.

    Args:
        ends: Whether starting it is all: it returns when the work is done.
    """

    topic: str
    start: Callable[[str], object]
    ends: bool = False


def run_sql(app: App, *, records: int, rounds: int, only: str = "") -> dict[str, Any]:
    """Compare statements with the same work by hand, and by hand without Orion."""
    addresses = app.settings.kafka.addresses
    app.topics.create(SOURCE, partitions=PARTITIONS)
    load(addresses, SOURCE, records)
    runtime = pipeline.current().runtime
    group = f"{_TOTALS} FROM bids GROUP BY bidder"
    windows = f"{_TOTALS} FROM timed_bids {_TUMBLING} GROUP BY bidder"
    sessions = f"{_TOTALS} FROM timed_bids {_SESSION} GROUP BY bidder"
    works = {
        "filter": (
            _stream(f"SELECT k, {', '.join(KEPT)} FROM bids WHERE {CONDITION}"),
            by_hand.filter_bids,
        ),
        "group": (_table(group), by_hand.group),
        "group, last of a batch": (_table(group, _LAST), by_hand.group),
        "tumbling": (_table(windows), by_hand.tumbling),
        "tumbling, last of a batch": (_table(windows, _LAST), by_hand.tumbling),
        "session, final": (_table(f"{sessions} EMIT FINAL"), by_hand.session),
        "two streams": (_stream(_PAIRS), by_hand.pairs),
    }
    results: dict[str, Any] = {}
    for number, (name, (statement, work)) in enumerate(works.items()):
        if only not in name:
            continue
        (started,) = plan_queries(app, statement.text(number), statement.properties)
        jobs = {
            "by SQL": sql_job(started, app, runtime),
            "by hand": _hand_job(work, by_hand.OrionEnds(SOURCE), f"sql-hand-{number}"),
            "by Spark alone": replace(
                _hand_job(work, by_hand.SparkEnds(SOURCE, addresses), f"sql-spark-{number}"),
                ends=True,
            ),
        }
        results |= _compare(name, jobs, app, runtime, records=records, rounds=rounds)
    return results


def _hand_job(
    work: Callable[[by_hand.Ends, str, str], None], ends: by_hand.Ends, topic: str
) -> Job:
    return Job(topic, partial(work, ends, topic))


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
        runtime.batch_limit,
        partitions=lambda _: PARTITIONS,
        state_folder=str(app.settings.data_dir / "state"),
    )

    def start(name: str) -> None:
        own = replace(started, query=name)
        runtime.write_records(
            lambda ids: live.rows(own, ids),
            own.sink.topic,
            name=name,
            sources=live.sources(own),
        )

    return Job(started.sink.topic, start)


def _compare(
    name: str, jobs: Mapping[str, Job], app: App, runtime: Runtime, *, records: int, rounds: int
) -> dict[str, Any]:
    costs: dict[str, list[Cost]] = {how: [] for how in jobs}
    ways = list(jobs)
    for number in track(range(_WARM_UPS + rounds), name, transient=True):
        # Each goes first in its turn.
        turn = number % len(ways)
        for how in ways[turn:] + ways[:turn]:
            run = run_job(jobs[how], app, runtime, records)
            if number >= _WARM_UPS:
                costs[how].append(run.cost)
    runs = (_WARM_UPS + rounds) * records
    return {
        f"{name} {how}": _summary(how, costs, records)
        | {"output_per_input": round((app.topics.get(job.topic).records or 0) / runs, 3)}
        for how, job in jobs.items()
    }


@dataclass(frozen=True)
class Run:
    """What a run of a job came to.

    Args:
        cost: From the query's start until it has committed the end of its topic.
        pace: Records a second from the first commit on; 0 where nobody can see it.
    """

    cost: Cost
    pace: float


def run_job(job: Job, app: App, runtime: Runtime, records: int) -> Run:
    """Start a query and wait until it has committed the end of its topic."""
    name = f"bench-{uuid.uuid4().hex[:8]}"
    if job.ends:
        return Run(cost_of(partial(job.start, name)), 0.0)
    paces: list[float] = []

    def work() -> None:
        job.start(name)
        paces.append(_wait(name, app.settings.kafka.addresses, runtime, records))

    try:
        return Run(cost_of(work), paces[0])
    finally:
        # What it kept is cleared behind the measurement; Spark's own query keeps all of it.
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


def _summary(how: str, costs: Mapping[str, list[Cost]], records: int) -> dict[str, Any]:
    own = costs[how]
    cpu_s = statistics.median(cost.cpu_s for cost in own)
    summary: dict[str, Any] = {
        "records_per_s": round(records / statistics.median(cost.wall_s for cost in own)),
        "cpu_s_per_million": round(cpu_s / records * 1_000_000, 2),
    }
    for other in (way for way in costs if way != "by SQL"):
        pairs = list(zip(own, costs[other], strict=True))
        speed = statistics.median(b.wall_s / a.wall_s for a, b in pairs)
        cpu = statistics.median(a.cpu_s / b.cpu_s for a, b in pairs)
        summary |= {f"speed vs {other}": round(speed, 2), f"cpu vs {other}": round(cpu, 2)}
    return summary
