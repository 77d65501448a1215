"""Latency from a record's creation to a reader of the output, at a steady rate."""

import json
import threading
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from rich.progress import track

import orion
from bench.contender import spark_rows
from bench.measure import percentiles
from bench.sql import plan_queries, sql_job
from orion import pipeline

RATE = 200
# Each contender runs this long before any is measured: small batches get faster for minutes, as
# the JVM compiles what all of them share, and none should be measured on a colder one.
_WARM_UP_S = 40
# The first seconds of a run belong to its start.
_SETTLE_S = 8
_MODES = ("exactly_once", "at_least_once", "realtime")
_GROUP = """
CREATE STREAM seen (auction BIGINT, bidder BIGINT, price BIGINT, dateTime BIGINT)
  WITH (KAFKA_TOPIC='{source}', VALUE_FORMAT='JSON');
CREATE TABLE counted WITH (KAFKA_TOPIC='{target}') AS SELECT auction, COUNT(*) AS n,
  LATEST_BY_OFFSET(dateTime) AS `dateTime` FROM seen GROUP BY auction EMIT CHANGES;
"""
# Starts a query from one topic to another, and returns what stops it.
Start = Callable[[str, str], Any]
SCHEMA = "auction BIGINT, bidder BIGINT, price BIGINT, dateTime BIGINT"


def run_latency(addresses: str, *, seconds: int, only: str = "") -> dict[str, Any]:
    chosen = {name: start for name, start in _CONTENDERS.items() if only in name}
    for start in track(chosen.values(), "warming up", transient=True):
        _measure(addresses, start, _WARM_UP_S)
    measured = track(chosen.items(), "latency", transient=True)
    return {name: _measure(addresses, start, seconds) for name, start in measured}


def _measure(addresses: str, start: Start, seconds: int) -> dict[str, float]:
    mark = uuid.uuid4().hex[:8]
    source, target = f"latency-in-{mark}", f"latency-out-{mark}"
    for topic in (source, target):
        pipeline.current().app.topics.create(topic, partitions=2)
    stop = start(source, target)
    try:
        delays = _send_and_read(addresses, source, target, seconds + _SETTLE_S)
    finally:
        stop()
    steady = [delay for sent_s, delay in delays if sent_s > _SETTLE_S]
    return {name: round(value, 1) for name, value in percentiles(steady).items()}


def _start_orion(mode: str, source: str, target: str) -> Any:
    rows = orion.stream(source, SCHEMA, mode=mode)
    kept = rows.select("auction", "bidder", "price", "dateTime")
    return orion.to_topic(kept, target, name=target, mode=mode).stop


def _start_sql_group(source: str, target: str) -> Any:
    app, runtime = pipeline.current().app, pipeline.current().runtime
    (started,) = plan_queries(app, _GROUP.format(source=source, target=target))
    sql_job(started, app, runtime).start(target)
    return partial(runtime.remove, target, forget=True)


def _start_spark(source: str, target: str) -> Any:
    app = pipeline.current().app
    addresses, folder = app.settings.kafka.addresses, app.settings.data_dir / "checkpoints" / target
    rows = spark_rows(addresses, source)
    query = (
        rows.writeStream.format("kafka")
        .option("kafka.bootstrap.servers", addresses)
        .option("topic", target)
        .option("checkpointLocation", str(folder))
        .start()
    )
    return query.stop


_CONTENDERS: dict[str, Start] = {
    **{f"orion {mode}": partial(_start_orion, mode) for mode in _MODES},
    "orion SQL, GROUP BY": _start_sql_group,
    "spark default": _start_spark,
}


def _send_and_read(
    addresses: str, source: str, target: str, seconds: int
) -> list[tuple[float, float]]:
    ended = threading.Event()
    sender = threading.Thread(target=_send, args=(addresses, source, seconds, ended))
    consumer = Consumer(
        {
            "bootstrap.servers": addresses,
            "group.id": f"latency-{target}",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 5,
        }
    )
    consumer.assign([TopicPartition(target, number, 0) for number in range(2)])
    delays: list[tuple[float, float]] = []
    begun_ms = time.time() * 1000
    sender.start()
    while not ended.is_set():
        # One at a time: `consume` of many waits its whole time-out for those that are not there.
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            sent_ms = json.loads(message.value() or b"{}")["dateTime"] / 1000
            delays.append(((sent_ms - begun_ms) / 1000, time.time() * 1000 - sent_ms))
    consumer.close()
    sender.join()
    return delays


def _send(addresses: str, topic: str, seconds: int, ended: threading.Event) -> None:
    producer = Producer({"bootstrap.servers": addresses, "linger.ms": 0})
    begun = time.monotonic()
    for number in range(RATE * seconds):
        # A pace, not a wait for something: each record has its own moment.
        while (left := begun + number / RATE - time.monotonic()) > 0:
            time.sleep(min(left, 0.005))
        value = {"auction": number, "bidder": 1, "price": 2, "dateTime": time.time_ns() // 1000}
        producer.produce(topic, json.dumps(value).encode(), key=str(number % 50).encode())
        producer.poll(0)
    producer.flush()
    ended.set()
