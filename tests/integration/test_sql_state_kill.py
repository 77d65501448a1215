"""Kill -9 of the engine while queries with state run: every change of every key, once, in order."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from orion.app import App, load_settings
from orion.command import Commands
from orion.log import Groups, Outbox, Record, Tail, Topics
from orion.model import OrionError
from orion.sql import parse_statements, tree
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer
from tests.integration.ledger import SHORT_LIVED

# With the state kept and the output not, and with both.
STRIKES = ("in_transaction:3", "after_transaction:2")
NAMES = 7

SCRIPT = """
CREATE STREAM {t}_events (k STRING KEY, id INT, n BIGINT)
  WITH (KAFKA_TOPIC='{t}_events', VALUE_FORMAT='JSON', PARTITIONS=3);
CREATE STREAM {t}_echoes (k STRING KEY, id INT)
  WITH (KAFKA_TOPIC='{t}_echoes', VALUE_FORMAT='JSON', PARTITIONS=3);
CREATE TABLE {t}_names (k STRING PRIMARY KEY, name STRING)
  WITH (KAFKA_TOPIC='{t}_names', VALUE_FORMAT='JSON', PARTITIONS=2);
CREATE TABLE {t}_counts AS SELECT k, COUNT(*) AS c, SUM(n) AS s FROM {t}_events GROUP BY k;
CREATE TABLE {t}_windows AS SELECT k, COUNT(*) AS c FROM {t}_events
  WINDOW TUMBLING (SIZE 10 SECONDS) GROUP BY k;
CREATE STREAM {t}_named AS SELECT e.k, e.id, m.name FROM {t}_events e JOIN {t}_names m ON e.k = m.k;
CREATE STREAM {t}_pairs AS SELECT a.id AS id, a.k AS k, b.k AS other FROM {t}_events a
  JOIN {t}_echoes b WITHIN 1 HOUR ON a.id = b.id;
"""
# Key, number, value and time.
Event = tuple[str, int, int, int]


def other_key(number: int) -> str:
    """Return the key that an event names besides its own."""
    return f"k{number * 3 % NAMES}"


class Writer:
    """Writes events and their echoes, acknowledged, and remembers them."""

    def __init__(self, app: App, prefix: str) -> None:
        self._outbox = Outbox(app.connection)
        self._prefix = prefix
        self._chance = random.Random(7)
        # Kafka deletes records that are older than their topic keeps them.
        self._begin_ms = int(time.time() * 1000) - 3_600_000
        self.events: list[Event] = []

    def name_keys(self) -> None:
        for key in range(NAMES):
            self._send("names", f"k{key}", {"name": f"name {key}"}, self._begin_ms - 1)

    def write(self, count: int) -> None:
        for _ in range(count):
            key, number = f"k{self._chance.randrange(NAMES)}", len(self.events)
            time_ms = self._begin_ms + number * 7
            self.events.append((key, number, self._chance.randint(0, 9), time_ms))
            # Every so often an event happened longer ago than the record says.
            happened = time_ms - (5_000 if number % 40 == 39 else 0)
            value = {
                "id": number,
                "n": self.events[-1][2],
                "other": other_key(number),
                "happened": happened,
            }
            self._send("events", key, value, time_ms)
            self._send("echoes", f"e{number % 5}", {"id": number}, time_ms)

    def _send(self, topic: str, key: str, value: Mapping[str, Any], time_ms: int) -> None:
        done: Future[Any] = Future()
        body = json.dumps(value).encode()
        record = Record(value=body, key=key.encode(), timestamp_ms=time_ms)
        self._outbox.send(f"{self._prefix}_{topic}", [record], done.set_result)
        done.result(20)

    def close(self) -> None:
        self._outbox.close()


def start_engine(folder: Path, addresses: str, strike: str) -> "subprocess.Popen[bytes]":
    env = {
        **os.environ,
        "ORION_PROJECT": str(folder),
        "ORION_KAFKA_BOOTSTRAP_SERVERS": addresses,
        "ORION_ENGINE_MAX_BATCH_RECORDS": "200",
        "ORION_STRIKE": strike,
        **SHORT_LIVED,
    }
    with (folder / "engine.log").open("ab") as log:
        command = [sys.executable, "-m", "orion.cli.main", "engine"]
        return subprocess.Popen(command, env=env, stdout=log, stderr=log)


@pytest.mark.slow
@pytest.mark.timeout(700)
def test_state_and_output_survive_every_strike(
    kafka: KafkaServer, topic: str, tmp_path: Path
) -> None:
    prefix = prefix_of(topic)
    app, events = survive(SCRIPT, prefix, kafka, tmp_path)
    _check(app, prefix, events)


def prefix_of(topic: str) -> str:
    """Return what names of sources begin with."""
    return "s" + topic.replace("-", "").replace("_", "")[-8:]


def survive(script: str, prefix: str, kafka: KafkaServer, folder: Path) -> tuple[App, list[Event]]:
    """Run the queries of a script through every strike; return the events that they were given."""
    app = App(load_settings({"kafka.bootstrap_servers": kafka.addresses}, project=folder))
    commands = app.open_commands(app.schemas)
    properties: dict[str, str] = {}
    statements = parse_statements(script.format(t=prefix))
    for statement in statements:
        if isinstance(statement, tree.SetProperty):
            properties[statement.name] = statement.value
        else:
            commands.accept(statement, properties)
    queries = [name for name in commands.queries if f"_{prefix.upper()}_" in name]
    assert len(queries) == sum(isinstance(each, tree.CreateAs) for each in statements)
    writer = Writer(app, prefix)
    writer.name_keys()
    try:
        for strike in STRIKES:
            strike_engine(start_engine(folder, kafka.addresses, strike), writer)
        engine = start_engine(folder, kafka.addresses, "")
        try:
            _drain(app, queries)
        finally:
            engine.terminate()
            engine.wait(timeout=30)
    finally:
        writer.close()
        _drop(commands, queries)
    return app, writer.events


def strike_engine(engine: "subprocess.Popen[bytes]", writer: Writer) -> None:
    """Feed the engine until the blow falls."""
    try:
        for _ in range(120):
            writer.write(20)
            try:
                engine.wait(timeout=0.3)
                break
            except subprocess.TimeoutExpired:
                continue
    finally:
        engine.kill()
    assert engine.wait(timeout=10) == -signal.SIGKILL, "the engine ended by itself"


def _drain(app: App, queries: Sequence[str]) -> None:
    groups = Groups(app.connection)

    def is_done() -> bool:
        try:
            return all(groups.get(name).lag_records == 0 for name in queries)
        except OrionError:
            return False

    wait_until(is_done, timeout_s=240, what="The end of all topics")


def _drop(commands: Commands, queries: Sequence[str]) -> None:
    """Leave an empty catalogue to the other tests of this Kafka."""
    for name in queries:
        (statement,) = parse_statements(f"TERMINATE {name};")
        commands.accept(statement, {})


def read_rows(app: App, topic: str) -> list[tuple[bytes | None, Any]]:
    with Tail(app.connection, topic, from_beginning=True) as tail:
        ends, records = tail.ends(), list[Record]()
        while not tail.has_reached(ends):
            records += tail.read(0.1)
    return [(record.key, json.loads(record.value or b"null")) for record in records]


def _check(app: App, prefix: str, events: list[Event]) -> None:
    name = prefix.upper()
    assert name in {topic.split("_")[0] for topic in Topics(app.connection).names()}
    _check_counts(read_rows(app, f"{name}_COUNTS"), events)
    per_window: dict[bytes | None, list[int]] = defaultdict(list)
    for key, row in read_rows(app, f"{name}_WINDOWS"):
        per_window[key].append(row["C"])
    wanted = Counter((key, at // 10_000) for key, _, _, at in events)
    assert sorted(len(seen) for seen in per_window.values()) == sorted(wanted.values())
    assert all(seen == list(range(1, len(seen) + 1)) for seen in per_window.values())
    named = Counter((row["ID"], row["NAME"]) for _, row in read_rows(app, f"{name}_NAMED"))
    assert named == Counter((number, f"name {key[1:]}") for key, number, _, _ in events)
    pairs = Counter((row["K"], row["OTHER"]) for _, row in read_rows(app, f"{name}_PAIRS"))
    assert pairs == Counter((key, f"e{number % 5}") for key, number, _, _ in events)


def _check_counts(found: list[tuple[bytes | None, Any]], events: list[Event]) -> None:
    """One change for every event of a key: the count goes up by one, the sum as it must."""
    seen: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for raw, row in found:
        seen[(raw or b"").decode()].append((row["C"], row["S"]))
    sums: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for key, _, number, _ in events:
        count, total = sums[key][-1] if sums[key] else (0, 0)
        sums[key].append((count + 1, total + number))
    assert seen == sums
