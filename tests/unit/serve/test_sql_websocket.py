"""A query over a WebSocket ends with its client, who may leave while nothing is sent."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message
from starlette.websockets import WebSocket

from orion.serve.sql.websocket import while_there

_LIMIT_S = 10.0


def _socket(*messages: Message) -> WebSocket:
    """Return the socket of a client that sends messages and then stays silent."""
    left: list[Message] = [{"type": "websocket.connect"}, *messages]

    async def receive() -> Message:
        if not left:
            await asyncio.Event().wait()
        return left.pop(0)

    async def send(_message: Message) -> None:
        pass

    return WebSocket({"type": "websocket"}, receive, send)


def _run(socket: WebSocket, work: Any) -> None:
    async def run() -> None:
        await socket.accept()
        await asyncio.wait_for(while_there(socket, work), _LIMIT_S)

    asyncio.run(run())


def test_work_ends_when_the_client_is_gone() -> None:
    seen: list[str] = []

    async def silent() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("ended")

    said = {"type": "websocket.receive", "text": "hello"}
    _run(_socket(said, {"type": "websocket.disconnect", "code": 1001}), silent())
    assert seen == ["ended"]


def test_work_is_done_while_the_client_says_nothing() -> None:
    seen: list[str] = []

    async def quick() -> None:
        await asyncio.sleep(0)
        seen.append("done")

    _run(_socket(), quick())
    assert seen == ["done"]


def test_what_fails_is_told() -> None:
    async def failing() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        _run(_socket(), failing())
