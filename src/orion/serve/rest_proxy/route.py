"""The proxy's routes: one function for all of them, which reads, asks, answers."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from orion.model import OrionError
from orion.serve.rest_proxy.call import Call, read_call
from orion.serve.rest_proxy.description import describe
from orion.serve.rest_proxy.errors import of_version_2, of_version_3
from orion.serve.rest_proxy.media import MEDIA_TYPE
from orion.serve.rest_proxy.proxy import Proxy
from orion.serve.rest_proxy.table import EMPTY, RECORDS_PATH, VERSION_3, Operation, version_2
from orion.serve.rest_proxy.v2.consumers import Consumers
from orion.serve.rest_proxy.v3.records import RecordStream
from orion.serve.rest_proxy.v3.resource import cluster_of

if TYPE_CHECKING:
    from orion.app import App
    from orion.formats import SchemaSource

Endpoint = Callable[[Request], Awaitable[Response]]
Translate = Callable[[OrionError], OrionError]
_JSON = "application/json"


def routes(app: "App") -> list[BaseRoute]:
    """Return the routes of the REST proxy."""

    def schemas() -> "SchemaSource":
        if app.settings.registry.url:
            return app.schemas
        # The registry is in this process: no need to call it over HTTP.
        from orion.serve.schema_source import RegistrySchemas

        return RegistrySchemas(app.registry)

    return proxy_routes(Proxy(app.connection, schemas))


def proxy_routes(proxy: Proxy) -> list[BaseRoute]:
    """Return the routes of a proxy."""
    operations = version_2(Consumers(proxy))
    description = describe((*operations, *VERSION_3))

    async def tell(_request: Request) -> Response:
        return _answer(description, 200, _JSON)

    async def root(_request: Request) -> Response:
        return _answer({}, 200, _JSON)

    return [
        Route("/", root),
        Route("/v3", root),
        Route("/openapi.json", tell),
        Route(RECORDS_PATH, _records(proxy), methods=["POST"]),
        *(_route(proxy, each, MEDIA_TYPE, of_version_2) for each in operations),
        *(_route(proxy, each, _JSON, of_version_3) for each in VERSION_3),
    ]


def _route(proxy: Proxy, operation: Operation, media_type: str, translate: Translate) -> Route:
    async def answer(request: Request) -> Response:
        call = await read_call(request)
        try:
            if inspect.iscoroutinefunction(operation.act):
                found = await operation.act(proxy, call)
            else:
                found = await proxy.run(operation.act, proxy, call)
        except OrionError as error:
            raise translate(error) from error
        return _answer(found, operation.status, _media_of(operation, call, media_type))

    return Route(operation.path, answer, methods=[operation.method])


def _media_of(operation: Operation, call: Call, media_type: str) -> str:
    """Return the media type of an answer: records tell their format."""
    accept = call.headers.get("accept", "")
    if operation.media == "records" and operation.method == "GET" and accept.startswith("app"):
        return accept.partition(",")[0].partition(";")[0].strip()
    return media_type


def _records(proxy: Proxy) -> Endpoint:
    async def answer(request: Request) -> Response:
        call = Call(request.path_params)
        try:
            cluster = await proxy.run(cluster_of, proxy, call)
            await proxy.require_topic(call.word("topic"))
        except OrionError as error:
            raise of_version_3(error) from error
        stream = RecordStream(proxy, cluster, call.word("topic"))
        return _Duplex(stream.answer(request))

    return answer


class _Duplex(Response):
    """Answers while the request still comes in.

    Starlette's own stream waits for the client to go away, and so takes the request's messages.
    """

    media_type = _JSON

    def __init__(self, lines: AsyncIterator[bytes]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send each line as it is made."""
        del scope, receive
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async for line in self._lines:
            await send({"type": "http.response.body", "body": line, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _answer(body: Any, status: int, media_type: str) -> Response:
    if status == EMPTY or (body is None and status != 200):
        return Response(status_code=status)
    return Response(orjson.dumps(body), status_code=status, media_type=media_type)
