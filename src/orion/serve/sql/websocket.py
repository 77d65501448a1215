"""Queries over a WebSocket: a frame for the columns, one for each row."""

import asyncio
import contextlib
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from orion.model import OrionError
from orion.serve.sql.endpoint import SqlApi, one_statement
from orion.serve.sql.print_topic import print_lines
from orion.serve.sql.request import BadRequestError, SqlRequest, describe_error
from orion.serve.sql.shape import type_shape
from orion.serve.sql.statement import session_of
from orion.serve.sql.value import dump
from orion.sql import tree


async def answer_socket(api: SqlApi, socket: WebSocket) -> None:
    """Answer one query, then close."""
    await socket.accept()
    await while_there(socket, _answer_and_close(api, socket))


async def while_there(socket: WebSocket, work: Coroutine[Any, Any, None]) -> None:
    """Do something until it is done or the client is gone: nothing is sent that would tell."""
    tasks = asyncio.ensure_future(work), asyncio.ensure_future(_leave(socket))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done():
            tasks[0].result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _leave(socket: WebSocket) -> None:
    """Wait until the client is gone; what it says besides is passed over."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def _answer_and_close(api: SqlApi, socket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        try:
            await _answer(api, socket)
            await socket.send_text('{"done":"Query Completed"}')
        except OrionError as error:
            await _send(socket, {"error": describe_error(error)[1]["message"]})
        await socket.close()


async def _answer(api: SqlApi, socket: WebSocket) -> None:
    try:
        body = orjson.loads(socket.query_params.get("request", ""))
    except ValueError as error:
        raise BadRequestError("The parameter 'request' is not JSON.") from error
    given = SqlRequest.read(body, word="ksql", properties="streamsProperties")
    statement = await run_in_threadpool(one_statement, given)
    properties = session_of(given)
    if isinstance(statement, tree.PrintTopic):
        async with aclosing(print_lines(api.rooms, statement)) as lines:
            async for line in lines:
                if line is not None:
                    await socket.send_text(line)
        return
    if statement.query.is_pull:
        answer = await run_in_threadpool(api.pulls.ask, given, statement)
        await _send(socket, [{"name": n, "schema": type_shape(k)} for n, k, _ in answer.columns])
        for values in answer.rows:
            await socket.send_text(dump({"row": {"columns": values}}).decode())
        return
    query = await run_in_threadpool(api.pushes.plan, statement, properties)
    columns = [{"name": name, "schema": type_shape(kind)} for name, kind in query.columns]
    await _send(socket, columns)
    async with aclosing(api.pushes.rows(query)) as rows:
        async for row in rows:
            if row is not None:
                await socket.send_text(dump({"row": {"columns": row.values}}).decode())


async def _send(socket: WebSocket, body: Any) -> None:
    await socket.send_text(orjson.dumps(body).decode())
