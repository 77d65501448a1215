"""The SQL API and its command line against a real server and log; queries need no engine here."""

import json
import os
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import wsproto.events
from wsproto import ConnectionType, WSConnection

from orion.log import Selection, consume
from orion.testing.kafka import KafkaServer
from orion.testing.server import HttpServer
from tests.terminal import INTERRUPT, Terminal

pytestmark = pytest.mark.timeout(120)
BIN = Path(sys.executable).parent


def ksql(server: HttpServer, text: str, **more: Any) -> httpx.Response:
    return httpx.post(f"{server.sql_url}/ksql", json={"ksql": text, **more}, timeout=30)


def ok(server: HttpServer, text: str, **more: Any) -> list[dict[str, Any]]:
    answer = ksql(server, text, **more)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


@pytest.fixture
def name() -> str:
    return f"S{uuid.uuid4().hex[:8]}".upper()


@pytest.fixture
def stream(server: HttpServer, name: str) -> str:
    ok(
        server,
        f"CREATE STREAM {name} (id VARCHAR KEY, song VARCHAR, ms BIGINT, tags ARRAY<VARCHAR>)"
        f" WITH (KAFKA_TOPIC='{name}', PARTITIONS=1, VALUE_FORMAT='JSON');",
    )
    return name


def test_it_says_what_it_is(server: HttpServer) -> None:
    root = httpx.get(server.sql_url)
    assert (root.status_code, root.headers["location"]) == (307, "/info")
    info = httpx.get(f"{server.sql_url}/info").json()["KsqlServerInfo"]
    assert info["serverStatus"] == "RUNNING"
    assert info["kafkaClusterId"]
    health = httpx.get(f"{server.sql_url}/healthcheck").json()
    assert health["isHealthy"] is True
    metrics = httpx.get(f"{server.sql_url}/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE orion_query_late_records_total counter" in metrics.text
    assert httpx.get(f"{server.sql_url}/clusterStatus").status_code == 200
    assert httpx.get(f"{server.sql_url}/chc/ready").json() == {}
    assert httpx.get(f"{server.sql_url}/is_valid_property/auto.offset.reset").json() is True
    wrong = httpx.get(f"{server.sql_url}/is_valid_property/auto.ofset.reset")
    assert (wrong.status_code, wrong.json()["error_code"]) == (400, 40000)
    assert "auto.offset.reset" in wrong.json()["message"]
    nothing = httpx.get(f"{server.sql_url}/nowhere")
    assert (nothing.status_code, nothing.json()["error_code"]) == (404, 40400)


def test_a_source_lives_and_dies(server: HttpServer, stream: str) -> None:
    (listed,) = ok(server, "SHOW STREAMS;")
    assert (listed["@type"], listed["statementText"]) == ("streams", "SHOW STREAMS;")
    (row,) = [each for each in listed["streams"] if each["name"] == stream]
    assert row == {
        "type": "STREAM",
        "name": stream,
        "topic": stream,
        "keyFormat": "KAFKA",
        "valueFormat": "JSON",
        "isWindowed": False,
    }
    (described,) = ok(server, f"DESCRIBE {stream} EXTENDED;")
    source = described["sourceDescription"]
    assert [field["name"] for field in source["fields"]] == ["ID", "SONG", "MS", "TAGS"]
    assert source["fields"][0]["type"] == "KEY"
    assert source["fields"][3]["schema"]["memberSchema"]["type"] == "STRING"
    assert (source["partitions"], source["replication"]) == (1, 1)
    twice = ksql(server, f"CREATE STREAM {stream} (a INT) WITH (KAFKA_TOPIC='x', FORMAT='JSON');")
    assert twice.json()["error_code"] == 40001
    (warning,) = ok(
        server,
        f"CREATE STREAM IF NOT EXISTS {stream} (a INT) WITH (KAFKA_TOPIC='x', FORMAT='JSON');",
    )
    assert warning["@type"] == "warning_entity"
    (dropped,) = ok(server, f"DROP STREAM {stream};")
    assert dropped["commandId"] == f"stream/`{stream}`/drop"
    assert ksql(server, f"DESCRIBE {stream};").status_code == 400


def test_queries_are_accepted_and_told(server: HttpServer, stream: str) -> None:
    (created,) = ok(
        server, f"CREATE STREAM {stream}_2 AS SELECT * FROM {stream} WHERE ms > 10 EMIT CHANGES;"
    )
    status = created["commandStatus"]
    assert status["status"] == "SUCCESS"
    query = status["queryId"]
    assert query.startswith(f"CSAS_{stream}_2_")
    (listed,) = ok(server, "SHOW QUERIES;")
    (row,) = [each for each in listed["queries"] if each["id"] == query]
    assert (row["sinks"], row["queryType"]) == ([f"{stream}_2"], "PERSISTENT")
    (explained,) = ok(server, f"EXPLAIN {query};")
    assert "FILTER (MS > 10)" in explained["queryDescription"]["executionPlan"]
    in_use = ksql(server, f"DROP STREAM {stream};")
    assert in_use.status_code == 400
    ok(server, f"PAUSE {query};")
    (paused,) = ok(server, "SHOW QUERIES;")
    assert [q["state"] for q in paused["queries"] if q["id"] == query] == ["PAUSED"]
    ok(server, f"RESUME {query}; TERMINATE {query}; DROP STREAM {stream}_2; DROP STREAM {stream};")


def test_the_rest_of_a_request_waits_for_its_statements(server: HttpServer, stream: str) -> None:
    answer = ksql(server, f"SHOW STREAMS; DROP STREAM {stream}_NONE; DROP STREAM {stream};")
    body = answer.json()
    assert (answer.status_code, body["@type"]) == (400, "statement_error")
    assert body["statementText"] == f"DROP STREAM {stream}_NONE;"
    assert [entity["@type"] for entity in body["entities"]] == ["streams"]
    (listed,) = ok(server, "SHOW STREAMS;")
    assert stream in [row["name"] for row in listed["streams"]]


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        ({"ksql": "SELCT 1;"}, 400, 40001, "Did you mean 'SELECT'?"),
        ({"ksql": "SELECT * FROM x EMIT CHANGES;"}, 400, 40002, "/query"),
        ({"ksql": ""}, 400, 40000, "no statement"),
        ({}, 400, 40000, "no statement"),
        ([], 400, 40000, "not an object"),
        ({"ksql": "SHOW STREAMS;", "streamsProperties": {"no.such": "1"}}, 400, 40001, "no.such"),
        ({"ksql": "SET 'auto.ofset.reset' = 'x';"}, 400, 40001, "auto.offset.reset"),
        ({"ksql": "DESCRIBE FUNCTION nothing;"}, 400, 40001, "NOTHING"),
        ({"ksql": "ASSERT TOPIC nowhere_at_all TIMEOUT 1 MILLISECONDS;"}, 417, 41700, "not exist"),
        ({"ksql": "SHOW CONNECTORS;"}, 400, 40001, "not available"),
        ({"ksql": "DROP STREAM ${missing};"}, 400, 40001, "missing"),
    ],
)
def test_refusals(server: HttpServer, body: Any, status: int, code: int, words: str) -> None:
    answer = httpx.post(f"{server.sql_url}/ksql", json=body)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code), answer.text
    assert words in answer.json()["message"]


def test_looks_that_need_no_source(server: HttpServer) -> None:
    functions, properties, types, variables = ok(
        server,
        "SHOW FUNCTIONS; SHOW PROPERTIES; SHOW TYPES; SHOW VARIABLES;",
        sessionVariables={"who": "ann"},
    )
    assert len(functions["functions"]) > 100
    assert any(row["name"] == "auto.offset.reset" for row in properties["properties"])
    assert types["@type"] == "type_list"
    assert variables["variables"] == [{"name": "who", "value": "ann"}]
    (one,) = ok(server, "DESCRIBE FUNCTION ucase;")
    assert (one["name"], one["type"]) == ("UCASE", "SCALAR")


def test_rows_are_inserted(server: HttpServer, kafka: KafkaServer, stream: str) -> None:
    assert ok(server, f"INSERT INTO {stream} (id, song, ms) VALUES ('a', 'x', 5);") == []
    wrong = ksql(server, f"INSERT INTO {stream} (id, sng) VALUES ('a', 'x');")
    assert wrong.json()["error_code"] == 40001
    lines = [
        {"target": stream},
        {"id": "b", "song": "y", "ms": 7, "tags": ["p", "q"]},
        {"id": "c", "sng": 1},
        {"ID": "d", "MS": "12"},
    ]
    body = "\n".join(json.dumps(line) for line in lines)
    with httpx.Client(http1=False, http2=True) as client:
        answer = client.post(f"{server.sql_url}/inserts-stream", content=body)
    told = [json.loads(line) for line in answer.text.splitlines()]
    assert [(each["seq"], each["status"]) for each in told] == [(0, "ok"), (1, "error"), (2, "ok")]
    assert told[1]["error_code"] == 40000
    assert (
        httpx.post(f"{server.sql_url}/inserts-stream", content=body).json()["error_code"] == 40004
    )
    records = list(consume(kafka.connection, Selection(stream)))
    assert [record.key for record in records] == [b"a", b"b", b"d"]
    assert [json.loads(record.value or b"") for record in records] == [
        {"SONG": "x", "MS": 5, "TAGS": None},
        {"SONG": "y", "MS": 7, "TAGS": ["p", "q"]},
        {"SONG": None, "MS": 12, "TAGS": None},
    ]
    shown = httpx.post(
        f"{server.sql_url}/query", json={"ksql": f"PRINT {stream} FROM BEGINNING LIMIT 2;"}
    ).text
    assert "Key format: KAFKA_STRING" in shown
    assert 'key: a, value: {"SONG":"x","MS":5,"TAGS":null}, partition: 0' in shown


def test_schemas_follow_from_columns(server: HttpServer, name: str) -> None:
    ok(
        server,
        f"CREATE STREAM {name} (id BIGINT KEY, v STRUCT<a INT>)"
        f" WITH (KAFKA_TOPIC='{name}', PARTITIONS=1, VALUE_FORMAT='AVRO');",
    )
    found = httpx.get(f"{server.registry_url}/subjects/{name}-value/versions/latest").json()
    assert json.loads(found["schema"])["name"] == "KsqlDataSourceSchema"
    ok(server, f"INSERT INTO {name} (id, v) VALUES (1, STRUCT(a := 2));")
    shown = httpx.post(
        f"{server.sql_url}/query", json={"ksql": f"PRINT {name} FROM BEGINNING LIMIT 1;"}
    ).text
    assert "Value format: AVRO" in shown
    # Another source over the topic needs no columns: the registry knows them.
    ok(server, f"CREATE STREAM {name}_AGAIN WITH (KAFKA_TOPIC='{name}', FORMAT='AVRO');")


def test_queries_that_cannot_run_are_refused_before_they_start(
    server: HttpServer, stream: str
) -> None:
    def ask(path: str, word: str, text: str) -> httpx.Response:
        return httpx.post(f"{server.sql_url}{path}", json={word: text})

    for path, word in (("/query", "ksql"), ("/query-stream", "sql")):
        unknown = ask(path, word, f"SELECT nothing FROM {stream} EMIT CHANGES;")
        assert (unknown.status_code, unknown.json()["error_code"]) == (400, 40001)
        assert "NOTHING" in unknown.json()["message"]
        assert ask(path, word, "SHOW STREAMS;").status_code == 400
        assert ask(path, word, "PRINT nowhere_at_all;").status_code == 400
    gone = httpx.post(f"{server.sql_url}/close-query", json={"queryId": "nobody"})
    assert gone.status_code == 400


def shell(server: HttpServer, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(BIN / "orion"), "sql", *words],
        cwd=server.folder,
        env={**os.environ, **server.env, "COLUMNS": "80"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_line_asks_and_tells(server: HttpServer, stream: str, tmp_path: Path) -> None:
    shown = shell(server, "-e", "SHOW STREAMS;")
    assert shown.returncode == 0, shown.stderr
    assert f"| {stream}" in shown.stdout
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())
    (entity,) = [
        json.loads(line)
        for line in shell(server, "-o", "json", "-e", "SHOW STREAMS;").stdout.splitlines()
    ]
    assert entity["@type"] == "streams"
    assert "Name,Kafka Topic" in shell(server, "-o", "csv", "-e", "SHOW STREAMS;").stdout
    script = tmp_path / "script.sql"
    spool = tmp_path / "spool.txt"
    script.write_text(
        f"-- rows\nDEFINE who = 'eve';\nINSERT INTO {stream} (id, ms)\n  VALUES ('${{who}}', 1);\n"
        f"SPOOL '{spool}';\nPRINT {stream} FROM BEGINNING LIMIT 1;\nSPOOL OFF;\n"
        "SET 'auto.offset.reset' = 'earliest';\n"
    )
    done = shell(server, "-f", str(script))
    assert done.returncode == 0, done.stderr
    assert "key: eve" in spool.read_text()
    assert "'auto.offset.reset' is set to 'earliest'." in done.stdout
    script.write_text(
        f"SPOOL '{spool}';\nSHOW STREAMS;\nSPOOL OFF;\n\n  SELECT ms FORM {stream};\n"
    )
    failed = shell(server, "-f", str(script))
    assert "at line 5, column 18" in failed.stderr, failed.stderr
    piped = shell(server, stdin=f"DESCRIBE {stream};")
    assert "VARCHAR" in piped.stdout or "STRING" in piped.stdout
    wrong = shell(server, "-e", "DESCRIBE nothing_here;")
    assert wrong.returncode == 2
    assert "does not exist" in wrong.stderr
    typo = shell(server, "-e", f"SELECT id, sng FROM {stream} EMIT CHANGES;")
    assert "Did you mean 'SONG'?" in typo.stderr
    assert typo.stderr.splitlines()[-1].strip() == "^^^"
    away = shell(server, "-s", "http://127.0.0.1:9", "-e", "SHOW STREAMS;")
    assert away.returncode == 5


def test_keys_that_are_numbers_are_printed_as_such(server: HttpServer, name: str) -> None:
    ok(
        server,
        f"CREATE STREAM {name} (id BIGINT KEY, n INT)"
        f" WITH (KAFKA_TOPIC='{name}', PARTITIONS=1, VALUE_FORMAT='JSON');"
        f" INSERT INTO {name} (id, n) VALUES (7, 1);",
    )
    printed = shell(server, "-e", f"PRINT {name} FROM BEGINNING LIMIT 1;").stdout
    assert "Key format: KAFKA_BIGINT or KAFKA_DOUBLE" in printed
    assert "key: 7," in printed


def test_a_websocket_gets_a_frame_for_each_line(server: HttpServer, stream: str) -> None:
    ok(server, f"INSERT INTO {stream} (id, ms) VALUES ('w', 1);")
    request = json.dumps({"ksql": f"PRINT {stream} FROM BEGINNING LIMIT 1;"})
    frames = socket_frames(server.sql_port, f"/ws/query?request={quote(request)}")
    assert "key: w" in frames[2]
    assert json.loads(frames[-1]) == {"done": "Query Completed"}
    wrong = socket_frames(server.sql_port, "/ws/query?request=" + quote('{"ksql": "SELCT"}'))
    assert "SELCT" in json.loads(wrong[0])["error"]


def socket_frames(port: int, target: str) -> list[str]:
    """Speak as a WebSocket client until the server closes; return the texts."""
    client = WSConnection(ConnectionType.CLIENT)
    frames: list[str] = []
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        link.sendall(client.send(wsproto.events.Request(host="localhost", target=target)))
        text = ""
        while True:
            client.receive_data(link.recv(65_536) or None)
            for event in client.events():
                if isinstance(event, wsproto.events.TextMessage):
                    text += event.data
                    if event.message_finished:
                        frames.append(text)
                        text = ""
                elif isinstance(event, wsproto.events.CloseConnection):
                    link.sendall(client.send(event.response()))
                    return frames


def test_the_shell_talks_on_a_terminal(server: HttpServer, stream: str) -> None:
    ok(server, f"INSERT INTO {stream} (id, ms) VALUES ('pty', 1);")
    command = [str(BIN / "orion"), "sql"]
    with Terminal(command, folder=server.folder, env=server.env) as shell:
        shell.wait_for("orion>")
        # A statement goes on until its semicolon, over as many lines as it needs.
        shell.enter("DESCRIBE")
        shell.enter(f"{stream};")
        shell.wait_for("ARRAY<STRING>")
        shell.enter("DESCRIBE nothing_here;")
        shell.wait_for("does not exist")
        shell.wait_for("orion>")
        # Keywords are completed, and the names of what there is.
        shell.type("DESCR\t")
        shell.wait_for("DESCRIBE")
        shell.type(f" {stream[:-1].lower()}\t")
        shell.wait_for(stream)
        shell.enter(";")
        shell.wait_for("ARRAY<STRING>")
        shell.enter(f"PRINT {stream} FROM BEGINNING;")
        shell.wait_for("key: pty")
        shell.type(INTERRUPT)
        shell.wait_for("Query terminated.")
        shell.enter("help")
        shell.wait_for("SPOOL")
        shell.enter("exit")
        assert shell.process.wait(timeout=15) == 0
    assert (server.folder / ".orion" / "sql_history").read_text().count("DESCRIBE") == 3
