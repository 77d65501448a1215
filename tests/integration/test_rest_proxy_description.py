"""Requests of every shape that the proxy's description allows, and others: none is its fault."""

import uuid
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import DataObject, data
from schemathesis.checks import not_a_server_error

from orion.formats import MemorySchemas
from orion.log import Connection, Topics
from orion.serve.rest_proxy import Proxy, proxy_routes
from orion.serve.rest_proxy.description import describe
from orion.serve.rest_proxy.table import VERSION_3, version_2
from orion.serve.rest_proxy.v2.consumers import Consumers
from orion.testing.kafka import KafkaServer
from orion.testing.server import HttpServer

pytestmark = pytest.mark.timeout(200)

_offline = Proxy(Connection("nowhere:1"), MemorySchemas)
_operations = (*version_2(Consumers(_offline)), *VERSION_3)
OPERATIONS: list[Any] = [
    *schemathesis.openapi.from_dict(describe(_operations)).get_all_operations()
]


@pytest.fixture(scope="module")
def places(server: HttpServer, kafka: KafkaServer) -> dict[str, str]:
    """Give names that exist, so that requests get further than the first look-up."""
    topic = f"rest-{uuid.uuid4().hex[:8]}"
    Topics(kafka.connection).create(topic, partitions=1)
    cluster = httpx.get(f"{server.rest_url}/v3/clusters").json()["data"][0]["cluster_id"]
    group = f"group-{uuid.uuid4().hex[:8]}"
    made = httpx.post(f"{server.rest_url}/consumers/{group}", json={"name": "one"})
    assert made.status_code == 200
    names = {"cluster": cluster, "topic": topic, "group": group, "instance": "one"}
    return {**names, "partition": "0", "broker": "1"}


@pytest.mark.parametrize("operation", [one.ok() for one in OPERATIONS], ids=lambda each: each.label)
@given(draw=data())
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_is_the_servers_fault(
    operation: Any, draw: DataObject, server: HttpServer, places: dict[str, str]
) -> None:
    case = draw.draw(operation.as_strategy())
    is_harmful = case.method == "DELETE" and case.path.endswith(("{topic}", "{instance}"))
    if not is_harmful:
        case.path_parameters |= {n: v for n, v in places.items() if n in case.path_parameters}
    if isinstance(case.body, dict) and "partitions_count" in case.body:
        # Any number is allowed, and the broker would make that many.
        case.body["partitions_count"] = 1
    if "timeout" in (case.query or {}):
        case.query["timeout"] = "10"
    case.call_and_validate(base_url=server.rest_url, checks=[not_a_server_error], timeout=30)


def test_every_operation_is_described() -> None:
    paths = describe(_operations)["paths"]
    for route in proxy_routes(_offline):
        path = getattr(route, "path", "")
        assert path in {"/", "/v3", "/openapi.json"} or path in paths
