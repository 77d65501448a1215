"""Bodies of requests: bounded, of a known media type, and JSON where JSON is expected."""

from collections.abc import Collection
from typing import Any

import orjson
from starlette.requests import Request

from orion.model import InvalidInputError, format_bytes


class BadBodyError(InvalidInputError):
    """Raised when a body is not what it says it is."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The body of the request cannot be read: {reason}.")


class BodyTooLargeError(InvalidInputError):
    """Raised when a body is larger than a door takes."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        super().__init__(
            f"The body of the request is larger than {format_bytes(limit_bytes)}.",
            fix="Send it in smaller parts.",
        )


class MediaTypeError(InvalidInputError):
    """Raised when a body is of a media type that the door does not read."""

    def __init__(self, found: str, known: Collection[str]) -> None:
        self.found, self.known = found, tuple(known)
        super().__init__(
            f"The body's media type is '{found or 'not given'}'.",
            fix=f"Send the header Content-Type: {self.known[0]}",
        )


async def read_json(
    request: Request, *, media_types: Collection[str] = (), max_bytes: int | None = None
) -> Any:
    """Return the body as JSON values; media type and size are checked where they are named."""
    if media_types:
        found = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if found not in media_types:
            raise MediaTypeError(found, media_types)
    body = await request.body() if max_bytes is None else await _bounded(request, max_bytes)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadBodyError(f"it is not JSON ({error})") from error


async def _bounded(request: Request, max_bytes: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise BodyTooLargeError(max_bytes)
    return bytes(body)
