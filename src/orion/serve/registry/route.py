"""The registry's routes: one function for all of them, which reads, asks in a thread, answers."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from orion.registry import Registry
from orion.serve.body import read_json
from orion.serve.registry.call import Call
from orion.serve.registry.description import MEDIA_TYPE, VERSION, describe
from orion.serve.registry.media import READ, choose
from orion.serve.registry.table import OPERATIONS, Operation

if TYPE_CHECKING:
    from orion.app import App

__all__ = ["MEDIA_TYPE", "routes"]

# By this header clients say that they take what came with newer registries.
_MORE = "confluent-accept-unknown-properties"


def routes(app: "App") -> list[BaseRoute]:
    """Return the routes of the registry."""
    return registry_routes(app.registry, cluster_id=lambda: app.topics.cluster_id())


def registry_routes(registry: Registry, *, cluster_id: Callable[[], str]) -> list[BaseRoute]:
    """Return the routes of a registry.

    Args:
        cluster_id: Tells the Kafka it keeps its state in.
    """

    async def tell_id(_request: Request) -> Response:
        found = await run_in_threadpool(cluster_id)
        clusters = {"kafka-cluster": found, "schema-registry-cluster": "schema-registry"}
        return _answer({"id": "", "scope": {"path": [], "clusters": clusters}}, MEDIA_TYPE)

    return [
        Route("/", _root, methods=["GET", "POST"]),
        Route("/openapi.json", _describe),
        Route("/v1/metadata/id", tell_id),
        Route("/v1/metadata/version", _tell_version),
        *(
            Route(each.path, _endpoint(registry, each), methods=[each.method])
            for each in OPERATIONS
        ),
    ]


def _endpoint(registry: Registry, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        media_type = choose(request.headers.get("accept", ""))
        body = await read_json(request, media_types=READ) if operation.body else None
        takes_more = request.headers.get(_MORE, "").lower() == "true"
        call = Call(request.path_params, request.query_params, body, takes_more)
        found = await run_in_threadpool(operation.act, registry, call)
        return _answer(found, media_type)

    return answer


def _answer(body: Any, media_type: str) -> Response:
    # Texts of schemas go out as they are.
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return Response(content, media_type=media_type)


async def _root(_request: Request) -> Response:
    return _answer({}, MEDIA_TYPE)


async def _describe(_request: Request) -> Response:
    return _answer(describe(), "application/json")


async def _tell_version(_request: Request) -> Response:
    return _answer({"version": VERSION, "commitId": ""}, MEDIA_TYPE)
