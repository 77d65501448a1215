"""A whole platform for tests: log, engine and server of a project of its own."""

import json
from typing import Any

import httpx

from orion.testing.project import Project

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
