"""The short way: whole small requests are answered in the loop, all others go on."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from orion.serve.lane import Answer, Post
from orion.serve.listen import Listener
from orion.supervise import free_ports

pytestmark = pytest.mark.anyio


class Way:
    """Answers at once, after a while, or not at all, as the body asks."""

    paths = frozenset(("/ask",))

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    def answer_now(self, post: Post) -> Answer | None:
        if post.body == b"break":
            raise ZeroDivisionError
        return _echo(post) if post.body.startswith(b"now") else None

    async def answer(self, post: Post) -> Answer | None:
        if post.body == b"elsewhere":
            return None
        await self.gate.wait()
        return _echo(post)


def _echo(post: Post) -> Answer:
    return Answer(200, "text/plain", b"short " + post.body + b" " + post.accept.encode())


async def long_way(request: Request) -> Response:
    return PlainTextResponse(b"long " + await request.body())


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, Way]]:
    routes = [Route("/ask", long_way, methods=["GET", "POST"]), Route("/other", long_way)]
    (port,) = free_ports(1)
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.graceful_timeout = 1.0
    way, stop = Way(), asyncio.Event()
    listener = Listener(Starlette(routes=routes), config, way)
    serving = asyncio.create_task(listener.serve(stop.wait))
    while not await asyncio.to_thread(_answers, port):
        assert not serving.done()
    try:
        yield port, way
    finally:
        stop.set()
        await asyncio.wait_for(serving, 10)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def post(body: bytes, *headers: str) -> bytes:
    lines = ["POST /ask HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def read_answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    size = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.startswith(b"content-length")
    )
    return head, await reader.readexactly(size)


async def on_one_connection(
    act: Callable[[asyncio.StreamReader, asyncio.StreamWriter, Way], Awaitable[None]],
) -> None:
    async with listening() as (port, way):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await act(reader, writer, way)
        writer.close()
        await writer.wait_closed()


async def test_requests_are_answered_in_order_however_their_bytes_arrive() -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
        whole = post(b"now 1", "Accept: a/b") + post(b"later") + post(b"now 2")
        for at in range(0, len(whole), 7):
            writer.write(whole[at : at + 7])
            await writer.drain()
            await asyncio.sleep(0)
        head, body = await read_answer(reader)
        assert head.startswith(b"HTTP/1.1 200 ")
        assert body == b"short now 1 a/b"
        way.gate.set()
        assert (await read_answer(reader))[1] == b"short later "
        assert (await read_answer(reader))[1] == b"short now 2 "

    await on_one_connection(act)


@pytest.mark.parametrize(
    "other",
    [
        b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n",
        post(b"now 9", "Connection: keep-alive").replace(b"/1.1", b"/1.0"),
        post(b"", "Transfer-Encoding: chunked").replace(b"Content-Length: 0\r\n", b"")
        + b"5\r\nnow 9\r\n0\r\n\r\n",
        post(b"now 9", "Connection: close"),
        post(b"now 9", "Accept: a", "Accept: b"),
        post(b"now " + b"9" * 70_000),
        post(b"elsewhere"),
    ],
)
async def test_what_is_not_for_the_short_way_goes_the_long_one(other: bytes) -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _way: Way) -> None:
        writer.write(post(b"now 1") + other)
        assert (await read_answer(reader))[1] == b"short now 1 "
        head, body = await read_answer(reader)
        assert b" 200 " in head.splitlines()[0]
        assert body.startswith(b"long")

    await on_one_connection(act)


async def test_a_client_that_does_not_read_is_asked_to_wait() -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _way: Way) -> None:
        body = b"now " + b"x" * 60_000
        for _ in range(200):
            writer.write(post(body))
        for _ in range(200):
            assert (await read_answer(reader))[1] == b"short " + body + b" "
        writer.write(post(b"now"))
        assert (await read_answer(reader))[1] == b"short now "

    await on_one_connection(act)


async def test_a_fault_is_an_answer() -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _way: Way) -> None:
        writer.write(post(b"break") + post(b"now"))
        assert (await read_answer(reader))[0].startswith(b"HTTP/1.1 500 ")
        assert (await read_answer(reader))[1] == b"short now "

    await on_one_connection(act)


async def test_http_2_goes_the_long_way() -> None:
    async with listening() as (port, _way), httpx.AsyncClient(http1=False, http2=True) as client:
        answer = await client.post(f"http://127.0.0.1:{port}/ask", content=b"now")
        assert (answer.http_version, answer.content) == ("HTTP/2", b"long now")


async def test_stopping_closes_who_is_idle_and_waits_for_who_is_served() -> None:
    async with listening() as (port, _way):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(post(b"now"))
        await read_answer(reader)
    assert await asyncio.wait_for(reader.read(), 5) == b""
    writer.close()
