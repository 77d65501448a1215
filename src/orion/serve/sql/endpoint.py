"""The endpoints of the SQL API."""

import contextlib
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from orion.model import InvalidInputError, OrionError
from orion.observe import METRICS_TYPE, write_metrics
from orion.serve.body import read_json
from orion.serve.sql.insert import encode_row, find_target, read_row
from orion.serve.sql.print_topic import print_lines
from orion.serve.sql.property import check_property
from orion.serve.sql.protobuf_row import PROTOBUF_TYPE
from orion.serve.sql.pull import Form, PullQueries
from orion.serve.sql.push import PushQueries
from orion.serve.sql.request import (
    DELIMITED,
    MEDIA_TYPE,
    NEEDS_HTTP_2,
    NOT_FOUND,
    BadRequestError,
    SqlRequest,
    StatementFailedError,
    describe_error,
    error_response,
)
from orion.serve.sql.rooms import KSQL_VERSION, SERVICE_ID, SqlRooms
from orion.serve.sql.statement import execute, session_of
from orion.serve.sql.stream import (
    array_form,
    delimited_form,
    lines_form,
    plain_array_form,
    protobuf_form,
)
from orion.serve.sql.value import load
from orion.sql import parse_statements, tree

Endpoint = Callable[["SqlApi", Request], Awaitable[Response]]
_LONGEST_LINE, _LARGEST_BODY = 1 << 20, 8 << 20


def _answered(endpoint: Endpoint) -> Endpoint:
    """Turn errors into ksqlDB's form."""

    @functools.wraps(endpoint)
    async def answer(api: "SqlApi", request: Request) -> Response:
        try:
            return await endpoint(api, request)
        except OrionError as error:
            return error_response(error, _json_type(request))

    return answer


def _json_type(request: Request) -> str:
    return MEDIA_TYPE if "vnd.ksql" in request.headers.get("accept", "") else "application/json"


class _Duplex(StreamingResponse):
    """An answer that begins before its request has ended."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the chunks; who makes them reads the request, so nobody else may."""
        with contextlib.suppress(ClientDisconnect):
            await self.stream_response(send)


class SqlApi:
    """The SQL API over its rooms."""

    def __init__(self, rooms: SqlRooms) -> None:
        self.rooms = rooms
        self.pushes = PushQueries(rooms)
        self.pulls = PullQueries(rooms)

    async def go_to_info(self, _request: Request) -> Response:
        """Lead the root to what the server says of itself."""
        return RedirectResponse("/info", status_code=307)

    @_answered
    async def tell_info(self, request: Request) -> Response:
        """Say what this server is."""
        cluster = await run_in_threadpool(self.rooms.app.topics.cluster_id)
        server = {
            "version": KSQL_VERSION,
            "kafkaClusterId": cluster,
            "ksqlServiceId": SERVICE_ID,
            "serverStatus": "RUNNING",
        }
        return _json({"KsqlServerInfo": server}, request)

    @_answered
    async def tell_health(self, request: Request) -> Response:
        """Say whether the parts below work."""
        is_up = await run_in_threadpool(self.rooms.app.connection.is_ready)
        part = {"isHealthy": is_up}
        details = {"metastore": {"isHealthy": True}, "kafka": part, "commandRunner": part}
        body = {"isHealthy": is_up, "details": details, "serverState": "READY"}
        return _json(body, request)

    @_answered
    async def tell_metrics(self, request: Request) -> Response:
        """Give the numbers of all queries to who gathers them."""
        del request
        text = await run_in_threadpool(self._metrics)
        return Response(text, media_type=METRICS_TYPE)

    def _metrics(self) -> str:
        lags = {group.name: group.lag_records for group in self.rooms.app.groups.list()}
        return write_metrics(self.rooms.statuses().values(), lags)

    @_answered
    async def run_statements(self, request: Request) -> Response:
        """Carry out statements."""
        given = SqlRequest.read(await _read(request), word="ksql", properties="streamsProperties")
        return _json(await run_in_threadpool(execute, self.rooms, given), request)

    @_answered
    async def run_query(self, request: Request) -> Response:
        """Answer a query or PRINT in the older form."""
        given = SqlRequest.read(await _read(request), word="ksql", properties="streamsProperties")
        return await self._stream(request, given, older=True)

    @_answered
    async def stream_query(self, request: Request) -> Response:
        """Answer a query or PRINT in the form that was asked for."""
        given = SqlRequest.read(await _read(request), word="sql", properties="properties")
        return await self._stream(request, given, older=False)

    async def _stream(self, request: Request, given: SqlRequest, *, older: bool) -> Response:
        accept = request.headers.get("accept", "")
        form = Form(accept, older=older)
        known = self.pulls.look_up(given, form)
        if known is not None:
            return Response(known.body, known.status, media_type=known.media_type)
        statement = await run_in_threadpool(one_statement, given)
        properties = session_of(given)
        if isinstance(statement, tree.PrintTopic):
            lines = lines_form(print_lines(self.rooms, statement))
            return StreamingResponse(await _begun(lines), media_type="text/plain")
        if statement.query.emit is None:
            answer = await run_in_threadpool(self.pulls.answer, given, statement, form)
            return Response(answer.body, answer.status, media_type=answer.media_type)
        try:
            query = await run_in_threadpool(self.pushes.plan, statement, properties)
        except OrionError as error:
            raise StatementFailedError(statement.text, error) from error
        if PROTOBUF_TYPE in accept:
            chunks, media_type = protobuf_form(self.pushes, query), PROTOBUF_TYPE
        elif older or MEDIA_TYPE in accept:
            chunks, media_type = array_form(self.pushes, query), _json_type(request)
        elif "application/json" in accept:
            chunks, media_type = plain_array_form(self.pushes, query), "application/json"
        else:
            chunks, media_type = delimited_form(self.pushes, query), DELIMITED
        return StreamingResponse(await _begun(chunks), media_type=media_type)

    @_answered
    async def close_query(self, request: Request) -> Response:
        """End a push query."""
        body = await _read(request)
        name = body.get("queryId") if isinstance(body, dict) else None
        if not isinstance(name, str) or not self.pushes.close(name):
            raise BadRequestError(f"No query with id {name}")
        return Response(status_code=200)

    @_answered
    async def insert_stream(self, request: Request) -> Response:
        """Take rows as they come and acknowledge each one."""
        if not request.scope["http_version"].startswith("2"):
            raise BadRequestError("This endpoint is only available over HTTP/2.", code=NEEDS_HTTP_2)
        lines = _lines(request.stream())
        try:
            head = orjson.loads(await anext(lines, b""))
            target = head["target"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadRequestError("The first line must be an object with 'target'.") from error
        source = await run_in_threadpool(find_target, self.rooms, str(target))

        async def acknowledge() -> AsyncIterator[bytes]:
            number = 0
            async for line in lines:
                answer: dict[str, Any] = {"status": "ok", "seq": number}
                try:
                    await run_in_threadpool(self._insert, source, line)
                except OrionError as error:
                    body = describe_error(error)[1]
                    answer |= {"status": "error", "error_code": body["error_code"]}
                    answer["message"] = body["message"]
                yield orjson.dumps(answer) + b"\n"
                number += 1

        return _Duplex(acknowledge(), media_type=DELIMITED)

    def _insert(self, source: Any, line: bytes) -> None:
        try:
            body = load(line, [column.type for column in source.columns])
        except ValueError as error:
            raise BadRequestError(f"The row is not JSON: {error}") from error
        self.rooms.write(source.topic, encode_row(self.rooms, read_row(source, body)))

    @_answered
    async def check_property(self, request: Request) -> Response:
        """Tell whether a session may set a property."""
        try:
            check_property(request.path_params["name"])
        except OrionError as error:
            raise BadRequestError(str(error)) from error
        return _json(True, request)

    @_answered
    async def tell_statuses(self, request: Request) -> Response:
        """Tell how far accepted statements are: they are done when they are answered."""
        names = self.rooms.catalogue.sources.values()
        found = {f"{s.kind.value.lower()}/`{s.name}`/create": "SUCCESS" for s in names}
        return _json({"commandStatuses": found}, request)

    @_answered
    async def tell_status(self, request: Request) -> Response:
        """Tell how far one accepted statement is."""
        entity = request.path_params["entity"].strip("`").upper()
        source = self.rooms.catalogue.sources.get(entity)
        if source is None:
            raise BadRequestError(f"Command for '{entity}' not found.", code=NOT_FOUND)
        body = {"status": "SUCCESS", "message": "", "queryId": source.query}
        return _json(body, request)

    @_answered
    async def tell_cluster(self, request: Request) -> Response:
        """Tell which servers there are: this one."""
        server = self.rooms.app.settings.server
        host = f"{server.host}:{server.sql_port}"
        alive = {"hostAlive": True, "lastStatusUpdateMs": 0, "activeStandbyPerQuery": {}}
        lags = {"stateStoreLags": {}, "updateTimeMs": 0}
        return _json({"clusterStatus": {host: {**alive, "hostStoreLags": lags}}}, request)

    @_answered
    async def tell_metadata(self, request: Request) -> Response:
        """Tell version and cluster as other servers of this kind do."""
        cluster = await run_in_threadpool(self.rooms.app.topics.cluster_id)
        scope = {"path": [], "clusters": {"kafka-cluster": cluster, "ksql-cluster": SERVICE_ID}}
        body = {"version": KSQL_VERSION, "clusterId": {"scope": scope, "id": ""}}
        return _json(body["clusterId"] if request.url.path.endswith("/id") else body, request)

    async def say_nothing(self, request: Request) -> Response:
        """Answer a probe."""
        return _json({}, request)

    async def not_found(self, request: Request) -> Response:
        """Answer any other path."""
        error = BadRequestError(f"There is nothing at {request.url.path}.", code=NOT_FOUND)
        return error_response(error, _json_type(request))


async def _read(request: Request) -> Any:
    try:
        return await read_json(request, max_bytes=_LARGEST_BODY)
    except InvalidInputError as error:
        raise BadRequestError(str(error)) from error


def one_statement(given: SqlRequest) -> tree.SelectStatement | tree.PrintTopic:
    """Return the one query or PRINT of a request."""
    try:
        statements = parse_statements(given.text, given.variables)
    except OrionError as error:
        raise StatementFailedError(given.text, error) from error
    if len(statements) != 1:
        raise BadRequestError(f"Expected exactly one statement, got {len(statements)}.")
    (statement,) = statements
    if not isinstance(statement, tree.SelectStatement | tree.PrintTopic):
        reason = "Only SELECT and PRINT are answered here; send other statements to /ksql."
        raise StatementFailedError(statement.text, BadRequestError(reason))
    return statement


def _json(body: Any, request: Request) -> Response:
    return Response(orjson.dumps(body), media_type=_json_type(request))


async def _begun(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Return the chunks once the first one is there: what fails before it gets a status."""
    first = await anext(chunks, b"")

    async def whole() -> AsyncIterator[bytes]:
        yield first
        async for chunk in chunks:
            yield chunk

    return whole()


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines of a body as it comes in."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            if line.strip():
                yield line
        if len(rest) > _LONGEST_LINE:
            raise BadRequestError(f"A line is longer than {_LONGEST_LINE} bytes.")
    if rest.strip():
        yield rest
