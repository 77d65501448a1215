"""Pipelines on a real Kafka and a real Spark: what is carried, promised and refused."""

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

import orion
from orion.log import Groups, Record, Selection, TopicNotFoundError, Topics, consume, produce
from orion.model import InvalidInputError, QueryStatus, State
from orion.pipeline import Pipeline
from orion.process import Query
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer

# Older records would be gone by the topics' retention before they are read.
NOW_MS = int(time.time() * 1000)
AT = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW_MS // 1000))

SCHEMA = "id BIGINT, who STRING, at TIMESTAMP"


def write(
    kafka: KafkaServer, topic: str, records: Sequence[Record], *, partitions: int = 2
) -> None:
    Topics(kafka.connection).create(topic, partitions=partitions)
    produce(kafka.connection, topic, records)


def rows(count: int) -> list[Record]:
    return [
        Record(
            json.dumps({"id": n, "who": f"u{n % 3}", "at": AT}).encode(),
            key=f"k{n % 5}".encode(),
            headers=(("trace", str(n).encode()), ("empty", None)),
            timestamp_ms=NOW_MS + n,
        )
        for n in range(count)
    ]


def finish(query: Query) -> QueryStatus:
    wait_until(lambda: not query.status.state.is_active, timeout_s=90, what=query.status.name)
    return query.status


def read(kafka: KafkaServer, topic: str) -> list[Record]:
    return list(consume(kafka.connection, Selection(topic)))


def test_keys_headers_and_timestamps_are_carried(
    kafka: KafkaServer, topic: str, name: str, once: Pipeline
) -> None:
    sent = rows(50)
    write(kafka, topic, sent)
    status = finish(orion.to_topic(orion.stream(topic, SCHEMA), f"{topic}-out", name=name))
    assert (status.state, status.error) == (State.STOPPED, "")
    got = sorted(read(kafka, f"{topic}-out"), key=lambda record: record.timestamp_ms or 0)
    assert [record.key for record in got] == [record.key for record in sent]
    assert [record.headers for record in got] == [record.headers for record in sent]
    assert [record.timestamp_ms for record in got] == [record.timestamp_ms for record in sent]
    assert json.loads(got[0].value or b"") == {
        "id": 0,
        "who": "u0",
        "at": AT.replace("Z", ".000Z"),
    }
    assert Groups(kafka.connection).get(name).lag_records == 0


def test_event_time_and_a_key_of_columns(
    kafka: KafkaServer, topic: str, name: str, once: Pipeline
) -> None:
    write(kafka, topic, rows(3))
    plays = orion.stream(topic, SCHEMA, event_time="at").select("id", "who", "_timestamp")
    finish(orion.to_topic(plays, f"{topic}-out", key=["who", "id"], name=name))
    got = read(kafka, f"{topic}-out")
    assert {record.timestamp_ms for record in got} == {NOW_MS // 1000 * 1000}
    assert sorted(record.key or b"" for record in got)[0] == b'{"who":"u0","id":0}'


def test_order_within_a_key_is_kept(
    kafka: KafkaServer, topic: str, name: str, once: Pipeline
) -> None:
    write(kafka, topic, rows(2_000))
    finish(orion.to_topic(orion.stream(topic, SCHEMA), f"{topic}-out", name=name))
    by_key: dict[bytes, list[int]] = {}
    for record in read(kafka, f"{topic}-out"):
        by_key.setdefault(record.key or b"", []).append(json.loads(record.value or b"")["id"])
    assert sum(len(ids) for ids in by_key.values()) == 2_000
    assert all(ids == sorted(ids) for ids in by_key.values())


def test_at_least_once_writes_every_record_and_dead_letter(
    kafka: KafkaServer, topic: str, name: str, once: Pipeline
) -> None:
    write(kafka, topic, [*rows(100), Record(b"{bad", key=b"x")])
    query = orion.to_topic(
        orion.stream(topic, SCHEMA), f"{topic}-out", name=name, mode="at_least_once"
    )
    status = finish(query)
    assert status.guarantee.startswith("at least once")
    assert len(read(kafka, f"{topic}-out")) == 100
    assert [record.value for record in read(kafka, f"{name}.dlq")] == [b"{bad"]
    assert Groups(kafka.connection).get(name).lag_records == 0


def test_realtime_moves_records_and_sets_bad_ones_aside(
    kafka: KafkaServer, topic: str, name: str, live: Pipeline
) -> None:
    write(kafka, topic, [*rows(20), Record(b"{bad", key=b"x")])
    stream = orion.stream(topic, SCHEMA, mode="realtime")
    query = orion.to_topic(stream.where("id >= 10"), f"{topic}-out", name=name, mode="realtime")
    try:
        wait_until(lambda: len(read(kafka, f"{topic}-out")) == 10, timeout_s=60)
        wait_until(lambda: len(read(kafka, f"{name}.dlq")) == 1, timeout_s=60)
    finally:
        live.runtime.take("stop", f"{name}.bad.{topic}")
        live.runtime.take("stop", name)
    assert query.status.state is State.STOPPED


@pytest.mark.parametrize(
    ("make", "operator"),
    [
        (lambda df: df.groupBy("who").count(), "Aggregate"),
        (lambda df: df.dropDuplicates(["id"]), "Deduplicate"),
        (lambda df: df.repartition(2), "Repartition"),
    ],
)
def test_realtime_refuses_a_plan_and_names_the_operator(
    kafka: KafkaServer, topic: str, live: Pipeline, make: Any, operator: str
) -> None:
    write(kafka, topic, [])
    stream = orion.stream(topic, SCHEMA, mode="realtime")
    with pytest.raises(InvalidInputError, match=f"operator {operator} is in the way"):
        orion.to_topic(make(stream), f"{topic}-out", mode="realtime", output_mode="update")


def test_a_failing_query_restarts_then_fails_and_leaves_others_alone(
    kafka: KafkaServer, topic: str, name: str, live: Pipeline
) -> None:
    write(kafka, topic, rows(10))
    stream = orion.stream(topic, SCHEMA)
    healthy = orion.to_topic(stream, f"{topic}-out", name=f"{name}-healthy")
    failing = orion.to_topic(
        stream.selectExpr("assert_true(id < 5, 'five is too much') AS a", "id"),
        f"{topic}-bad",
        name=name,
    )
    try:
        wait_until(lambda: failing.status.state is State.FAILED, timeout_s=90)
        assert failing.status.restarts == 2
        assert "five is too much" in failing.status.error
        assert healthy.status.state is State.RUNNING
        assert len(read(kafka, f"{topic}-out")) == 10
        assert read(kafka, f"{topic}-bad") == []
        live.app.orders.send("stop", f"{name}-healthy")
        wait_until(lambda: healthy.status.state is State.STOPPED, timeout_s=30)
        live.app.orders.send("restart", f"{name}-healthy")
        wait_until(lambda: healthy.status.state is State.RUNNING, timeout_s=30)
        produce(kafka.connection, topic, rows(1))
        wait_until(lambda: len(read(kafka, f"{topic}-out")) == 11, timeout_s=30)
    finally:
        live.runtime.take("stop", f"{name}-healthy")


def test_plain_spark_code_runs_and_has_a_consumer_group(
    kafka: KafkaServer, topic: str, name: str, live: Pipeline, tmp_path: Any
) -> None:
    write(kafka, topic, rows(30))
    counts = (
        orion.spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", kafka.addresses)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
        .groupBy("key")
        .count()
        .selectExpr("key", "CAST(count AS STRING) AS value")
    )
    live.runtime.watch()
    query = (
        counts.writeStream.format("kafka")
        .queryName(name)
        .option("kafka.bootstrap.servers", kafka.addresses)
        .option("topic", f"{topic}-out")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .outputMode("update")
        .start()
    )
    try:
        groups = Groups(kafka.connection)
        wait_until(
            lambda: name in groups.names() and groups.get(name).lag_records == 0, timeout_s=60
        )
        wait_until(lambda: name in live.app.statuses.read(), timeout_s=30)
    finally:
        query.stop()
    assert len(read(kafka, f"{topic}-out")) == 5


def test_mistakes_are_named(kafka: KafkaServer, topic: str, live: Pipeline) -> None:
    write(kafka, topic, [])
    with pytest.raises(TopicNotFoundError, match="does not exist"):
        orion.stream(f"{topic}-nowhere", SCHEMA)
    with pytest.raises(InvalidInputError, match="is not understood"):
        orion.stream(topic, "id BIGINT who")
    with pytest.raises(InvalidInputError, match="is reserved"):
        orion.stream(topic, "_id BIGINT")
    stream = orion.stream(topic, SCHEMA)
    with pytest.raises(InvalidInputError, match="Did you mean 'who'"):
        orion.to_topic(stream, f"{topic}-out", key="whom")
    with pytest.raises(InvalidInputError, match="Mode 'fast' is not known"):
        orion.to_topic(stream, f"{topic}-out", mode="fast")
    with pytest.raises(InvalidInputError, match="an upsert needs them"):
        orion.to_table(stream.select("id"), "t", key="id")
    with pytest.raises(InvalidInputError, match="is not usable"):
        orion.to_topic(stream, f"{topic}-out", name="a b")
