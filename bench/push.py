"""Many clients that follow one table: every change reaches each of them."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from typing import Any

from bench.http_client import request_bytes
from bench.measure import percentiles

# Writes rows by their numbers and values; they are stored when it returns.
Write = Callable[[Iterable[tuple[int, int]]], None]
FOLLOWERS, CHANGES = 100, 50
_LONGEST_S = 60.0
_MARK = 10_000_000


async def run_push(port: int, write: Write) -> dict[str, Any]:
    """Open the clients, change rows one by one, and time each change to each client."""
    followers = [await _Follower.open(port) for _ in range(FOLLOWERS)]
    await asyncio.gather(*(f.ready for f in followers))
    # The first change shows that everybody follows; those that are timed come after it.
    deadline = time.perf_counter() + _LONGEST_S
    while not all(f.seen for f in followers) and time.perf_counter() < deadline:
        await asyncio.to_thread(write, [(0, _MARK)])
        await asyncio.sleep(0.5)
    sent: dict[int, float] = {}
    for number in range(1, CHANGES + 1):
        sent[_MARK + number] = time.perf_counter()
        await asyncio.to_thread(write, [(number, _MARK + number)])
        await asyncio.sleep(0.05)
    while time.perf_counter() < deadline and not all(
        len(f.seen.keys() & sent.keys()) == CHANGES for f in followers
    ):
        await asyncio.sleep(0.05)
    taken = [f.seen[n] - at for f in followers for n, at in sent.items() if n in f.seen]
    for follower in followers:
        follower.close()
    found = {f"{name}_ms": round(s * 1_000, 1) for name, s in percentiles(taken or [0.0]).items()}
    return {"clients": FOLLOWERS, "lost": FOLLOWERS * CHANGES - len(taken), **found}


class _Follower(asyncio.Protocol):
    """Notes when each change arrives, by its number."""

    def __init__(self) -> None:
        self.ready = asyncio.get_running_loop().create_future()
        self.seen: dict[int, float] = {}
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def open(cls, port: int) -> "_Follower":
        loop = asyncio.get_running_loop()
        _, follower = await loop.create_connection(cls, "127.0.0.1", port)
        return follower

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        body = {"sql": "SELECT id, n FROM pull_rows EMIT CHANGES;", "properties": {}}
        transport.write(request_bytes("/query-stream", json.dumps(body).encode()))

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(b"[") and line.rstrip().endswith(b"]"):
                self.seen.setdefault(json.loads(line)[1], now)
            elif b"columnNames" in line and not self.ready.done():
                self.ready.set_result(None)

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()
