"""A door: the routes of one API as an application that answers errors, too, in the API's form."""

import base64
import binascii
import hmac
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orion.model import OrionError
from orion.serve.body import BodyTooLargeError
from orion.serve.errors import wire
from orion.serve.lane import ShortWay

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 16 << 20
_INTERNAL = 50001


@dataclass(frozen=True)
class Door:
    """One HTTP API on a port of its own.

    Args:
        short_way: Answers some requests before the ASGI application sees them.
    """

    name: str
    port: int
    asgi: ASGIApp
    short_way: ShortWay | None = None


def open_door(
    name: str,
    port: int,
    routes: Sequence[BaseRoute],
    *,
    media_type: str = "application/json",
    passwords: Mapping[str, str] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
) -> Door:
    """Return the door of an API.

    Args:
        routes: What the API answers; `routes(app)` of its folder.
        media_type: The media type of errors.
        passwords: Passwords by user; given: every request needs a user and a password.
    """

    async def on_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, OrionError)
        found = wire(error)
        if found.status >= 500:
            logger.warning("%s: %s", name, error)
        return error_answer(found.status, found.code, str(error), media_type)

    async def on_http(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        text = f"HTTP {error.status_code} {error.detail}"
        answer = error_answer(error.status_code, error.status_code, text, media_type)
        answer.headers.update(error.headers or {})
        return answer

    async def on_fault(_request: Request, error: Exception) -> Response:
        text = f"Orion itself is at fault ({type(error).__name__}); its log says more."
        return error_answer(500, _INTERNAL, text, media_type)

    layers = [Middleware(_Limit, max_bytes=max_body_bytes)]
    if passwords:
        layers.insert(0, Middleware(_Lock, passwords=dict(passwords), media_type=media_type))
    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
        OrionError: on_error,
        HTTPException: on_http,
        Exception: on_fault,
    }
    return Door(
        name, port, Starlette(routes=routes, middleware=layers, exception_handlers=handlers)
    )


def error_answer(status: int, code: int, text: str, media_type: str) -> Response:
    """Return an error in the form of Confluent's APIs."""
    body = orjson.dumps({"error_code": code, "message": text})
    return Response(body, status_code=status, media_type=media_type)


class _Limit:
    """Refuse a body that is too large, before and while it comes in."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._max_bytes:
                raise BodyTooLargeError(self._max_bytes)
            return message

        await self._app(scope, counted, send)


class _Lock:
    """Let in only who gives a known name and password (HTTP Basic)."""

    def __init__(self, app: ASGIApp, *, passwords: Mapping[str, str], media_type: str) -> None:
        self._app, self._passwords, self._media_type = app, passwords, media_type

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self._knows(scope):
            answer = error_answer(
                401, 401, "A user name and password are needed.", self._media_type
            )
            answer.headers["WWW-Authenticate"] = 'Basic realm="orion"'
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        kind, _, token = given.partition(b" ")
        if kind.lower() != b"basic":
            return False
        try:
            user, _, password = base64.b64decode(token).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return False
        expected = self._passwords.get(user, "")
        same = hmac.compare_digest(expected.encode(), password.encode())
        return same and user in self._passwords
