"""Schemas over HTTP, asked of a server that notes what it is asked."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from orion.formats import (
    HttpSchemas,
    RegistryRefusedError,
    RegistryUnreachableError,
    Schema,
    SchemaKind,
    SchemaNotFoundError,
)

ANSWERS: dict[str, tuple[int, Any]] = {
    "/schemas/ids/7": (200, {"schema": '"int"'}),
    "/subjects/a%2Fb-value/versions": (200, [1]),
    "/subjects/a%2Fb-value/versions/1": (
        200,
        {"id": 7, "schema": "{}", "schemaType": "JSON"},
    ),
    "/subjects/refused/versions/latest": (422, {"error_code": 42201, "message": "no"}),
}


class _Answering(BaseHTTPRequestHandler):
    asked: list[tuple[str, str | None]] = []  # noqa: RUF012 - one list for the whole server

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization")))
        status, body = ANSWERS.get(self.path, (404, {"error_code": 40401, "message": "none"}))
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


@pytest.fixture
def address() -> Iterator[str]:
    _Answering.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_what_an_id_stands_for_is_asked_once(address: str) -> None:
    schemas = HttpSchemas(f"http://{address}/")
    for _ in range(2):
        assert schemas.schema(7) == Schema(SchemaKind.AVRO, '"int"')
    assert [path for path, _ in _Answering.asked] == ["/schemas/ids/7"]
    (version,) = schemas.versions("a/b-value")
    assert (version.id, version.schema.kind) == (7, SchemaKind.JSON)


def test_user_and_password_of_the_address_are_sent(address: str) -> None:
    schemas = HttpSchemas(f"http://us%65r:secret@{address}")
    schemas.schema(7)
    assert _Answering.asked == [("/schemas/ids/7", "Basic dXNlcjpzZWNyZXQ=")]


def test_what_is_not_there_is_told(address: str) -> None:
    schemas = HttpSchemas(f"http://{address}")
    assert schemas.latest("none") is None
    assert schemas.versions("none") == ()
    with pytest.raises(SchemaNotFoundError):
        schemas.schema(8)
    with pytest.raises(RegistryRefusedError, match="refused: no"):
        schemas.latest("refused")


def test_a_registry_that_is_away_is_told_without_its_password() -> None:
    with pytest.raises(RegistryUnreachableError, match=r"at http://127.0.0.1:1 does") as caught:
        HttpSchemas("http://user:secret@127.0.0.1:1").latest("a")
    assert "secret" not in str(caught.value)
