"""Push queries: rows of a query that runs in the engine, handed on as they come."""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from orion.log import Tail, TopicNotFoundError
from orion.model import OrionError, State, Type, UnavailableError
from orion.serve.sql.property import starts_at
from orion.serve.sql.request import TOO_MANY, BadRequestError
from orion.serve.sql.rooms import SqlRooms
from orion.sql import QueryPlan, plan_query, tree

TOPIC_PREFIX = "_orion_push_"
_RETENTION_MS = "600000"
_MOST_QUERIES = 100
_STEP_S, _ALIVE_S, _LOOK_S = 0.25, 10.0, 2.0


class QueryFailedError(UnavailableError):
    """Raised when the engine gave a query up."""

    def __init__(self, query: str, reason: str) -> None:
        self.query, self.reason = query, reason
        super().__init__(f"Query '{query}' failed: {reason}")


@dataclass(frozen=True)
class PushQuery:
    """A query whose rows go to the client that asked."""

    id: str
    text: str
    plan: QueryPlan
    limit: int | None
    start: str

    @property
    def columns(self) -> list[tuple[str, Type | None]]:
        """The selected columns in their order."""
        types = {named.name: named.type for named in (*self.plan.key, *self.plan.value)}
        return [(name, types.get(name)) for name in self.plan.order]

    @property
    def schema_text(self) -> str:
        """The columns as the older endpoint shows them."""
        return ", ".join(f"`{name}` {kind or 'STRING'}" for name, kind in self.columns)


class PushQueries:
    """The push queries of this server's clients."""

    def __init__(self, rooms: SqlRooms) -> None:
        self._rooms = rooms
        self._closing: dict[str, asyncio.Event] = {}

    def plan(self, statement: tree.SelectStatement, properties: Mapping[str, str]) -> PushQuery:
        """Check a query; nothing runs yet."""
        query = statement.query
        if query.is_pull or query.emit is None:
            raise BadRequestError(
                "Pull queries are not available yet; add EMIT CHANGES.", code=40001
            )
        if len(self._closing) >= _MOST_QUERIES:
            raise BadRequestError(
                f"There are {_MOST_QUERIES} push queries already; close one first.", code=TOO_MANY
            )
        plan = plan_query(query, self._rooms.catalogue, self._rooms.functions)
        name = f"transient_{uuid.uuid4().hex[:16]}"
        return PushQuery(name, statement.text, plan, query.limit, starts_at(properties))

    def close(self, name: str) -> bool:
        """End a query; tell whether there was one."""
        found = self._closing.get(name)
        if found is not None:
            found.set()
        return found is not None

    async def rows(self, query: PushQuery) -> AsyncIterator[list[Any] | None]:
        """Run a query and yield its rows; None now and then while nothing comes.

        Ends at the limit, when the query is closed, or with the task that reads.
        """
        closing = self._closing[query.id] = asyncio.Event()
        topic = f"{TOPIC_PREFIX}{query.id}"
        try:
            tail = await asyncio.to_thread(self._begin, query, topic)
            try:
                async for row in self._follow(query, tail, closing):
                    yield row
            finally:
                await asyncio.shield(asyncio.to_thread(tail.close))
        finally:
            del self._closing[query.id]
            await asyncio.shield(asyncio.to_thread(self._end, query, topic))

    async def _follow(
        self, query: PushQuery, tail: Tail, closing: asyncio.Event
    ) -> AsyncIterator[list[Any] | None]:
        sent, alive, looked = 0, time.monotonic(), time.monotonic()
        names = [name for name, _ in query.columns]
        while not closing.is_set() and (query.limit is None or sent < query.limit):
            records = await asyncio.to_thread(tail.read, _STEP_S)
            for record in records:
                if query.limit is not None and sent >= query.limit:
                    return
                body = None if record.value is None else orjson.loads(record.value)
                yield [None if body is None else body.get(name) for name in names]
                sent += 1
            now = time.monotonic()
            if now - alive > _ALIVE_S:
                alive = now
                await asyncio.to_thread(self._send, {"verb": "alive", "id": query.id})
            if not records and now - looked > _LOOK_S:
                looked = now
                yield None
                await asyncio.to_thread(self._check, query)

    def _begin(self, query: PushQuery, topic: str) -> Tail:
        configs = {"retention.ms": _RETENTION_MS}
        self._rooms.app.topics.create(topic, partitions=1, configs=configs)
        # Rows that come before the reader would be lost to it, were it not there first.
        tail = Tail(self._rooms.app.connection, topic, from_beginning=True)
        self._send({"verb": "start", "id": query.id, "sql": query.text, "start": query.start})
        return tail

    def _end(self, query: PushQuery, topic: str) -> None:
        with contextlib.suppress(OrionError):
            self._send({"verb": "stop", "id": query.id})
        with contextlib.suppress(TopicNotFoundError):
            self._rooms.app.topics.delete(topic, internal=True)

    def _send(self, request: Mapping[str, Any]) -> None:
        self._rooms.requests.send(request)

    def _check(self, query: PushQuery) -> None:
        status = self._rooms.statuses().get(query.id)
        if status is not None and status.state is State.FAILED:
            raise QueryFailedError(query.id, status.error)
