"""Queries by command: what the list says of each, orders that are waited for, apps that stay."""

import json
import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orion.cli.queries import complete_query
from orion.log import StatusLog, create_own_topics
from orion.model import Mode, QueryStatus, State
from orion.supervise import free_ports
from orion.testing.kafka import KafkaServer
from orion.testing.project import Project
from orion.testing.spark import Pipelines
from orion.testing.wait import wait_until

pytestmark = pytest.mark.timeout(300)

Speak = Callable[..., QueryStatus]


@pytest.fixture
def pipelines(kafka: KafkaServer, tmp_path: Path) -> Pipelines:
    return Pipelines(tmp_path, kafka.addresses)


@pytest.fixture
def speak(kafka: KafkaServer) -> Speak:
    """Say how a query is, as its process would."""
    create_own_topics(kafka.connection)
    log = StatusLog(kafka.connection)

    def say(name: str, state: State, **values: Any) -> QueryStatus:
        now_ms = int(time.time() * 1_000)
        facts: dict[str, Any] = {
            "app": "shop",
            "mode": Mode.EXACTLY_ONCE,
            "sources": ("orders", "users"),
            "sink": "topic big_orders",
            "guarantee": "exactly once, for read_committed readers",
            "updated_ms": now_ms,
            "started_ms": now_ms - 60_000,
            "pid": os.getpid(),
        }
        status = QueryStatus(name=name, state=state, **{**facts, **values})
        log.publish(status)
        log.flush()
        return status

    return say


@pytest.fixture
def query() -> str:
    return f"query-{uuid.uuid4().hex[:8]}"


def test_the_list_shows_state_path_and_lag_in_80_columns(
    pipelines: Pipelines, kafka: KafkaServer, speak: Speak, query: str, topic: str
) -> None:
    pipelines.succeed("topics", "create", topic, "-p", "1")
    producer = kafka.connection.producer()
    for _ in range(5):
        producer.produce(topic, b"x")
    assert producer.flush(20) == 0
    _commit(kafka, query, topic, 2)
    speak(query, State.RUNNING, restarts=3, records_per_second=1234.5)
    long_name = f"{query}-{'x' * 70}"
    speak(long_name, State.FAILED, error="field 'a' is missing")
    listed = pipelines.succeed("queries", "list").splitlines()
    line = next(line for line in listed if line.startswith(f"{query} "))
    assert line.split()[1:3] == ["RUNNING", "3"]
    assert line.split()[4:] == ["1,234/s", "3"]
    assert "orders, users -> topic big_orders, exactly_once, app shop" in "\n".join(listed)
    assert "  field 'a' is missing" in listed
    assert max(map(len, listed)) <= 80
    found = {q["name"]: q for q in pipelines.read_json("queries", "list")}
    assert found[query]["lag_records"] == 3
    assert found[query]["lag_seconds"] > 0
    described = pipelines.succeed("queries", "describe", query)
    assert "exactly once, for read_committed readers" in described
    assert "COMMITTED" in described
    partitions = pipelines.read_json("queries", "describe", query)["partitions"]
    assert [(p["topic"], p["committed"], p["end_offset"]) for p in partitions] == [(topic, 2, 5)]


def _commit(kafka: KafkaServer, group: str, topic: str, offset: int) -> None:
    from confluent_kafka import TopicPartition

    consumer = kafka.connection.consumer(group)
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def test_a_silent_query_is_lost_and_orders_say_so(
    pipelines: Pipelines, speak: Speak, query: str
) -> None:
    speak(query, State.RUNNING, updated_ms=int(time.time() * 1_000) - 60_000)
    found = {q["name"]: q for q in pipelines.read_json("queries", "list")}
    assert found[query]["state"] == "LOST"
    for verb in ("stop", "restart"):
        refused = pipelines.orion("queries", verb, query)
        assert refused.returncode == 4
        assert "does not run" in refused.stderr
        assert "orion run shop.py" in refused.stderr
    assert pipelines.read_json("queries", "forget", query) == {"forgotten": [query]}
    assert query not in pipelines.succeed("queries", "list", "--json")


def test_an_order_that_nobody_takes_ends_with_a_clear_error(
    pipelines: Pipelines, speak: Speak, query: str
) -> None:
    speak(query, State.RUNNING)
    late = pipelines.orion("queries", "stop", query, "--timeout", "1", "--json")
    assert late.returncode == 5
    assert "has not carried out 'stop' in 1 s" in json.loads(late.stderr)["message"]
    refused = pipelines.orion("queries", "forget", query)
    assert refused.returncode == 4
    assert f"orion queries stop {query}" in refused.stderr.replace("\n", " ")


def test_a_stopped_query_is_left_alone(pipelines: Pipelines, speak: Speak, query: str) -> None:
    speak(query, State.STOPPED)
    assert "nothing was changed" in pipelines.succeed("queries", "stop", query)
    missing = pipelines.orion("queries", "stop", query[:-1])
    assert missing.returncode == 3
    assert f"Did you mean '{query}'?" in missing.stderr


def test_names_are_completed_and_silence_without_a_broker(
    kafka: KafkaServer, speak: Speak, query: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    speak(query, State.RUNNING)
    monkeypatch.setenv("ORION_PROJECT", str(tmp_path))
    monkeypatch.setenv("ORION_KAFKA_BOOTSTRAP_SERVERS", kafka.addresses)
    assert complete_query(query[:-2]) == [query]
    monkeypatch.setenv("ORION_KAFKA_BOOTSTRAP_SERVERS", f"127.0.0.1:{free_ports(1)[0]}")
    assert complete_query("") == []


APP = """
import orion

orders = orion.stream("orders", "id STRING, amount INT")
orion.to_topic(orders, "big", name="big")
orion.to_table(orders, "silver", name="silver")
"""


def _states(project: Project) -> dict[str, str]:
    found = json.loads(project.succeed("queries", "list", "--json"))
    return {query["name"]: query["state"] for query in found}


def _run_now(project: Project) -> bool:
    """Tell whether both queries run in the present process of the app."""
    found = json.loads(project.succeed("queries", "list", "--json"))
    now = [(query["name"], query["state"], query["pid"]) for query in found]
    pid = project.status("shop").pid
    return now == [("big", "RUNNING", pid), ("silver", "RUNNING", pid)]


@pytest.mark.slow
def test_a_detached_app_is_stopped_restarted_and_comes_back(project: Project) -> None:
    port, controller = free_ports(2)
    ports = ("--port", str(port), "--controller-ports", str(controller))
    project.succeed("up", "-d", *ports)
    project.succeed("topics", "create", "orders")
    (project.folder / "shop.py").write_text(APP)
    project.succeed("run", "shop.py", "-d")
    running = {"big": "RUNNING", "silver": "RUNNING"}
    wait_until(lambda: _run_now(project), timeout_s=90, what="Both queries")
    again = project.orion("run", "shop.py", "-d")
    assert again.returncode == 4
    assert "--replace" in again.stderr

    assert json.loads(project.succeed("queries", "stop", "big", "--json"))["state"] == "STOPPED"
    assert _states(project) == {"big": "STOPPED", "silver": "RUNNING"}
    project.succeed("queries", "restart", "big")
    assert _states(project) == running

    # A crash is the supervisor's to repair.
    pid = project.status("shop").pid
    assert pid
    os.kill(pid, 9)
    wait_until(lambda: project.status("shop").pid not in (None, pid), what="A new process")
    # The order waits for the new process to speak.
    restarted = json.loads(project.succeed("queries", "restart", "big", "--json"))
    assert restarted["pid"] == project.status("shop").pid
    wait_until(lambda: _run_now(project), timeout_s=90, what="The app after a crash")
    project.succeed("down")
    assert project.orion("queries", "list").returncode == 5
    project.succeed("up", "-d", *ports)
    wait_until(lambda: _run_now(project), timeout_s=90, what="The app after an up")
    project.succeed("queries", "forget", "--app", "shop", "--yes")
    assert _states(project) == {}
    assert "shop" not in project.succeed("status")
