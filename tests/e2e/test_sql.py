"""Streaming SQL on a whole platform: a plant's readings, in the shell and over HTTP."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from orion.supervise import free_ports
from orion.testing.project import Project
from orion.testing.wait import wait_until

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]
BIN = Path(sys.executable).parent
READING = json.dumps(
    {
        "type": "record",
        "name": "Reading",
        "fields": [
            {"name": "sensor_id", "type": "string"},
            {"name": "datetime", "type": "long"},
            {"name": "value", "type": ["long", "string"]},
        ],
    }
)


class Platform:
    """A project whose log, engine and server run."""

    def __init__(self, project: Project, sql_port: int, registry_port: int, port: int) -> None:
        self.project, self.port = project, port
        self.sql_url = f"http://localhost:{sql_port}"
        self.registry_url = f"http://localhost:{registry_port}"

    def sql(self, *words: str, stdin: str = "") -> str:
        done = self.project.command("orion", "sql", *words, stdin=stdin)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    def rows(self, text: str, path: str = "/query-stream") -> list[Any]:
        """Ask a query that ends and return its rows."""
        body = {"sql": text, "properties": {"auto.offset.reset": "earliest"}}
        answer = httpx.post(f"{self.sql_url}{path}", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines() if line][1:]

    def produce(self, topic: str, *lines: str) -> None:
        done = self.project.command(
            "kafka-avro-console-producer",
            *("--topic", topic, "--bootstrap-server", f"localhost:{self.port}"),
            *("--property", f"schema.registry.url={self.registry_url}"),
            *("--property", f"value.schema={READING}"),
            stdin="\n".join(lines) + "\n",
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    project = Project(tmp_path_factory.mktemp("sql"))
    project = replace(project, env={"ORION_ENGINE_WARM": "true", "ORION_SERVER_ENABLED": "true"})
    port, controller, registry, rest, sql = free_ports(5)
    project.succeed(
        *("up", "--detach", f"--port={port}", f"--controller-ports={controller}"),
        *(f"--registry-port={registry}", f"--rest-port={rest}", f"--sql-port={sql}"),
    )
    yield Platform(project, sql, registry, port)
    project.end()


def test_a_plant_is_watched(platform: Platform) -> None:
    platform.produce(
        "myPlant",
        *(
            f'{{"sensor_id":"mySensor","datetime":{number},"value":{{"long":{number * 100}}}}}'
            for number in range(6)
        ),
        *(
            f'{{"sensor_id":"myMotor","datetime":{number},"value":{{"string":"state {number}"}}}}'
            for number in range(6)
        ),
    )
    assert "myPlant" in platform.sql("-e", "SHOW TOPICS;")
    printed = platform.sql("-e", "PRINT myPlant FROM BEGINNING LIMIT 3;")
    assert '"sensor_id":"mySensor"' in printed
    platform.sql(
        "-e",
        "CREATE STREAM myplant_stream(sensor_id varchar, datetime bigint,"
        " value STRUCT<STRING VARCHAR, LONG BIGINT>)"
        " WITH (KAFKA_TOPIC = 'myPlant', value_format='AVRO');",
    )
    assert "MYPLANT_STREAM" in platform.sql("-e", "SHOW STREAMS;")
    assert "STRUCT<STRING STRING, LONG BIGINT>" in platform.sql("-e", "DESCRIBE myplant_stream;")
    shown = platform.sql(
        stdin="SET 'auto.offset.reset' = 'earliest';\n"
        "SELECT * FROM myplant_stream EMIT CHANGES LIMIT 12;\n"
    )
    assert shown.count("mySensor") == 6
    platform.sql(
        "-e",
        "SET 'auto.offset.reset' = 'earliest';",
        "-e",
        "CREATE STREAM myplant_sensors_stream AS SELECT sensor_id, datetime, value->long AS value"
        " FROM myplant_stream WHERE sensor_id = 'mySensor';",
        "-e",
        "CREATE STREAM myplant_motors_stream AS SELECT sensor_id, datetime, value->string AS value"
        " FROM myplant_stream WHERE sensor_id = 'myMotor';",
    )
    sensors = platform.rows("SELECT value FROM myplant_sensors_stream EMIT CHANGES LIMIT 5;")
    assert sensors == [[0], [100], [200], [300], [400]]
    motors = platform.rows("SELECT value FROM myplant_motors_stream EMIT CHANGES LIMIT 2;")
    assert motors == [["state 0"], ["state 1"]]


def test_interrupting_a_query_ends_it_and_leaves_nothing(platform: Platform) -> None:
    platform.sql(
        "-e",
        "CREATE STREAM ticks (n BIGINT) WITH (KAFKA_TOPIC='ticks', PARTITIONS=1, FORMAT='JSON');",
        "-e",
        "INSERT INTO ticks (n) VALUES (1);",
    )
    shell = subprocess.Popen(
        [str(BIN / "orion"), "sql", "-o", "json"],
        cwd=platform.project.folder,
        env={**os.environ, **platform.project.env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write("SET 'auto.offset.reset'='earliest'; SELECT n FROM ticks EMIT CHANGES;")
    shell.stdin.close()
    assert json.loads(shell.stdout.readline()) == {"N": 1}
    topics = "_orion_push_transient"
    assert topics in platform.sql("-e", "SHOW ALL TOPICS;")
    shell.send_signal(signal.SIGINT)
    shell.wait(timeout=20)
    shell.stdout.close()
    wait_until(
        lambda: topics not in platform.sql("-e", "SHOW ALL TOPICS;"), what="The end of the query"
    )


def test_a_query_is_closed_by_its_id(platform: Platform) -> None:
    body = {"sql": "SELECT * FROM ticks EMIT CHANGES;", "properties": {}}
    with (
        httpx.Client(http1=False, http2=True, timeout=30) as client,
        client.stream("POST", f"{platform.sql_url}/query-stream", json=body) as answer,
    ):
        lines = answer.iter_lines()
        query = json.loads(next(lines))["queryId"]
        closed = httpx.post(f"{platform.sql_url}/close-query", json={"queryId": query})
        assert closed.status_code == 200
        assert list(lines) == []


def test_a_script_runs_headless(platform: Platform) -> None:
    script = platform.project.folder / "pipeline.sql"
    script.write_text(
        "SET 'auto.offset.reset' = 'earliest';\n"
        "CREATE STREAM doubled AS SELECT n * 2 AS n FROM ticks EMIT CHANGES;\n"
    )
    done = platform.project.orion("run", "pipeline.sql")
    assert done.returncode == 0, done.stderr
    assert "Running: CSAS_DOUBLED_" in done.stdout
    assert platform.rows("SELECT n FROM doubled EMIT CHANGES LIMIT 1;") == [[2]]


def test_statements_survive_kills(platform: Platform) -> None:
    """Kill engine and server between statements: catalogue, queries and topics agree afterwards."""
    client, accepted = platform.project, set()
    for number in range(7):
        name = f"K{number}"
        text = (
            f"CREATE STREAM {name} (n BIGINT)"
            f" WITH (KAFKA_TOPIC='{name}', PARTITIONS=1, FORMAT='JSON');"
            if number % 2
            else f"CREATE STREAM {name} AS SELECT n + {number} AS n FROM ticks"
            " WHERE n > 10 EMIT CHANGES;"
        )
        if number == 3:
            os.kill(client.status("server").pid or 0, signal.SIGKILL)
        if number == 5:
            os.kill(client.status("engine").pid or 0, signal.SIGKILL)

        def send(text: str = text) -> bool:
            try:
                answer = httpx.post(f"{platform.sql_url}/ksql", json={"ksql": text}, timeout=30)
            except httpx.HTTPError:
                return False
            # A statement whose answer was lost is there already when it is sent again.
            return answer.status_code == 200 or "already exists" in answer.text

        wait_until(send, timeout_s=60, what=f"Statement {number}")
        accepted.add(name)

    def state() -> tuple[set[str], set[str], set[str]]:
        body = {"ksql": "SHOW STREAMS; SHOW QUERIES; SHOW TOPICS;"}
        entities = httpx.post(f"{platform.sql_url}/ksql", json=body, timeout=30).json()
        return (
            {row["name"] for row in entities[0]["streams"]},
            {row["sinks"][0] for row in entities[1]["queries"]},
            {row["name"] for row in entities[2]["topics"]},
        )

    streams, queries, topics = state()
    assert accepted <= streams
    assert accepted <= topics
    assert {name for name in accepted if int(name[1:]) % 2 == 0} <= queries
    wait_until(lambda: client.status("engine").state == "ready", timeout_s=90, what="The engine")
    platform.sql("-e", "INSERT INTO ticks (n) VALUES (100);")
    assert [106] in platform.rows("SELECT n FROM k6 EMIT CHANGES LIMIT 1;")
