"""Statements that need state, exactly once from Kafka to Kafka: pace and CPU of each."""

import json
import statistics
from typing import Any

from confluent_kafka import Producer

from bench.bids import COLUMNS, load
from bench.measure import cost_of
from bench.sql import PARTITIONS, SOURCE, plan_queries, run_job, sql_job
from orion import pipeline
from orion.app import App

BIDDERS, TABLE = 10_000, "sql-bidders"
_STREAM = f"(k STRING KEY, {COLUMNS}) WITH (KAFKA_TOPIC='{SOURCE}', VALUE_FORMAT='JSON'"
_SOURCES = f"""
CREATE STREAM bids {_STREAM}, TIMESTAMP='dateTime');
CREATE TABLE last_bids (k STRING PRIMARY KEY, {COLUMNS})
  WITH (KAFKA_TOPIC='{SOURCE}', VALUE_FORMAT='JSON');
CREATE TABLE bidders (id BIGINT PRIMARY KEY, name STRING)
  WITH (KAFKA_TOPIC='{TABLE}', VALUE_FORMAT='JSON');
"""
_GROUP = "COUNT(*) AS n, SUM(price) AS total FROM bids"
QUERIES = {
    "group, 10,000 keys": f"SELECT bidder, {_GROUP} GROUP BY bidder",
    "group, 1,000,000 keys": f"SELECT price % 1000000 AS p, {_GROUP} GROUP BY price % 1000000",
    "group of a table": "SELECT auction, COUNT(*) AS n, SUM(price) AS total FROM last_bids"
    " GROUP BY auction",
    "tumbling window": f"SELECT bidder, {_GROUP} WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY bidder",
    "session window": f"SELECT bidder, {_GROUP} WINDOW SESSION (10 SECONDS) GROUP BY bidder",
    "stream-table join": "SELECT b.bidder AS bidder, b.price AS price, t.name AS name"
    " FROM bids b JOIN bidders t ON b.bidder = t.id",
}


def run_sql_state(app: App, *, records: int, rounds: int, only: str) -> dict[str, Any]:
    """Run each query some times, after once to warm up."""
    app.topics.create(SOURCE, partitions=PARTITIONS)
    # Its records are older than all bids, and must not be too old to keep.
    app.topics.create(TABLE, partitions=PARTITIONS, configs={"retention.ms": "-1"})
    load(app.settings.kafka.addresses, SOURCE, records)
    _load_bidders(app.settings.kafka.addresses)
    chosen = {name: query for name, query in QUERIES.items() if only in name}
    created = (
        f"CREATE {'STREAM' if 'JOIN' in query else 'TABLE'} made{number} AS {query} EMIT CHANGES;"
        for number, query in enumerate(chosen.values())
    )
    queries = plan_queries(app, _SOURCES + "".join(created))
    return {
        name: _measure(app, started, records, rounds)
        for name, started in zip(chosen, queries, strict=True)
    }


def _measure(app: App, started: Any, records: int, rounds: int) -> dict[str, Any]:
    runtime = pipeline.current().runtime
    job = sql_job(started, app, runtime)
    paces: list[float] = []
    cpu: list[float] = []
    for number in range(1 + rounds):
        cost = cost_of(lambda: paces.append(run_job(job, app, runtime, records)))
        if number:
            cpu.append(cost.cpu_s)
    written = (app.topics.get(job.topic).records or 0) / (1 + rounds) / records
    return {
        "records_per_s": round(statistics.median(paces[1:])),
        "cpu_s_per_million": round(statistics.median(cpu) / records * 1_000_000, 2),
        "output_per_input": round(written, 3),
    }


def _load_bidders(addresses: str) -> None:
    producer = Producer({"bootstrap.servers": addresses, "linger.ms": 50})
    for number in range(BIDDERS):
        value = json.dumps({"name": f"bidder {number}"}).encode()
        producer.produce(TABLE, value, key=number.to_bytes(8, "big"), timestamp=1)
        producer.poll(0)
    producer.flush()
