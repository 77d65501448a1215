"""A hundred statements while engine and server are killed: what was acknowledged holds, wholly."""

import json
import os
import random
import signal
import threading
from collections import Counter

import httpx
import psutil
import pytest

from orion.log import Groups, Selection, consume
from orion.model import OrionError
from orion.testing.wait import wait_until
from tests.e2e.platform import Platform
from tests.e2e.statement import BASE, PREFIX, Catalogue, Statement, random_statement

STATEMENTS = 100
# Which process is killed while a statement is under way, by the statement's number.
STRIKES = {12: "server", 24: "engine", 38: "server", 52: "jvm", 66: "server", 80: "engine"}
SHOW = "SHOW STREAMS; SHOW TABLES; SHOW TYPES; SHOW QUERIES; SHOW TOPICS;"


class Client:
    """Sends statements and keeps what those that were acknowledged add up to."""

    def __init__(self, platform: Platform, rng: random.Random) -> None:
        self._platform, self._rng = platform, rng
        self.known = Catalogue()
        self.inserted: set[int] = set()
        self.perhaps_inserted: set[int] = set()
        self.lost = 0

    def begin(self) -> None:
        base = Statement(
            f"CREATE STREAM {BASE} (k STRING KEY, n BIGINT)"
            f" WITH (KAFKA_TOPIC='{BASE}', PARTITIONS=2, VALUE_FORMAT='JSON');",
        )
        assert self._send(base)
        self.known.streams.add(BASE)
        self.known.topics.add(BASE)

    def resume_all(self) -> None:
        """Let every paused query go on, so that its records can be counted as well."""
        assert self._send(Statement("RESUME ALL;"))
        self.known.queries = dict.fromkeys(self.known.queries, False)

    def step(self, number: int) -> None:
        """Send a statement, while a process is being killed if it is its turn."""
        statement = random_statement(self._rng, self.known, number)
        strike = None
        if number in STRIKES:
            delay_s = self._rng.uniform(0, 0.03)
            strike = threading.Timer(delay_s, self._kill, [STRIKES[number]])
            strike.start()
        is_acknowledged = self._send(statement)
        if strike is not None:
            strike.join()
        if is_acknowledged:
            self._take(statement)
            return
        self.lost += 1
        seen = self._wait_and_look()
        if statement.inserted is not None:
            self.perhaps_inserted.add(statement.inserted)
        elif statement.happened(seen):
            self._take(statement)

    def _take(self, statement: Statement) -> None:
        if statement.inserted is not None:
            self.inserted.add(statement.inserted)
        statement.apply(self.known)
        if set(self.known.queries) - set(self.known.ids):
            # The server may be on its way down, after its answer.
            self.known.ids |= self._wait_and_look().ids

    def _send(self, statement: Statement) -> bool:
        """Return whether the statement was acknowledged; False: its answer was lost."""
        body = {"ksql": statement.text, "streamsProperties": {}}
        try:
            answer = httpx.post(f"{self._platform.sql_url}/ksql", json=body, timeout=30)
        except httpx.HTTPError:
            return False
        assert answer.status_code in (200, 503), f"{statement.text}\n{answer.text}"
        return answer.status_code == 200

    def _kill(self, name: str) -> None:
        if name == "jvm":
            pid = wait_until(self._find_jvm, timeout_s=60, what="The engine's JVM")
        else:
            pid = self._platform.project.status(name).pid
        assert pid
        os.kill(pid, signal.SIGKILL)

    def _find_jvm(self) -> int | None:
        """Return the process that Spark runs in; None while the engine is being started."""
        try:
            engine = psutil.Process(self._platform.project.status("engine").pid)
            return next((child.pid for child in engine.children() if child.name() == "java"), None)
        except psutil.NoSuchProcess:
            return None

    def _wait_and_look(self) -> Catalogue:
        seen = wait_until(self._look_if_up, timeout_s=60, what="The server")
        assert seen is not None
        return seen

    def _look_if_up(self) -> Catalogue | None:
        try:
            return self.look()
        except httpx.HTTPError:
            return None

    def look(self) -> Catalogue:
        """Return what the server says there is; a query without its sink is a fault."""
        answer = httpx.post(f"{self._platform.sql_url}/ksql", json={"ksql": SHOW}, timeout=30)
        answer.raise_for_status()
        streams, tables, types, queries, topics = answer.json()
        rows = [row for row in queries["queries"] if row["sinks"][0].startswith(PREFIX)]
        seen = Catalogue(
            streams=_names(streams["streams"]),
            tables=_names(tables["tables"]),
            types={name for name in types["types"] if name.startswith(PREFIX)},
            queries={row["sinks"][0]: row["state"] == "PAUSED" for row in rows},
            ids={row["sinks"][0]: row["id"] for row in rows},
            topics=_names(topics["topics"]),
        )
        assert set(seen.queries) <= seen.streams | seen.tables
        assert seen.streams | seen.tables <= seen.topics
        return seen


def _names(rows: list[dict[str, str]]) -> set[str]:
    return {row["name"] for row in rows if row["name"].startswith(PREFIX)}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_was_acknowledged_holds(platform: Platform) -> None:
    client = Client(platform, random.Random(0))
    client.begin()
    for number in range(STATEMENTS):
        client.step(number)
    wait_until(
        lambda: platform.project.status("engine").state == "ready", timeout_s=90, what="The engine"
    )
    seen, known = client.look(), client.known
    assert (seen.streams, seen.tables, seen.types) == (known.streams, known.tables, known.types)
    assert seen.queries == known.queries
    assert known.topics <= seen.topics
    assert not known.gone & seen.topics
    assert client.lost >= 1, "no statement was under way when a process was killed"
    client.resume_all()
    _check_records(platform, client)


def _check_records(platform: Platform, client: Client) -> None:
    """Every running query has read every record once; no other query runs."""
    base = _read(platform, BASE)
    numbers = Counter(value["N"] for _, value in base)
    assert client.inserted <= set(numbers) <= client.inserted | client.perhaps_inserted
    assert set(numbers.values()) == {1}
    running = set(client.known.queries)
    wait_until(
        lambda: all(_has_read_all(platform, client.known.ids[name]) for name in running),
        timeout_s=90,
        what="The end of the base stream",
    )
    statuses = json.loads(platform.project.succeed("queries", "list", "--json"))
    states = {row["name"]: row["state"] for row in statuses if f"_{PREFIX}" in row["name"]}
    ids = {client.known.ids[name] for name in running}
    assert {name for name, state in states.items() if state == "RUNNING"} == ids
    for name in running:
        found = _read(platform, name)
        if name in client.known.tables:
            counts = {key: value["N"] for key, value in found}
            assert counts == Counter(key for key, _ in base), name
        else:
            added = int(name.removeprefix(f"{PREFIX}S"))
            assert Counter(value["N"] - added for _, value in found) == numbers, name


def _has_read_all(platform: Platform, query: str) -> bool:
    try:
        return Groups(platform.project.connection).get(query).lag_records == 0
    except OrionError:
        return False


def _read(platform: Platform, topic: str) -> list[tuple[bytes | None, dict[str, int]]]:
    records = consume(platform.project.connection, Selection(topic))
    return [(record.key, json.loads(record.value or b"null")) for record in records]
