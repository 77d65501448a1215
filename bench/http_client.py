"""HTTP/1.1 clients that cost little beside the server they load: one socket each, no parsing."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import h2.config
import h2.connection
import h2.events

_END = b"\r\n\r\n"
_LENGTH = b"content-length: "


def request_bytes(path: str, body: bytes, **headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + _END + body


class Client(asyncio.Protocol):
    """One kept connection; a request at a time."""

    def __init__(self) -> None:
        self._found = bytearray()
        self._needed = 0
        self._done: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def connect(cls, port: int) -> "Client":
        loop = asyncio.get_running_loop()
        _, client = await loop.create_connection(cls, "127.0.0.1", port)
        return client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, request: bytes) -> "asyncio.Future[bytes]":
        assert self._transport is not None
        self._done = asyncio.get_running_loop().create_future()
        self._found.clear()
        self._needed = 0
        self._transport.write(request)
        return self._done

    def data_received(self, data: bytes) -> None:
        self._found += data
        if not self._needed:
            head = self._found.find(_END)
            if head < 0:
                return
            at = self._found.lower().find(_LENGTH, 0, head) + len(_LENGTH)
            self._needed = head + len(_END) + int(self._found[at : self._found.find(b"\r", at)])
        if len(self._found) >= self._needed and self._done is not None:
            self._done.set_result(bytes(self._found))

    def connection_lost(self, error: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(ConnectionError(str(error)))

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()


async def open_loop(port: int, requests: Iterator[bytes], *, rate: int, seconds: float) -> Any:
    """Send at fixed moments; a late answer delays no other. Returns latencies from those moments.

    Latency counts from when a request was due, so that a server that stalls cannot hide it.
    """
    idle = [await Client.connect(port) for _ in range(32)]
    latencies: list[float] = []
    late: set[asyncio.Task[None]] = set()
    failed = 0

    async def ask(request: bytes, due: float) -> None:
        nonlocal failed
        client = idle.pop() if idle else await Client.connect(port)
        answer = await client.ask(request)
        latencies.append(time.perf_counter() - due)
        failed += not answer.startswith(b"HTTP/1.1 200")
        idle.append(client)

    begun = time.perf_counter()
    for number in range(int(rate * seconds)):
        due = begun + number / rate
        wait = due - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        task = asyncio.create_task(ask(next(requests), due))
        late.add(task)
        task.add_done_callback(late.discard)
    await asyncio.gather(*late)
    for client in idle:
        client.close()
    return latencies, failed


async def closed_loop(
    port: int, requests: Iterator[bytes], *, clients: int, seconds: float
) -> tuple[int, int]:
    """Let each client ask again as soon as it has its answer; return answers and failures."""
    end = time.perf_counter() + seconds
    counts = [0, 0]

    async def run() -> None:
        client = await Client.connect(port)
        while time.perf_counter() < end:
            answer = await client.ask(next(requests))
            counts[0] += 1
            counts[1] += not answer.startswith(b"HTTP/1.1 200")
        client.close()

    await asyncio.gather(*(run() for _ in range(clients)))
    return counts[0], counts[1]


class Http2Client(asyncio.Protocol):
    """One connection with many requests under way, in clear text with prior knowledge."""

    def __init__(self, on_answer: Callable[[int], None]) -> None:
        self._link = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._on_answer = on_answer
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._link.initiate_connection()
        self._flush()

    def ask(self, path: str, body: bytes) -> None:
        stream = self._link.get_next_available_stream_id()
        head = [(":method", "POST"), (":path", path), (":scheme", "http"), (":authority", "x")]
        self._link.send_headers(stream, [*head, ("content-length", str(len(body)))])
        self._link.send_data(stream, body, end_stream=True)
        self._flush()

    def data_received(self, data: bytes) -> None:
        for event in self._link.receive_data(data):
            if isinstance(event, h2.events.DataReceived):
                self._link.acknowledge_received_data(
                    event.flow_controlled_length or 0, event.stream_id
                )
            elif isinstance(event, h2.events.StreamEnded):
                self._on_answer(event.stream_id)
        self._flush()

    def close(self) -> None:
        assert self._transport is not None
        self._transport.close()

    def _flush(self) -> None:
        assert self._transport is not None
        if pending := self._link.data_to_send():
            self._transport.write(pending)


async def closed_loop_2(
    port: int, bodies: Iterator[bytes], *, streams: int, seconds: float, path: str
) -> int:
    """The same over one HTTP/2 connection; return how many answers came."""
    end, answered = time.perf_counter() + seconds, 0
    over = asyncio.get_running_loop().create_future()

    def on_answer(_: int) -> None:
        nonlocal answered
        answered += 1
        if time.perf_counter() < end:
            client.ask(path, next(bodies))
        elif not over.done():
            over.set_result(None)

    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(lambda: Http2Client(on_answer), "127.0.0.1", port)
    for _ in range(streams):
        client.ask(path, next(bodies))
    await over
    client.close()
    return answered
