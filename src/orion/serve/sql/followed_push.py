"""Push queries that look at each record by itself: served from a reader that clients share."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from orion.model import UnavailableError
from orion.serve.sql.push_query import PushQuery
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.value import shower
from orion.sql import Source
from orion.views import ChangedRow, FollowedQuery

_LOOK_S = 2.0
# Batches that may wait for a client; more would be its slowness in the server's memory.
_MOST_WAITING = 1_000


class SlowClientError(UnavailableError):
    """Raised when a client takes rows more slowly than they come."""

    def __init__(self, query: str) -> None:
        self.query = query
        super().__init__(
            f"Query '{query}' was ended: its rows were not taken as fast as they came.",
            fix="Read the answer without pauses, or select less.",
        )


async def followed_rows(
    rooms: SqlRooms, query: PushQuery, source: Source, closing: asyncio.Event
) -> AsyncGenerator[ChangedRow | None, None]:
    """Yield the rows of a query; None when nothing is missed any more, and while nothing comes."""
    inbox = _Inbox()
    follow = _follow(rooms, query, source, inbox)
    leave = await asyncio.to_thread(follow)
    show = shower([kind for _, kind in query.columns])
    try:
        yield None
        while not closing.is_set():
            for row in await inbox.take(closing):
                yield row if show is None else replace(row, values=show(row.values))
            if inbox.is_over:
                raise SlowClientError(query.id)
            if inbox.is_empty:
                yield None
    finally:
        await asyncio.shield(asyncio.to_thread(leave))


def _follow(
    rooms: SqlRooms, query: PushQuery, source: Source, inbox: "_Inbox"
) -> Callable[[], Callable[[], None]]:
    followed = FollowedQuery(query.plan)
    if query.start == "earliest":
        return lambda: rooms.feeds.replay(source, followed, inbox.deliver)
    return lambda: rooms.feeds.follow(source, query.text, followed, inbox.deliver)


class _Inbox:
    """Rows on their way from a reader's thread to the event loop that made it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._batches: asyncio.Queue[list[ChangedRow]] = asyncio.Queue()
        self.is_over = False

    @property
    def is_empty(self) -> bool:
        return self._batches.empty()

    def deliver(self, rows: list[ChangedRow]) -> None:
        """Hand rows over; called by the reader's thread."""
        # The loop is closed before its readers when the server stops.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._put, rows)

    def _put(self, rows: list[ChangedRow]) -> None:
        if self._batches.qsize() >= _MOST_WAITING:
            self.is_over = True
        else:
            self._batches.put_nowait(rows)

    async def take(self, closing: asyncio.Event) -> list[ChangedRow]:
        """Return the next batch; nothing after a while, or when the query is closed."""
        taking = asyncio.ensure_future(self._batches.get())
        closed = asyncio.ensure_future(closing.wait())
        try:
            await asyncio.wait(
                (taking, closed), timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED
            )
            return taking.result() if taking.done() else []
        finally:
            taking.cancel()
            closed.cancel()
