"""The SQL API under load: look-ups by key, scans, freshness, and many followers of one table."""

import asyncio
import json
import random
import statistics
import time
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

from bench.http_client import Client, closed_loop, closed_loop_2, open_loop, request_bytes
from bench.measure import percentiles, tree_cpu_s
from bench.push import Write, run_push
from orion.app import App

ROWS, RATE, CLIENTS = 100_000, 500, 16
TOPIC, PATH = "pull-rows", "/query-stream"
_SCANS, _FRESHENED = 10, 50
_DECLARE = f"""CREATE SOURCE TABLE pull_rows
  (id STRING PRIMARY KEY, n BIGINT, total BIGINT, name STRING)
  WITH (KAFKA_TOPIC='{TOPIC}', VALUE_FORMAT='JSON');"""
_LOOK_UP = "SELECT * FROM pull_rows WHERE id = '{}';"


def run_pull(app: App, *, seconds: int, server: int) -> dict[str, Any]:
    """Measure each by itself; `client_cores` tells that the client was not what limited it."""
    port = app.settings.server.sql_port
    app.topics.create(TOPIC, partitions=2, configs={"cleanup.policy": "compact"})
    producer = app.connection.producer(linger_ms=0)

    def write(rows: Iterable[tuple[int, int]]) -> None:
        for number, n in rows:
            producer.produce(TOPIC, _value(number, n), f"user-{number}".encode())
            producer.poll(0)
        producer.flush()

    write((number, number) for number in range(ROWS))
    _declare(port)
    _wait_for_rows(port)
    return {
        f"look-ups at {RATE}/s": _timed(_open(port, seconds), server),
        "look-ups at the limit": _timed(_closed(port, seconds), server),
        "look-ups over HTTP/2": _timed(_closed_2(port, seconds), server),
        f"scan of {ROWS} rows": _timed(_scan(port, "SELECT * FROM pull_rows;"), server),
        "scan with a condition": _timed(
            _scan(port, "SELECT id, n + 1 AS m FROM pull_rows WHERE n % 2 = 0;"), server
        ),
        "grouped and ordered": _timed(
            _scan(
                port,
                "SELECT n % 10 AS g, COUNT(*) AS c FROM pull_rows GROUP BY n % 10 ORDER BY g;",
            ),
            server,
        ),
        "commit to visible": _timed(_fresh(port, write), server),
        "push clients": _timed(run_push(port, write), server),
    }


def _value(number: int, n: int) -> bytes:
    body = {"n": n, "total": n * 100, "name": f"user number {number}"}
    return json.dumps(body).encode()


def _declare(port: int) -> None:
    body = json.dumps({"ksql": _DECLARE}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/ksql", body)
    request.add_header("Content-Type", "application/json")
    urllib.request.urlopen(request).read()


def _wait_for_rows(port: int) -> None:
    """Ask for the last row until it is there: the table is read at the first question."""

    async def wait() -> None:
        client = await Client.connect(port)
        while b"user number" not in await client.ask(_request(_LOOK_UP.format("user-99999"))):
            await asyncio.sleep(0.1)
        client.close()

    asyncio.run(wait())


def _timed(work: Any, server: int) -> dict[str, Any]:
    cpu, own, wall = tree_cpu_s(server), time.process_time(), time.perf_counter()
    found: dict[str, Any] = asyncio.run(work)
    wall_s = time.perf_counter() - wall
    cores = {"server": tree_cpu_s(server) - cpu, "client": time.process_time() - own}
    return found | {f"{name}_cores": round(cpu_s / wall_s, 2) for name, cpu_s in cores.items()}


def _request(text: str) -> bytes:
    return request_bytes(PATH, _body(text))


def _body(text: str) -> bytes:
    return json.dumps({"sql": text, "properties": {}}).encode()


def _bodies() -> Iterator[bytes]:
    chosen = random.Random(7)
    while True:
        yield _body(_LOOK_UP.format(f"user-{chosen.randrange(ROWS)}"))


def _requests() -> Iterator[bytes]:
    return (request_bytes(PATH, body) for body in _bodies())


async def _open(port: int, seconds: float) -> dict[str, Any]:
    await open_loop(port, _requests(), rate=RATE, seconds=2)
    latencies, failed = await open_loop(port, _requests(), rate=RATE, seconds=seconds)
    return {"failed": failed, **_ms(latencies)}


async def _closed(port: int, seconds: float) -> dict[str, Any]:
    answers, failed = await closed_loop(port, _requests(), clients=CLIENTS, seconds=seconds)
    return {"per_s": round(answers / seconds), "failed": failed}


async def _closed_2(port: int, seconds: float) -> dict[str, Any]:
    answers = await closed_loop_2(port, _bodies(), streams=CLIENTS, seconds=seconds, path=PATH)
    return {"per_s": round(answers / seconds)}


async def _scan(port: int, text: str) -> dict[str, Any]:
    client, taken = await Client.connect(port), []
    for _ in range(_SCANS):
        begun = time.perf_counter()
        answer = await client.ask(_request(text))
        taken.append(time.perf_counter() - begun)
        assert answer.startswith(b"HTTP/1.1 200"), answer[:500]
    client.close()
    return {"p50_ms": round(statistics.median(taken) * 1_000, 1), "most_ms": _most(taken)}


async def _fresh(port: int, write: Write) -> dict[str, Any]:
    """Time from when Kafka has a change to the first answer that shows it."""
    client, taken = await Client.connect(port), []
    for number in range(_FRESHENED):
        value = ROWS + number
        await asyncio.to_thread(write, [(number, value)])
        begun = time.perf_counter()
        while f",{value},".encode() not in await client.ask(
            _request(_LOOK_UP.format(f"user-{number}"))
        ):
            await asyncio.sleep(0.001)
        taken.append(time.perf_counter() - begun)
    client.close()
    return {**_ms(taken), "most_ms": _most(taken)}


def _ms(latencies: list[float]) -> dict[str, float]:
    return {f"{name}_ms": round(s * 1_000, 2) for name, s in percentiles(latencies).items()}


def _most(taken: list[float]) -> float:
    return round(max(taken) * 1_000, 1)
