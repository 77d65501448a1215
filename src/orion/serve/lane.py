"""A short way for small questions: read and answered in the event loop, on a kept connection.

The way through an ASGI server costs half a millisecond of CPU a request, several times what a
look-up by key does. A connection begins here; the first request that is not for here goes on, with
its connection, to the ASGI server.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from typing import Protocol

logger = logging.getLogger(__name__)

_HEAD_END = b"\r\n\r\n"
_LARGEST_HEAD, _LARGEST_BODY = 8 << 10, 64 << 10
_IDLE_S = 60.0
# What these ask for, or how they frame a body, is the ASGI server's business.
_ELSEWHERE = frozenset(
    (b"transfer-encoding", b"content-encoding", b"expect", b"upgrade", b"http2-settings")
)


@dataclass(frozen=True)
class Post:
    """A whole request."""

    path: str
    accept: str
    body: bytes


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    media_type: str
    body: bytes


class ShortWay(Protocol):
    """Answers some requests of an API by itself."""

    @property
    def paths(self) -> frozenset[str]:
        """The paths whose POST requests are offered."""

    def answer_now(self, post: Post) -> Answer | None:
        """Answer in the event loop, without waiting for anything; None: not possible."""

    async def answer(self, post: Post) -> Answer | None:
        """Answer what needs time; None: the request is for the ASGI server."""


class Lane(asyncio.Protocol):
    """One connection; used by the event loop only.

    Args:
        pass_on: Takes over the connection with what was read of it.
    """

    def __init__(
        self, way: ShortWay, pass_on: Callable[[asyncio.Transport, bytes], None], lanes: set["Lane"]
    ) -> None:
        self._way, self._pass_on, self._lanes = way, pass_on, lanes
        self._starts = {f"POST {path} HTTP/1.1".encode(): path for path in way.paths}
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._is_full = False
        self._heard = 0.0
        self._timer: asyncio.TimerHandle | None = None

    # -- what the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._lanes.add(self)
        self._heard = asyncio.get_running_loop().time()
        self._look_again()

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request that is whole is answered at once."""
        self._buffer += data
        self._heard = asyncio.get_running_loop().time()
        self._go_on()

    def pause_writing(self) -> None:
        """Take no further request: the client does not read its answers."""
        self._is_full = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Go on with what has come meanwhile."""
        self._is_full = False
        if self._transport is not None and self._task is None:
            self._transport.resume_reading()
            self._go_on()

    def connection_lost(self, error: Exception | None) -> None:
        """End; an answer under way is dropped."""
        self._leave()
        if self._task is not None:
            self._task.cancel()

    # -- requests

    @property
    def _can_go_on(self) -> bool:
        return self._task is None and bool(self._buffer) and not self._is_full

    def _go_on(self) -> None:
        while self._can_go_on and self._transport is not None:
            head, post = self._read()
            if head is None:
                return
            if post is None:
                self._hand_over()
                return
            try:
                answer = self._way.answer_now(post)
            except Exception:
                logger.exception("a request to %s", post.path)
                answer = _FAULT
            if answer is None:
                self._transport.pause_reading()
                self._task = asyncio.get_running_loop().create_task(self._answer(head, post))
                return
            del self._buffer[:head]
            self._write(answer)

    async def _answer(self, length: int, post: Post) -> None:
        try:
            answer = await self._way.answer(post)
        except Exception:
            logger.exception("a request to %s", post.path)
            answer = _FAULT
        self._task = None
        if self._transport is None or self._transport.is_closing():
            return
        if answer is None:
            self._transport.resume_reading()
            self._hand_over()
            return
        del self._buffer[:length]
        self._write(answer)
        if not self._is_full:
            self._transport.resume_reading()
        self._go_on()

    def _read(self) -> tuple[int | None, Post | None]:
        """Return the length of the next request, None while it is not whole, and the request.

        A length without a request says that it is not for here.
        """
        buffer = self._buffer
        end = buffer.find(_HEAD_END)
        if end < 0:
            could_be = len(buffer) < _LARGEST_HEAD and buffer[:5] == b"POST "[: len(buffer)]
            return (None, None) if could_be else (0, None)
        found = self._read_head(bytes(buffer[:end]))
        if found is None:
            return 0, None
        path, accept, size = found
        start = end + len(_HEAD_END)
        if len(buffer) < start + size:
            return None, None
        return start + size, Post(path, accept, bytes(buffer[start : start + size]))

    def _read_head(self, head: bytes) -> tuple[str, str, int] | None:
        """Return path, Accept and the length of the body; None: not for here."""
        first, *lines = head.split(b"\r\n")
        path = self._starts.get(first)
        if path is None:
            return None
        given: dict[bytes, bytes] = {}
        for line in lines:
            name, colon, value = line.partition(b":")
            lower = name.lower()
            # Folded lines and repeated headers are rare, and easy to get wrong.
            if not colon or lower in given or lower in _ELSEWHERE or line[:1] in (b" ", b"\t"):
                return None
            given[lower] = value.strip()
        size = given.get(b"content-length", b"")
        if not size.isdigit() or len(size) > 9 or int(size) > _LARGEST_BODY:
            return None
        if given.get(b"connection", b"keep-alive").lower() != b"keep-alive":
            return None
        return path, given.get(b"accept", b"").decode("latin-1"), int(size)

    def _write(self, answer: Answer) -> None:
        assert self._transport is not None
        head = (
            f"HTTP/1.1 {answer.status} \r\ncontent-type: {answer.media_type}\r\n"
            f"content-length: {len(answer.body)}\r\ndate: {formatdate(usegmt=True)}\r\n\r\n"
        )
        self._transport.write(head.encode("latin-1") + answer.body)

    # -- the end

    def _hand_over(self) -> None:
        transport, self._transport = self._transport, None
        self._leave()
        assert transport is not None
        self._pass_on(transport, bytes(self._buffer))

    def close(self) -> None:
        """Let the client go once nothing is under way."""
        if self._transport is not None and self._task is None:
            self._transport.close()

    def _look_again(self) -> None:
        """Close a connection that nobody speaks on."""
        loop = asyncio.get_running_loop()
        left_s = self._heard + _IDLE_S - loop.time()
        if left_s <= 0:
            self.close()
        self._timer = loop.call_later(max(left_s, 1.0), self._look_again)

    def _leave(self) -> None:
        self._lanes.discard(self)
        if self._timer is not None:
            self._timer.cancel()


_FAULT = Answer(
    HTTPStatus.INTERNAL_SERVER_ERROR,
    "application/json",
    b'{"error_code":50000,"message":"Orion itself is at fault; its log says more."}',
)
