"""The schema registry on a real log: clients nobody here wrote, several servers, crashes."""

import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
import pytest

from orion.log import Connection, Selection, consume
from orion.testing.kafka import KafkaServer
from orion.testing.server import HttpServer
from orion.testing.wait import wait_until

pytestmark = pytest.mark.timeout(120)
Make = Callable[..., HttpServer]
STRIKES = int(os.environ.get("SOAK_STRIKES", "20")) // 10


def record(*fields: tuple[str, object], name: str = "Order") -> str:
    parts = [{"name": field, "type": kind} for field, kind in fields]
    return json.dumps({"type": "record", "name": name, "fields": parts})


def register(url: str, subject: str, schema: str) -> httpx.Response:
    return httpx.post(f"{url}/subjects/{subject}/versions", json={"schema": schema}, timeout=30)


def log_records(connection: Connection, topic: str) -> list[tuple[dict[str, object], object]]:
    found = consume(connection, Selection(topic))
    return [(json.loads(r.key or b""), json.loads(r.value) if r.value else None) for r in found]


@pytest.fixture
def subject() -> str:
    return f"orders-{uuid.uuid4().hex[:8]}-value"


def test_the_server_is_small_and_answers_both_protocols(server: HttpServer) -> None:
    with httpx.Client(http1=False, http2=True) as client:
        answer = client.get(f"{server.registry_url}/subjects")
    assert (answer.status_code, answer.http_version) == (200, "HTTP/2")
    for host in ("127.0.0.1", "localhost"):
        answer = httpx.get(f"http://{host}:{server.registry_port}/subjects")
        assert (answer.status_code, answer.http_version) == (200, "HTTP/1.1")
    assert server.process is not None
    assert psutil.Process(server.process.pid).memory_info().rss < 250 << 20


def test_changes_are_records_in_the_usual_form(
    kafka: KafkaServer, make_server: Make, subject: str
) -> None:
    topic = f"_schemas_{uuid.uuid4().hex[:8]}"
    server = make_server(registry__topic=topic)
    url = server.registry_url
    assert register(url, subject, record(("id", "long"))).json() == {"id": 1}
    httpx.put(f"{url}/config/{subject}", json={"compatibility": "FULL"}).raise_for_status()
    httpx.put(f"{url}/mode", json={"mode": "READONLY"}).raise_for_status()
    httpx.put(f"{url}/mode", json={"mode": "READWRITE"}).raise_for_status()
    httpx.delete(f"{url}/subjects/{subject}").raise_for_status()
    records = log_records(kafka.connection, topic)
    text = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
    assert records[:2] == [
        (
            {"keytype": "SCHEMA", "subject": subject, "version": 1, "magic": 1},
            {"subject": subject, "version": 1, "id": 1, "schema": text, "deleted": False},
        ),
        (
            {"keytype": "CONFIG", "subject": subject, "magic": 0},
            {"subject": subject, "compatibilityLevel": "FULL"},
        ),
    ]
    assert records[2] == (
        {"keytype": "MODE", "subject": None, "magic": 0},
        {"subject": None, "mode": "READONLY"},
    )
    assert records[4] == (
        {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0},
        {"subject": subject, "version": 1},
    )
    # An id that was given is never given again, not even when its schema is gone for good.
    httpx.delete(f"{url}/subjects/{subject}?permanent=true").raise_for_status()
    server.kill()
    server.start()
    assert httpx.get(f"{url}/subjects?deleted=true").json() == []
    assert register(url, subject, record(("other", "long"))).json() == {"id": 2}
    server.stop()


def test_two_servers_never_fork_an_id(make_server: Make) -> None:
    topic = f"_schemas_{uuid.uuid4().hex[:8]}"
    servers = [make_server(registry__topic=topic) for _ in range(2)]
    answers: dict[tuple[int, int], int] = {}

    def fill(place: int, server: HttpServer) -> None:
        for number in range(10):
            subject = f"subject-{number}"
            schema = record((f"f{number}", "int"), (f"server{place}", ["null", "int"]))
            httpx.put(
                f"{server.registry_url}/config/{subject}", json={"compatibility": "NONE"}
            ).raise_for_status()
            answer = register(server.registry_url, subject, schema)
            assert answer.status_code == 200, answer.text
            answers[place, number] = answer.json()["id"]

    threads = [threading.Thread(target=fill, args=pair) for pair in enumerate(servers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers.values()) == list(range(1, 21))
    views = [
        wait_until(lambda s=server: _whole(s, 20), what="Both servers to know all")  # type: ignore[misc]
        for server in servers
    ]
    assert views[0] == views[1]
    for server in servers:
        server.stop()


def _whole(server: HttpServer, count: int) -> list[dict[str, object]] | None:
    found: list[dict[str, object]] = httpx.get(f"{server.registry_url}/schemas").json()
    return found if len(found) == count else None


def test_a_kill_loses_nothing_that_was_acknowledged(kafka: KafkaServer, make_server: Make) -> None:
    topic = f"_schemas_{uuid.uuid4().hex[:8]}"
    server = make_server(registry__topic=topic)
    known: dict[str, int] = {}
    for strike in range(STRIKES):
        done = threading.Event()

        def write(strike: int = strike, done: threading.Event = done) -> None:
            with httpx.Client(timeout=5) as client:
                for number in range(1_000):
                    name = f"s{strike}-{number}"
                    try:
                        answer = client.post(
                            f"{server.registry_url}/subjects/{name}/versions",
                            json={"schema": record((f"f_{strike}_{number}", "int"))},
                        )
                    except httpx.HTTPError:
                        break
                    known[name] = answer.json()["id"]
            done.set()

        writer = threading.Thread(target=write)
        enough = len(known) + 3 + strike * 2
        writer.start()
        wait_until(lambda enough=enough: len(known) > enough)  # type: ignore[misc]
        server.kill()
        writer.join()
        server.start()
    url = server.registry_url
    stored = httpx.get(f"{url}/schemas").json()
    by_name = {item["subject"]: item for item in stored}
    for name, identity in known.items():
        assert by_name[name]["id"] == identity
    ids = [item["id"] for item in stored]
    assert len(set(ids)) == len(ids)
    # At most the one registration that was under way at each strike is there unacknowledged.
    assert len(stored) <= len(known) + STRIKES
    for item in stored:
        assert httpx.get(f"{url}/schemas/ids/{item['id']}/schema").json()["name"] == "Order"
    server.stop()


def test_a_locked_server_lets_its_own_commands_in(make_server: Make) -> None:
    server = make_server(toml='[server.passwords]\nann = "pl@nted"\n')
    for url in (server.registry_url, server.rest_url, server.sql_url):
        refused = httpx.get(f"{url}/")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Basic")
        assert httpx.get(f"{url}/", auth=("ann", "pl@nted")).status_code < 400
    env = {**os.environ, **server.env}
    for words in (("schemas", "list"), ("sql", "-e", "SHOW STREAMS;")):
        done = subprocess.run(
            [str(Path(sys.executable).parent / "orion"), *words],
            cwd=server.folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "pl@nted" not in done.stdout + done.stderr
    server.stop()
