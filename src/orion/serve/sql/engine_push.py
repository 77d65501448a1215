"""Push queries that compute: transient queries of the engine, whose rows come through a topic."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from orion.log import Tail, TopicNotFoundError
from orion.model import OrionError, State, UnavailableError
from orion.serve.sql.push_query import PushQuery
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.value import load
from orion.views import ChangedRow

TOPIC_PREFIX = "_orion_push_"
_RETENTION_MS = "600000"
_STEP_S, _ALIVE_S, _LOOK_S = 0.25, 10.0, 2.0


class QueryFailedError(UnavailableError):
    """Raised when the engine gave a query up."""

    def __init__(self, query: str, reason: str) -> None:
        self.query, self.reason = query, reason
        super().__init__(f"Query '{query}' failed: {reason}")


async def engine_rows(
    rooms: SqlRooms, query: PushQuery, closing: asyncio.Event
) -> AsyncGenerator[ChangedRow | None, None]:
    """Run a query and yield its rows; None when it has begun, and while nothing comes."""
    topic = f"{TOPIC_PREFIX}{query.id}"
    try:
        tail = await asyncio.to_thread(_begin, rooms, query, topic)
        try:
            yield None
            async for row in _follow(rooms, query, tail, closing):
                yield row
        finally:
            await asyncio.shield(asyncio.to_thread(tail.close))
    finally:
        await asyncio.shield(asyncio.to_thread(_end, rooms, query, topic))


async def _follow(
    rooms: SqlRooms, query: PushQuery, tail: Tail, closing: asyncio.Event
) -> AsyncGenerator[ChangedRow | None, None]:
    alive = looked = time.monotonic()
    names = [name for name, _ in query.columns]
    kinds = [kind for _, kind in query.columns]
    while not closing.is_set():
        records = await asyncio.to_thread(tail.read, _STEP_S)
        for record in records:
            # Of a row that is gone the key tells which one it was.
            body = load(record.value or record.key or b"{}", kinds)
            values = tuple([body.get(name) for name in names])
            yield ChangedRow(values, is_tombstone=record.value is None)
        now = time.monotonic()
        if now - alive > _ALIVE_S:
            alive = now
            await asyncio.to_thread(_send, rooms, {"verb": "alive", "id": query.id})
        if not records and now - looked > _LOOK_S:
            looked = now
            yield None
            await asyncio.to_thread(_check, rooms, query)


def _begin(rooms: SqlRooms, query: PushQuery, topic: str) -> Tail:
    configs = {"retention.ms": _RETENTION_MS}
    rooms.app.topics.create(topic, partitions=1, configs=configs, is_open=True)
    # Rows that come before the reader would be lost to it, were it not there first.
    tail = Tail(rooms.app.connection, topic, from_beginning=True)
    _send(rooms, {"verb": "start", "id": query.id, "sql": query.text, "start": query.start})
    return tail


def _end(rooms: SqlRooms, query: PushQuery, topic: str) -> None:
    with contextlib.suppress(OrionError):
        _send(rooms, {"verb": "stop", "id": query.id})
    with contextlib.suppress(TopicNotFoundError):
        rooms.app.topics.delete(topic, internal=True)


def _send(rooms: SqlRooms, request: Mapping[str, Any]) -> None:
    rooms.requests.send(request)


def _check(rooms: SqlRooms, query: PushQuery) -> None:
    status = rooms.statuses().get(query.id)
    if status is not None and status.state is State.FAILED:
        raise QueryFailedError(query.id, status.error)
