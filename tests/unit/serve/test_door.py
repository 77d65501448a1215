"""Doors answer errors in one form, bound bodies and ask for passwords."""

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orion.model import NotFoundError, UnavailableError
from orion.serve import open_door, read_json


class LostError(NotFoundError):
    """A leaf without a line of its own in the table."""


async def echo(request: Request) -> Response:
    return JSONResponse(await read_json(request, media_types=("application/json",)))


async def lose(_request: Request) -> Response:
    raise LostError("Nothing is here.", fix="Look elsewhere.")


async def be_away(_request: Request) -> Response:
    raise UnavailableError("The log is away.")


async def break_down(_request: Request) -> Response:
    raise ZeroDivisionError


ROUTES = [
    Route("/echo", echo, methods=["POST"]),
    Route("/lost", lose),
    Route("/away", be_away),
    Route("/fault", break_down),
]


def client(**more: object) -> httpx.AsyncClient:
    door = open_door("test", 1, ROUTES, **more)  # type: ignore[arg-type]
    transport = httpx.ASGITransport(door.asgi, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://door")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "status", "code"),
    [("/lost", 404, 404), ("/away", 503, 50301), ("/fault", 500, 50001), ("/none", 404, 404)],
)
async def test_errors_have_one_form(path: str, status: int, code: int) -> None:
    async with client() as http:
        answer = await http.get(path)
    assert (answer.status_code, answer.json()["error_code"]) == (status, code)
    assert answer.json()["message"]


@pytest.mark.anyio
async def test_a_wrong_method_is_named() -> None:
    async with client() as http:
        answer = await http.get("/echo")
    assert (answer.status_code, answer.json()["error_code"]) == (405, 405)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"a": 1}', "application/json", 200),
        (b'{"a": 1}', "application/json; charset=utf-8", 200),
        (b'{"a": ', "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"a": 1}', "text/plain", 415),
        (b'{"a": "' + b"x" * 2_000 + b'"}', "application/json", 413),
    ],
)
async def test_bodies(body: bytes, kind: str, status: int) -> None:
    async with client(max_body_bytes=1_000) as http:
        answer = await http.post("/echo", content=body, headers={"content-type": kind})
    assert answer.status_code == status


@pytest.mark.anyio
async def test_a_locked_door_opens_for_a_password() -> None:
    async with client(passwords={"ann": "planted"}) as http:
        assert (await http.get("/lost")).status_code == 401
        assert (await http.get("/lost", auth=("ann", "guess"))).status_code == 401
        assert (await http.get("/lost", auth=("bob", ""))).status_code == 401
        assert (await http.get("/lost", auth=("ann", "planted"))).status_code == 404
