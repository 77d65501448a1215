"""Push queries: rows handed on as they come, by a shared reader or from the engine."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from orion.serve.sql.engine_push import engine_rows
from orion.serve.sql.followed_push import followed_rows
from orion.serve.sql.property import starts_at
from orion.serve.sql.push_query import PushQuery
from orion.serve.sql.request import TOO_MANY, BadRequestError
from orion.serve.sql.rooms import SqlRooms
from orion.sql import plan_query, tree
from orion.views import ChangedRow, followed_source

_MOST_QUERIES = 1_000
# Each of these is a query of its own in the engine.
_MOST_IN_ENGINE = 100


class PushQueries:
    """The push queries of this server's clients."""

    def __init__(self, rooms: SqlRooms) -> None:
        self._rooms = rooms
        self._closing: dict[str, asyncio.Event] = {}
        self._in_engine: set[str] = set()

    def plan(self, statement: tree.SelectStatement, properties: Mapping[str, str]) -> PushQuery:
        """Check a query; nothing runs yet."""
        query = statement.query
        plan = plan_query(query, self._rooms.catalogue, self._rooms.functions)
        for count, most in (
            (len(self._closing), _MOST_QUERIES),
            (0 if followed_source(plan) else len(self._in_engine), _MOST_IN_ENGINE),
        ):
            if count >= most:
                raise BadRequestError(
                    f"There are {most} push queries already; close one first.", code=TOO_MANY
                )
        name = f"transient_{uuid.uuid4().hex[:16]}"
        return PushQuery(name, statement.text, plan, query.limit, starts_at(properties))

    def close(self, name: str) -> bool:
        """End a query; tell whether there was one."""
        found = self._closing.get(name)
        if found is not None:
            found.set()
        return found is not None

    async def rows(self, query: PushQuery) -> AsyncGenerator[ChangedRow | None, None]:
        """Run a query and yield its rows.

        The first is None and says that nothing is missed from now on; None comes again now and
        then while there are no rows. Ends at the limit, when the query is closed, or with the task.
        """
        closing = self._closing[query.id] = asyncio.Event()
        source = followed_source(query.plan)
        if source is None:
            self._in_engine.add(query.id)
            found = engine_rows(self._rooms, query, closing)
        else:
            found = followed_rows(self._rooms, query, source, closing)
        left = query.limit
        try:
            async with aclosing(found) as rows:
                async for row in rows:
                    if left == 0:
                        return
                    yield row
                    if left is not None and row is not None:
                        left -= 1
                        if left == 0:
                            return
        finally:
            del self._closing[query.id]
            self._in_engine.discard(query.id)
