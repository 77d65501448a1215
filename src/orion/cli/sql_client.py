"""The SQL API as a client sees it: statements answered at once, queries answered line by line."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from orion.model import InvalidInputError, UnavailableError, split_login

_TIMEOUT_S = 60.0


class SqlServerAwayError(UnavailableError):
    """Raised when no SQL server answers at an address."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(
            f"No SQL server answers at {url} ({reason}).",
            fix="Start the local one with: orion up --detach, or give --server.",
        )


class SqlRefusedError(InvalidInputError):
    """Raised when the server refuses a statement.

    Args:
        code: The server's number for it.
        message: Its words.
        place: Where in the statement the reason stands, as offsets, if the server told.
        excerpt: The line of that place, underlined.
    """

    def __init__(
        self, code: int, message: str, place: tuple[int, int] | None = None, excerpt: str = ""
    ) -> None:
        self.code, self.message, self.place, self.excerpt = code, message, place, excerpt
        super().__init__(f"{message}\n{excerpt}" if excerpt else message)


class SqlClient:
    """Speaks to one server."""

    def __init__(self, url: str) -> None:
        bare, login = split_login(url if "://" in url else f"http://{url}")
        parts = urlsplit(bare)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInputError(
                f"'{url}' is no address of a server.", fix="Write it as http://localhost:8088."
            )
        self.url = f"{parts.scheme}://{parts.hostname}:{parts.port or 8088}"
        self._parts = parts
        self._headers = {"Content-Type": "application/vnd.ksql.v1+json", **login}

    def version(self) -> str:
        """Return what the server says it is."""
        with self._ask("GET", "/info") as answer:
            return str(json.load(answer)["KsqlServerInfo"]["version"])

    def execute(
        self, text: str, properties: Mapping[str, str], variables: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        """Carry out statements and return their entities."""
        body = {
            "ksql": text,
            "streamsProperties": dict(properties),
            "sessionVariables": dict(variables),
        }
        with self._ask("POST", "/ksql", body) as answer:
            found: list[dict[str, Any]] = json.load(answer)
            return found

    @contextmanager
    def follow(
        self, text: str, properties: Mapping[str, str], variables: Mapping[str, str]
    ) -> Iterator[Iterator[str]]:
        """Run a query or PRINT and give its lines as they come; leaving the block ends it."""
        body = {
            "sql": text,
            "properties": dict(properties),
            "sessionVariables": dict(variables),
        }
        with self._ask("POST", "/query-stream", body, timeout_s=None) as answer:
            yield _lines(answer)

    @contextmanager
    def _ask(
        self, method: str, path: str, body: Any = None, *, timeout_s: float | None = _TIMEOUT_S
    ) -> Iterator[http.client.HTTPResponse]:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        host = self._parts.hostname or ""
        link = kind(host, self._parts.port or 8088, timeout=timeout_s)
        try:
            payload = None if body is None else json.dumps(body).encode()
            link.request(method, path, payload, self._headers)
            answer = link.getresponse()
            if answer.status >= 400:
                raise _refusal(answer)
            yield answer
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise SqlServerAwayError(self.url, str(error) or type(error).__name__) from error
        finally:
            link.close()


def _lines(answer: http.client.HTTPResponse) -> Iterator[str]:
    while line := answer.readline():
        text = line.decode().rstrip("\n")
        if text:
            yield text


def _refusal(answer: http.client.HTTPResponse) -> SqlRefusedError:
    try:
        body = json.load(answer)
        place = body.get("place")
        bounds = (int(place["start"]), int(place["end"])) if place else None
        return SqlRefusedError(int(body["error_code"]), str(body["message"]), bounds)
    except (ValueError, KeyError, TypeError):
        return SqlRefusedError(answer.status, f"The server answered with HTTP {answer.status}.")
