"""Statements that need state, exactly once from Kafka to Kafka: pace and CPU of each."""

import json
import statistics
from typing import Any

from confluent_kafka import Producer
from rich.progress import track

from bench.bids import COLUMNS, load
from bench.sql import PARTITIONS, SOURCE, plan_queries, run_job, sql_job
from orion import pipeline
from orion.app import App

# The JVM compiles beside the first runs of a query: 14, 6, 4 CPU-s in these, 2 to 3 in later ones.
_WARM_UPS = 3
# How many rows the tables that are joined have, by their topics.
ROWS = {"sql-few": 10_000, "sql-many": 1_000_000}
_STREAM = f"(k STRING KEY, {COLUMNS}) WITH (KAFKA_TOPIC='{SOURCE}', VALUE_FORMAT='JSON'"
_SOURCES = f"""
CREATE STREAM bids {_STREAM}, TIMESTAMP='dateTime');
CREATE TABLE last_bids (k STRING PRIMARY KEY, {COLUMNS})
  WITH (KAFKA_TOPIC='{SOURCE}', VALUE_FORMAT='JSON');
CREATE TABLE few (id BIGINT PRIMARY KEY, name STRING)
  WITH (KAFKA_TOPIC='sql-few', VALUE_FORMAT='JSON');
CREATE TABLE many (id BIGINT PRIMARY KEY, name STRING)
  WITH (KAFKA_TOPIC='sql-many', VALUE_FORMAT='JSON');
"""
_GROUP = "COUNT(*) AS n, SUM(price) AS total FROM bids"
_TABLE = "COUNT(*) AS n, SUM(price) AS total FROM last_bids"
_MINUTE, _SESSION = "WINDOW TUMBLING (SIZE 1 MINUTE)", "WINDOW SESSION (10 SECONDS)"
_JOINED = "b.price AS price, t.name AS name FROM bids b"
# Prices are spread over ten millions.
_MANY = "price % 1000000"
QUERIES = {
    "group, 10,000 keys": f"SELECT bidder, {_GROUP} GROUP BY bidder",
    "group, 1,000,000 keys": f"SELECT {_MANY} AS p, {_GROUP} GROUP BY {_MANY}",
    "group of a table": f"SELECT bidder, {_TABLE} GROUP BY bidder",
    "group of a table, 1,000,000 keys": f"SELECT {_MANY} AS p, {_TABLE} GROUP BY {_MANY}",
    "tumbling window": f"SELECT bidder, {_GROUP} {_MINUTE} GROUP BY bidder",
    "tumbling window, 1,000,000 keys": f"SELECT {_MANY} AS p, {_GROUP} {_MINUTE} GROUP BY {_MANY}",
    "session window": f"SELECT bidder, {_GROUP} {_SESSION} GROUP BY bidder",
    "session window, 1,000,000 keys": f"SELECT {_MANY} AS p, {_GROUP} {_SESSION} GROUP BY {_MANY}",
    "stream-table join": f"SELECT b.bidder AS bidder, {_JOINED} JOIN few t ON b.bidder = t.id",
    # Its million rows are read beside the bids.
    "stream-table join, 1,000,000 keys": f"SELECT t.id, {_JOINED} JOIN many t ON b.{_MANY} = t.id",
}


def run_sql_state(app: App, *, records: int, rounds: int, only: str) -> dict[str, Any]:
    """Run each query some times, after some to warm up."""
    # Bids are of some day in the past: what is made of them is kept as they are.
    app.topics.create(SOURCE, partitions=PARTITIONS, configs={"retention.ms": "-1"})
    addresses = app.settings.kafka.addresses
    load(addresses, SOURCE, records)
    for topic, rows in ROWS.items():
        # Its records are older than all bids, and must not be too old to keep.
        app.topics.create(topic, partitions=PARTITIONS, configs={"retention.ms": "-1"})
        _load_rows(addresses, topic, rows)
    chosen = {name: query for name, query in QUERIES.items() if only in name}
    created = (
        f"CREATE {'STREAM' if 'JOIN' in query else 'TABLE'} made{number} AS {query} EMIT CHANGES;"
        for number, query in enumerate(chosen.values())
    )
    queries = plan_queries(app, _SOURCES + "".join(created))
    return {
        name: _measure(app, started, records, rounds)
        for name, started in track([*zip(chosen, queries, strict=True)], "state", transient=True)
    }


def _measure(app: App, started: Any, records: int, rounds: int) -> dict[str, Any]:
    runtime = pipeline.current().runtime
    job = sql_job(started, app, runtime)
    runs = [run_job(job, app, runtime, records) for _ in range(_WARM_UPS + rounds)]
    measured = runs[_WARM_UPS:]
    cpu_s = statistics.median(run.cost.cpu_s for run in measured)
    written = (app.topics.get(job.topic).records or 0) / (_WARM_UPS + rounds) / records
    return {
        "records_per_s": round(statistics.median(run.pace for run in measured)),
        "cpu_s_per_million": round(cpu_s / records * 1_000_000, 2),
        "output_per_input": round(written, 3),
    }


def _load_rows(addresses: str, topic: str, rows: int) -> None:
    most = {"queue.buffering.max.messages": 2_000_000}
    producer = Producer({"bootstrap.servers": addresses, "linger.ms": 50, **most})
    for number in range(rows):
        value = json.dumps({"name": f"bidder {number}"}).encode()
        producer.produce(topic, value, key=number.to_bytes(8, "big"), timestamp=1)
        producer.poll(0)
    producer.flush()
