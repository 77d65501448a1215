"""Streaming SQL on a whole platform: a plant's readings, in the shell and over HTTP."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from orion.testing.wait import wait_until
from tests.e2e.platform import Platform

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]
BIN = Path(sys.executable).parent


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
    # A group is computed by the engine; a query that only looks would need no topic of its own.
    query = "SELECT n, COUNT(*) AS c FROM ticks GROUP BY n EMIT CHANGES;"
    shell.stdin.write(f"SET 'auto.offset.reset'='earliest'; {query}")
    shell.stdin.close()
    assert json.loads(shell.stdout.readline()) == {"N": 1, "C": 1}
    topics = "_orion_push_transient"
    assert topics in platform.sql("-e", "SHOW ALL TOPICS;")
    shell.send_signal(signal.SIGINT)
    shell.wait(timeout=20)
    shell.stdout.close()
    wait_until(
        lambda: topics not in platform.sql("-e", "SHOW ALL TOPICS;"), what="The end of the query"
    )


def test_rows_that_are_gone_are_told_by_what_tells_them_apart(platform: Platform) -> None:
    platform.sql(
        "-e",
        "CREATE STREAM moves (who STRING KEY, n INT) WITH (KAFKA_TOPIC='moves', PARTITIONS=1,"
        " VALUE_FORMAT='JSON'); CREATE TABLE homes (who STRING PRIMARY KEY, town STRING)"
        " WITH (KAFKA_TOPIC='homes', PARTITIONS=1, VALUE_FORMAT='JSON');"
        "CREATE TABLE jobs (who STRING PRIMARY KEY, job STRING)"
        " WITH (KAFKA_TOPIC='jobs', PARTITIONS=1, VALUE_FORMAT='JSON');"
        "INSERT INTO moves (ROWTIME, who, n) VALUES (1, 'ann', 1);"
        "INSERT INTO moves (ROWTIME, who, n) VALUES (1000, 'ann', 9);",
    )
    for topic, value in (("homes", '{"town": "Rome"}'), ("jobs", '{"job": "cook"}')):
        platform.project.command(
            "orion", "topics", "produce", topic, "--key", "ann", "--value", value
        )
    platform.project.command("orion", "topics", "produce", "jobs", "--key", "ann", "--tombstone")
    few = "SELECT SUM(n) AS total, who FROM moves GROUP BY who HAVING SUM(n) < 5"
    spans = "SELECT who, WINDOWSTART AS s, WINDOWEND AS e, COUNT(*) AS c FROM moves"
    met = "SELECT h.who AS id, town, job FROM homes h JOIN jobs j ON h.who = j.who"
    assert _pushed(platform, f"{few} EMIT CHANGES LIMIT 2;") == [
        {"columns": [1, "ann"]},
        {"columns": [None, "ann"], "tombstone": True},
    ]
    session = f"{spans} WINDOW SESSION (1 MINUTE) GROUP BY who EMIT CHANGES LIMIT 3;"
    assert _pushed(platform, session) == [
        {"columns": ["ann", 1, 1, 1]},
        {"columns": ["ann", 1, 1, None], "tombstone": True},
        {"columns": ["ann", 1, 1000, 2]},
    ]
    assert _pushed(platform, f"{met} EMIT CHANGES LIMIT 2;") == [
        {"columns": ["ann", "Rome", "cook"]},
        {"columns": ["ann", None, None], "tombstone": True},
    ]


def test_a_query_whose_topic_is_gone_says_so(platform: Platform) -> None:
    platform.sql(
        "-e",
        "CREATE STREAM passing (k STRING KEY, n INT)"
        " WITH (KAFKA_TOPIC='passing', PARTITIONS=1, VALUE_FORMAT='JSON');",
    )
    platform.project.command("orion", "topics", "delete", "passing", "--yes")
    counted = "SELECT k, COUNT(*) AS n FROM passing GROUP BY k"
    body = {"ksql": f"{counted} EMIT CHANGES LIMIT 1;"}
    answer = httpx.post(f"{platform.sql_url}/query", json=body, timeout=60).json()
    reason = "Topic 'passing' does not exist. Create it with: orion topics create passing"
    assert answer[-1]["errorMessage"]["message"].endswith(reason)
    platform.sql("-e", f"CREATE TABLE passed AS {counted};")

    def query() -> dict[str, Any]:
        listed = platform.project.command("orion", "queries", "list", "--json").stdout
        (row,) = [each for each in json.loads(listed) if each["name"].startswith("CTAS_PASSED_")]
        return dict(row)

    wait_until(lambda: query()["state"] == "FAILED", timeout_s=30, what="The word of the query")
    assert query()["error"] == reason
    command = platform.project.command
    command("orion", "topics", "create", "passing", "--partitions", "1")
    command("orion", "topics", "produce", "passing", "--key", "a", "--value", '{"n": 1}')
    command("orion", "queries", "restart", str(query()["name"]))
    wait_until(
        lambda: platform.rows("SELECT * FROM passed;") == [["a", 1]],
        timeout_s=60,
        what="The table of the query, started again",
    )


def _pushed(platform: Platform, text: str) -> list[Any]:
    body = {"ksql": text, "streamsProperties": {"auto.offset.reset": "earliest"}}
    answer = httpx.post(f"{platform.sql_url}/query", json=body, timeout=60).json()
    return [part["row"] for part in answer if "row" in part]


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
    (query,) = re.findall(r"CSAS_DOUBLED_\d+", done.stdout)[:1]
    assert "mode exactly_once: exactly once" in platform.sql("-e", f"EXPLAIN {query};")
    wait_until(
        lambda: "Physical Plan" in platform.sql("-e", f"EXPLAIN {query};"), what="Spark's plan"
    )


def test_a_table_is_made_anew_while_the_old_one_serves(platform: Platform) -> None:
    platform.sql(
        "-e",
        "CREATE STREAM sales (shop STRING KEY, amount BIGINT)"
        " WITH (KAFKA_TOPIC='sales', PARTITIONS=2, VALUE_FORMAT='JSON');",
        "-e",
        "INSERT INTO sales (shop, amount) VALUES ('a', 7);",
        "-e",
        "INSERT INTO sales (shop, amount) VALUES ('a', 5);",
        "-e",
        "INSERT INTO sales (shop, amount) VALUES ('b', 1);",
        "-e",
        "CREATE TABLE per_shop AS SELECT shop, COUNT(*) AS total FROM sales GROUP BY shop;",
    )

    def table() -> list[list[object]]:
        return sorted(platform.rows("SELECT shop, total FROM per_shop;"))

    wait_until(lambda: table() == [["a", 2], ["b", 1]], timeout_s=60, what="The old table")
    platform.sql(
        "-e",
        "CREATE OR REPLACE TABLE per_shop WITH (REBUILD=true) AS"
        " SELECT shop, SUM(amount) AS total FROM sales WHERE amount > 2 GROUP BY shop;",
    )
    # Killed beside the old query, the new one goes on beside it.
    os.kill(platform.project.status("engine").pid or 0, signal.SIGKILL)
    seen = []

    def is_new() -> bool:
        seen.append(table())
        return seen[-1] == [["a", 12]]

    wait_until(is_new, timeout_s=120, what="The new table")
    # Until the new query has caught up the old one's rows are answered, and no others ever.
    assert all(row in (["a", 2], ["b", 1], ["a", 12]) for found in seen for row in found)
    assert all(found for found in seen)
    platform.sql("-e", "INSERT INTO sales (shop, amount) VALUES ('a', 3);")
    wait_until(lambda: table() == [["a", 15]], timeout_s=60, what="The new table, going on")
    queries = platform.project.command("orion", "queries", "list", "--json").stdout
    assert len(set(re.findall("CTAS_PER_SHOP_[0-9]+", queries))) == 1
