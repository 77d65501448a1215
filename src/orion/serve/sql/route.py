"""What the SQL API answers, path by path."""

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from orion.serve.sql.endpoint import SqlApi
from orion.serve.sql.processing_log import declare_processing_log
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.websocket import answer_socket

if TYPE_CHECKING:
    from orion.app import App


def open_api(app: "App") -> SqlApi:
    """Return the SQL API; the command log is read to its end first."""
    rooms = SqlRooms(app)
    _ = rooms.commands, rooms.requests
    if app.settings.server.processing_log:
        declare_processing_log(rooms)
    return SqlApi(rooms)


def routes(api: SqlApi) -> list[BaseRoute]:
    """Return the routes of the SQL API."""

    async def socket(given: WebSocket) -> None:
        await answer_socket(api, given)

    return [
        Route("/", api.go_to_info),
        Route("/info", api.tell_info),
        Route("/healthcheck", api.tell_health),
        Route("/metrics", api.tell_metrics),
        Route("/ksql", api.run_statements, methods=["POST"]),
        Route("/query", api.run_query, methods=["POST"]),
        Route("/query-stream", api.stream_query, methods=["POST"]),
        Route("/inserts-stream", api.insert_stream, methods=["POST"]),
        Route("/close-query", api.close_query, methods=["POST"]),
        Route("/status", api.tell_statuses),
        Route("/status/{type}/{entity}/{action}", api.tell_status),
        Route("/is_valid_property/{name}", api.check_property),
        Route("/clusterStatus", api.tell_cluster),
        Route("/v1/metadata", api.tell_metadata),
        Route("/v1/metadata/id", api.tell_metadata),
        # Servers of one cluster ask each other; this one knows of no other.
        Route("/heartbeat", api.say_nothing, methods=["POST"]),
        Route("/lag", api.say_nothing, methods=["POST"]),
        Route("/chc/ready", api.say_nothing),
        Route("/chc/live", api.say_nothing),
        WebSocketRoute("/ws/query", socket),
        Route("/{path:path}", api.not_found, methods=["GET", "POST", "PUT", "DELETE", "PATCH"]),
    ]
