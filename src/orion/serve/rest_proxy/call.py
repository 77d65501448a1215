"""A request to the proxy as its functions see it: names, numbers and a body, all checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.requests import Request

from orion.serve.body import BadBodyError, BodyTooLargeError
from orion.serve.rest_proxy.errors import BadFieldError

MAX_BODY_BYTES = 16 << 20
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Call:
    """One request."""

    path: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    base: str = ""

    def word(self, name: str) -> str:
        """Return a part of the path."""
        return self.path[name]

    def number(self, name: str, default: int | None = None) -> int:
        """Return a part of the path or a parameter that is a whole number."""
        text = self.path.get(name, self.query.get(name))
        if text is None and default is not None:
            return default
        return whole(text, name)

    def fields(self) -> Mapping[str, Any]:
        """Return the body as an object."""
        if not isinstance(self.body, dict):
            raise BadBodyError("it is not an object")
        return self.body

    def objects(self, name: str) -> list[Mapping[str, Any]]:
        """Return a list of objects in the body."""
        found = self.fields().get(name)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise BadFieldError(name, "a list of objects")
        return found


def whole(value: Any, name: str) -> int:
    """Return a number that is whole and not negative."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
        return value
    raise BadFieldError(name, "a whole number from 0")


def text(value: Any, name: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise BadFieldError(name, "a text that is not empty")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise BadFieldError(name, "a text in Unicode") from error
    return value


async def read_call(request: Request) -> Call:
    """Read a request; an empty body is None."""
    body = await _read_body(request)
    try:
        found = orjson.loads(body) if body.strip() else None
    except orjson.JSONDecodeError as error:
        raise BadBodyError(f"it is not JSON ({error})") from error
    return Call(
        request.path_params,
        request.query_params,
        request.headers,
        found,
        str(request.base_url).rstrip("/"),
    )


async def _read_body(request: Request) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise BodyTooLargeError(MAX_BODY_BYTES)
        parts.append(part)
    return b"".join(parts)
