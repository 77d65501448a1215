"""`orion schemas` and the console tools, as typed, against a real server."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from orion.testing.server import HttpServer

pytestmark = pytest.mark.timeout(120)
BIN = Path(sys.executable).parent
V1 = {"type": "record", "name": "Reading", "fields": [{"name": "who", "type": "string"}]}
V1["fields"].append({"name": "value", "type": ["long", "string"]})  # type: ignore[attr-defined]
MUST = {**V1, "fields": [*V1["fields"], {"name": "kind", "type": "string"}]}
MAY = {**V1, "fields": [*V1["fields"], {"name": "kind", "type": "string", "default": "?"}]}


def run(
    server: HttpServer, *words: str, stdin: str = "", cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        cwd=cwd or server.folder,
        env={**os.environ, **server.env, "COLUMNS": "200"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def ok(server: HttpServer, *words: str, stdin: str = "", cwd: Path | None = None) -> str:
    done = run(server, *words, stdin=stdin, cwd=cwd)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def topic() -> str:
    return f"readings-{uuid.uuid4().hex[:8]}"


def test_schemas_are_managed_in_words(server: HttpServer, tmp_path: Path, topic: str) -> None:
    subject = f"{topic}-value"
    for name, schema in (("v1", V1), ("must", MUST), ("may", MAY)):
        (tmp_path / f"{name}.avsc").write_text(json.dumps(schema))

    def orion(*words: str) -> "subprocess.CompletedProcess[str]":
        return run(server, "orion", "schemas", *words, cwd=tmp_path)

    assert "version 1" in orion("register", subject, "v1.avsc").stdout
    refused = orion("check", subject, "must.avsc")
    assert refused.returncode == 4
    for words in ("not safe", "Field 'kind'", "version 1's data lacks it", "consumers first"):
        assert words in refused.stdout
    safe = orion("check", subject, "may.avsc")
    assert safe.returncode == 0
    assert "Upgrade the consumers first" in safe.stdout
    assert "FULL" in safe.stdout
    conflict = orion("register", subject, "must.avsc")
    assert conflict.returncode == 4
    assert "nothing was registered" in conflict.stderr
    assert json.loads(orion("register", subject, "may.avsc", "--json").stdout)["version"] == 2
    difference = orion("diff", subject, "1", "2").stdout
    assert '+      "name": "kind",' in difference
    assert "Version 2 reads data of version 1." in difference
    assert "FULL" in orion("compat", subject, "full").stdout
    (row,) = [r for r in json.loads(orion("list", "--json").stdout) if r["subject"] == subject]
    assert (row["versions"], row["type"], row["compatibility"]) == ([1, 2], "AVRO", "FULL")
    assert '"name": "Reading"' in orion("show", subject, "1").stdout
    assert orion("delete", subject, "--version", "1", "--yes").returncode == 0
    assert orion("delete", subject, "--yes").returncode == 0
    assert orion("show", subject).returncode == 3
    broken = tmp_path / "broken.avsc"
    broken.write_text("{")
    assert orion("register", subject, "broken.avsc").returncode == 2


def _common(server: HttpServer, topic: str) -> list[str]:
    registry = f"schema.registry.url={server.registry_url}"
    brokers = server.env["ORION_KAFKA_BOOTSTRAP_SERVERS"]
    return ["--topic", topic, "--bootstrap-server", brokers, "--property", registry]


def test_an_avro_topic_evolves_on_the_console(server: HttpServer, topic: str) -> None:
    """Write with a schema, refuse one that breaks readers, go on with one that does not."""
    common = _common(server, topic)
    first = '{"who":"a","value":{"long":999}}\n{"who":"b","value":{"string":"starting"}}\n'
    producer = "kafka-avro-console-producer"
    schema = "value.schema={}".format
    ok(server, producer, *common, "--property", schema(json.dumps(V1)), stdin=first)
    read = ("kafka-avro-console-consumer.sh", *common, "--from-beginning", "--timeout-ms", "20000")
    assert ok(server, *read, "--max-messages", "2") == first
    third = '{"who":"c","value":{"long":1},"kind":"m"}\n'
    refused = run(server, producer, *common, "--property", schema(json.dumps(MUST)), stdin=third)
    assert refused.returncode == 4
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in refused.stderr
    ok(server, producer, *common, "--property", schema(json.dumps(MAY)), stdin=third)
    assert ok(server, *read, "--max-messages", "3") == first + third
    wrong = run(
        server, producer, *common, "--property", schema(json.dumps(V1)), stdin='{"who":1}\n'
    )
    assert wrong.returncode == 2
    assert "does not fit the schema" in wrong.stderr


@pytest.mark.parametrize(
    ("kind", "schema", "line"),
    [
        ("json-schema", '{"type": "object", "properties": {"a": {"type": "integer"}}}', '{"a":1}'),
        (
            "protobuf",
            'syntax = "proto3"; message M { int32 a = 1; string b = 2; }',
            '{"a": 1, "b": ""}',
        ),
    ],
)
def test_other_kinds_on_the_console(
    server: HttpServer, topic: str, kind: str, schema: str, line: str
) -> None:
    common = _common(server, topic)
    ok(
        server,
        f"kafka-{kind}-console-producer",
        *common,
        *("--property", f"value.schema={schema}", "--property", "parse.key=true"),
        *("--property", "key.separator=|"),
        *("--property", "key.serializer=org.apache.kafka.common.serialization.StringSerializer"),
        stdin=f"k1|{line}\n",
    )
    name = "org.apache.kafka.common.serialization.StringDeserializer"
    found = ok(
        server,
        f"kafka-{kind}-console-consumer",
        *common,
        *("--from-beginning", "--max-messages", "1", "--timeout-ms", "20000"),
        *("--property", "print.key=true", "--property", f"key.deserializer={name}"),
    )
    assert found == f"k1\t{line}\n"
