"""Upserts with deletions: the same rows by Spark, deltalake and DuckDB; compaction and history."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

import orion
from orion.app import App
from orion.lake import Lake
from orion.log import Topics
from orion.model import State
from orion.pipeline import Pipeline
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer
from orion.testing.spark import Pipelines

pytestmark = pytest.mark.timeout(400)

# The lake is that of all tests of a session.
USERS, EVENTS = "house/users", "house/raw/events"
Rows = list[list[Any]]
Changes = list[tuple[str, dict[str, Any] | None]]


@dataclass(frozen=True)
class House:
    """A project with tables, and what they must hold."""

    pipelines: Pipelines
    lake: Lake
    users: Rows


def _write(
    kafka: KafkaServer, topic: str, records: list[tuple[str, dict[str, Any] | None]]
) -> None:
    producer = kafka.connection.producer()
    for key, body in records:
        value = None if body is None else json.dumps({"id": key, **body}).encode()
        producer.produce(topic, value, key=key.encode())
    assert producer.flush(30) == 0


def _upsert(topic: str) -> None:
    """Bring the tables to where the topic is."""
    users = orion.stream(topic, "id STRING, age INT, tags ARRAY<STRING>", tombstones="keep")
    named = users.selectExpr(
        *("coalesce(id, string(_key)) AS id", "age", "tags"),
        *("_tombstone", "_topic", "_partition", "_offset"),
    )
    events = orion.stream(topic, "id STRING, age INT", tombstones="keep")
    queries = (
        orion.to_table(named, USERS, key="id", name=f"{topic}-users"),
        orion.to_table(events, EVENTS, partition_by="age", name=f"{topic}-events"),
    )
    for query in queries:
        wait_until(lambda q=query: not q.status.state.is_active, timeout_s=120)  # type: ignore[misc]
        assert query.status.state is State.STOPPED, query.status.error


@pytest.fixture(scope="module")
def house(kafka: KafkaServer, app: App, spark_app: Pipeline) -> House:
    topic = f"users-{uuid.uuid4().hex[:8]}"
    Topics(kafka.connection).create(topic, partitions=2)
    spark_app.once = True
    first = [(f"u{n}", {"age": n % 3, "tags": [f"t{n}", "é"]}) for n in range(100)]
    _write(kafka, topic, [*first])
    _upsert(topic)
    # Updated twice in one batch, deleted, deleted and written again, deleted without ever being.
    second: Changes = [
        *((f"u{n}", {"age": 9}) for n in range(10)),
        *((f"u{n}", {"age": 10, "tags": []}) for n in range(10)),
        *((f"u{n}", None) for n in range(50, 60)),
        ("u55", {"age": 1, "tags": None}),
        ("never", None),
        ("u100", {"age": 7, "tags": ["new"]}),
    ]
    _write(kafka, topic, second)
    _upsert(topic)
    users: dict[str, list[Any]] = {}
    for key, body in [*first, *second]:
        users.pop(key, None)
        if body is not None:
            users[key] = [key, body["age"], body.get("tags")]
    pipelines = Pipelines(app.settings.project, kafka.addresses)
    return House(pipelines, Lake(app.settings.lake_path), sorted(users.values()))


def _by_spark(house: House, spark_app: Pipeline) -> Rows:
    """Read the table with Spark itself, in the folder that Orion wrote."""
    table = spark_app.runtime.spark.read.format("delta").load(f"{house.lake.path}/{USERS}")
    return sorted([row.id, row.age, row.tags] for row in table.collect())


def _by_deltalake(lake: Lake) -> Rows:
    rows = lake.read(USERS).to_pylist()
    return sorted([row["id"], row["age"], row["tags"]] for row in rows)


def _by_duckdb(lake: Lake) -> Rows:
    rows = lake.query("SELECT id, age, tags FROM users", users=USERS).to_pylist()
    return sorted([row["id"], row["age"], row["tags"]] for row in rows)


def test_spark_deltalake_and_duckdb_read_the_same_rows(house: House, spark_app: Pipeline) -> None:
    assert len(house.users) == 92
    assert _by_spark(house, spark_app) == house.users
    assert _by_deltalake(house.lake) == house.users
    assert _by_duckdb(house.lake) == house.users


def test_tables_are_listed_and_described(house: House) -> None:
    listed = {found["name"]: found for found in house.pipelines.read_json("tables", "list")}
    assert (listed[USERS]["rows"], listed[EVENTS]["rows"]) == (92, 122)
    events = house.pipelines.read_json("tables", "describe", EVENTS)
    assert events["partition_by"] == ["age"]
    assert {"name": "id", "type": "string"} in events["columns"]
    shown = house.pipelines.succeed("tables", "describe", USERS)
    assert "MERGE" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_an_earlier_version_has_the_earlier_rows(house: House) -> None:
    commits = house.pipelines.read_json("tables", "history", USERS)
    first = next(c["version"] for c in reversed(commits) if c["operation"] == "MERGE")
    rows = house.pipelines.read_json("tables", "show", USERS, "-n", "500", "--version", str(first))
    assert sorted(row["id"] for row in rows) == sorted(f"u{n}" for n in range(100))
    missing = house.pipelines.orion("tables", "show", USERS, "--version", "999")
    assert missing.returncode == 3
    assert f"orion tables history {USERS}" in missing.stderr.replace("\n", " ")


def test_compaction_joins_files_and_keeps_every_row(house: House) -> None:
    def read() -> list[tuple[Any, ...]]:
        rows = house.lake.read(EVENTS).to_pylist()
        return sorted((row["_partition"], row["_offset"], row["id"], row["age"]) for row in rows)

    before = read()
    done = house.pipelines.read_json("tables", "compact", EVENTS, "--vacuum-hours", "1")
    assert done["after"]["files"] < done["before"]["files"]
    assert done["after"]["rows"] == done["before"]["rows"] == len(before)
    assert read() == before
    assert house.pipelines.succeed("tables", "compact", USERS).count("92") == 2
    assert _by_deltalake(house.lake) == house.users


def test_an_unknown_table_names_the_nearest(house: House) -> None:
    missing = house.pipelines.orion("tables", "show", USERS[:-1])
    assert missing.returncode == 3
    assert f"Did you mean '{USERS}'?" in missing.stderr
