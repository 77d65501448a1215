"""Upserts with deletions: the same rows by Spark, deltalake and DuckDB; compaction and history."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from orion.lake import Lake
from orion.log import Topics
from orion.testing.kafka import KafkaServer
from orion.testing.spark import Pipelines

pytestmark = pytest.mark.timeout(400)

UPSERT = """
import orion

users = orion.stream("{topic}", "id STRING, age INT, tags ARRAY<STRING>", tombstones="keep")
named = users.selectExpr("coalesce(id, string(_key)) AS id", "age", "tags", "_tombstone", "_topic",
                         "_partition", "_offset")
orion.to_table(named, "users", key="id", name="{topic}-users")
events = orion.stream("{topic}", "id STRING, age INT", tombstones="keep")
orion.to_table(events, "raw/events", partition_by="age", name="{topic}-events")
"""
# Reads the table with Spark itself, in the folder that Orion wrote.
COMPARE = """
import json
import orion

rows = orion.spark.read.format("delta").load("{path}").select("id", "age", "tags").collect()
found = sorted([row.id, row.age, row.tags] for row in rows)
open("{output}", "w").write(json.dumps(found))
"""
Rows = list[list[Any]]
Changes = list[tuple[str, dict[str, Any] | None]]


@dataclass(frozen=True)
class House:
    """A project with tables, and what they must hold."""

    pipelines: Pipelines
    lake: Lake
    users: Rows
    by_spark: Rows


def _write(
    kafka: KafkaServer, topic: str, records: list[tuple[str, dict[str, Any] | None]]
) -> None:
    producer = kafka.connection.producer()
    for key, body in records:
        value = None if body is None else json.dumps({"id": key, **body}).encode()
        producer.produce(topic, value, key=key.encode())
    assert producer.flush(30) == 0


@pytest.fixture(scope="module")
def house(kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory) -> House:
    topic = f"users-{uuid.uuid4().hex[:8]}"
    Topics(kafka.connection).create(topic, partitions=2)
    pipelines = Pipelines(tmp_path_factory.mktemp("house"), kafka.addresses)
    path = pipelines.folder / ".orion" / "lake"
    first = [(f"u{n}", {"age": n % 3, "tags": [f"t{n}", "é"]}) for n in range(100)]
    _write(kafka, topic, [*first])
    pipelines.run_once(UPSERT.format(topic=topic), name="first")
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
    output = pipelines.folder / "spark.json"
    compare = COMPARE.format(path=path / "users", output=output)
    pipelines.run_once(UPSERT.format(topic=topic) + "orion.wait()\n" + compare, name="first")
    users: dict[str, list[Any]] = {}
    for key, body in [*first, *second]:
        users.pop(key, None)
        if body is not None:
            users[key] = [key, body["age"], body.get("tags")]
    return House(pipelines, Lake(str(path)), sorted(users.values()), json.loads(output.read_text()))


def _by_deltalake(lake: Lake) -> Rows:
    rows = lake.read("users").to_pylist()
    return sorted([row["id"], row["age"], row["tags"]] for row in rows)


def _by_duckdb(lake: Lake) -> Rows:
    rows = lake.query("SELECT id, age, tags FROM users", users="users").to_pylist()
    return sorted([row["id"], row["age"], row["tags"]] for row in rows)


def test_spark_deltalake_and_duckdb_read_the_same_rows(house: House) -> None:
    assert len(house.users) == 92
    assert house.by_spark == house.users
    assert _by_deltalake(house.lake) == house.users
    assert _by_duckdb(house.lake) == house.users


def test_tables_are_listed_and_described(house: House) -> None:
    listed = {found["name"]: found for found in house.pipelines.read_json("tables", "list")}
    assert set(listed) == {"users", "raw/events"}
    assert (listed["users"]["rows"], listed["raw/events"]["rows"]) == (92, 122)
    events = house.pipelines.read_json("tables", "describe", "raw/events")
    assert events["partition_by"] == ["age"]
    assert {"name": "id", "type": "string"} in events["columns"]
    shown = house.pipelines.succeed("tables", "describe", "users")
    assert "MERGE" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_an_earlier_version_has_the_earlier_rows(house: House) -> None:
    commits = house.pipelines.read_json("tables", "history", "users")
    first = next(c["version"] for c in reversed(commits) if c["operation"] == "MERGE")
    rows = house.pipelines.read_json(
        "tables", "show", "users", "-n", "500", "--version", str(first)
    )
    assert sorted(row["id"] for row in rows) == sorted(f"u{n}" for n in range(100))
    missing = house.pipelines.orion("tables", "show", "users", "--version", "999")
    assert missing.returncode == 3
    assert "orion tables history users" in missing.stderr.replace("\n", " ")


def test_compaction_joins_files_and_keeps_every_row(house: House) -> None:
    def read() -> list[tuple[Any, ...]]:
        rows = house.lake.read("raw/events").to_pylist()
        return sorted((row["_partition"], row["_offset"], row["id"], row["age"]) for row in rows)

    before = read()
    done = house.pipelines.read_json("tables", "compact", "raw/events", "--vacuum-hours", "1")
    assert done["after"]["files"] < done["before"]["files"]
    assert done["after"]["rows"] == done["before"]["rows"] == len(before)
    assert read() == before
    assert house.pipelines.succeed("tables", "compact", "users").count("92") == 2
    assert _by_deltalake(house.lake) == house.users


def test_an_unknown_table_names_the_nearest(house: House) -> None:
    missing = house.pipelines.orion("tables", "show", "user")
    assert missing.returncode == 3
    assert "Did you mean 'users'?" in missing.stderr
