"""The registry's API against recorded requests and answers, and against anything at all."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error

from orion import __version__
from orion.registry import Registry
from orion.serve import open_door
from orion.serve.registry import MEDIA_TYPE, OPERATIONS, Rewrite, registry_routes

CASES = Path(__file__).parents[2] / "cases" / "registry"
SCENARIOS = sorted(path.stem for path in CASES.glob("*.jsonl"))


def application(registry: Registry) -> Any:
    routes = registry_routes(registry, cluster_id=lambda: "the-cluster")
    return Rewrite(open_door("registry", 1, routes, media_type=MEDIA_TYPE).asgi)


def client() -> httpx.AsyncClient:
    transport = httpx.ASGITransport(application(Registry.in_memory()))
    return httpx.AsyncClient(transport=transport, base_url="http://registry")


def steps(scenario: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / f"{scenario}.jsonl").read_text().splitlines()]


@pytest.mark.anyio
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_scenario_is_answered_as_recorded(scenario: str) -> None:
    async with client() as http:
        for number, step in enumerate(steps(scenario), start=1):
            method, path = step["do"].split(" ", 1)
            body = {"json": step["body"]} if "body" in step else {}
            answer = await http.request(method, path, **body)
            found = answer.json() if answer.text else ""
            assert (answer.status_code, found) == (step["status"], step["answer"]), (number, step)
            assert answer.headers["content-type"] == MEDIA_TYPE


def test_every_operation_is_recorded_with_success() -> None:
    done = {
        (step["do"].split(" ")[0], _shape(step["do"].split(" ")[1].partition("?")[0]))
        for scenario in SCENARIOS
        for step in steps(scenario)
        if step["status"] == 200
    }
    wanted = {(each.method, _shape(each.path.replace("{id:int}", "{id}"))) for each in OPERATIONS}
    assert wanted <= done


def _shape(path: str) -> tuple[str, ...]:
    words = ("subjects", "versions", "schemas", "ids", "types", "schema", "config", "mode")
    more = ("contexts", "metadata", "referencedby", "compatibility", "guids")
    return tuple(word if word in (*words, *more) else "*" for word in path.strip("/").split("/"))


@pytest.mark.anyio
async def test_clients_that_take_more_are_told_the_global_identity() -> None:
    more = {"confluent-accept-unknown-properties": "true"}
    async with client() as http:
        made = (
            await http.post("/subjects/a/versions", json={"schema": '"int"'}, headers=more)
        ).json()
        assert {name: made[name] for name in made if name != "guid"} == {"id": 1, "version": 1}
        guid = made["guid"]
        for path in ("/subjects/a/versions/1", "/schemas/ids/1", f"/schemas/guids/{guid.upper()}"):
            assert (await http.get(path, headers=more)).json()["guid"] == guid
        assert "guid" not in (await http.get("/subjects/a/versions/1")).json()
        # The same schema has the same identity in another context, whatever its id there.
        await http.post("/subjects/:.lab:x/versions", json={"schema": '"long"'})
        await http.post("/subjects/:.lab:a/versions", json={"schema": '"int"'})
        ids = (await http.get(f"/schemas/guids/{guid}/ids")).json()
        assert ids == [{"context": ".", "id": 1}, {"context": ".lab", "id": 2}]


@pytest.mark.anyio
async def test_it_says_what_it_is() -> None:
    async with client() as http:
        assert (await http.get("/v1/metadata/version")).json()["version"] == __version__
        scope = (await http.get("/v1/metadata/id")).json()["scope"]
        assert scope["clusters"]["kafka-cluster"] == "the-cluster"
        assert (await http.get("/openapi.json")).json()["openapi"].startswith("3.")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("accept", "status", "chosen"),
    [
        ("*/*", 200, MEDIA_TYPE),
        ("application/json", 200, "application/json"),
        ("application/vnd.schemaregistry+json", 200, "application/vnd.schemaregistry+json"),
        ("text/html, application/json;q=0.5", 200, "application/json"),
        ("application/json;q=0.1, application/*;q=0.9", 200, MEDIA_TYPE),
        ("text/html", 406, MEDIA_TYPE),
    ],
)
async def test_media_types_of_answers(accept: str, status: int, chosen: str) -> None:
    async with client() as http:
        answer = await http.get("/subjects", headers={"accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (status, chosen)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (MEDIA_TYPE, 200),
        ("application/vnd.schemaregistry+json", 200),
        ("application/json", 200),
        ("application/octet-stream", 200),
        ("application/x-www-form-urlencoded", 415),
        ("text/plain", 415),
    ],
)
async def test_media_types_of_bodies(kind: str, status: int) -> None:
    async with client() as http:
        answer = await http.post(
            "/subjects/a/versions",
            content=b'{"schema": "\\"int\\""}',
            headers={"content-type": kind},
        )
    assert answer.status_code == status


@pytest.mark.anyio
async def test_names_may_hold_anything_that_a_path_can() -> None:
    name = "a/b c?d#e%é"
    async with client() as http:
        path = f"/subjects/{quote(name, safe='')}/versions"
        assert (await http.post(path, json={"schema": '"int"'})).status_code == 200
        assert (await http.get("/subjects")).json() == [name]
        assert (await http.get(f"{path}/1")).json()["subject"] == name


_api = schemathesis.openapi.from_asgi("/openapi.json", application(Registry.in_memory()))


@_api.parametrize()
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_is_the_servers_fault(case: Any) -> None:
    case.call_and_validate(checks=[not_a_server_error])
