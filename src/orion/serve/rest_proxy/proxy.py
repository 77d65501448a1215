"""What the functions of the proxy work with: the rooms of the log, made when first needed."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from orion.log import (
    Acls,
    Brokers,
    Connection,
    Groups,
    Outbox,
    Outcome,
    Record,
    TopicNotFoundError,
    Topics,
)

if TYPE_CHECKING:
    from orion.formats import Documents, SchemaSource

T = TypeVar("T")
# A topic that was there is taken to be there for this long.
_KNOWN_S = 10.0


@dataclass(frozen=True)
class Limits:
    """Bounds that keep one client from harming the others.

    Args:
        idle_s: How long a consumer instance may be unused.
        threads: Calls to Kafka at one time; others wait.
    """

    instances: int = 200
    idle_s: float = 300.0
    waiting_records: int = 100_000
    threads: int = 32


class Proxy:
    """The log behind one REST proxy."""

    def __init__(
        self,
        connection: Connection,
        schemas: "Callable[[], SchemaSource]",
        limits: Limits | None = None,
    ) -> None:
        self.connection = connection
        self.limits = limits or Limits()
        self._schemas = schemas
        self._threads = ThreadPoolExecutor(self.limits.threads, "orion-rest")
        self._known: dict[str, float] = {}

    @cached_property
    def topics(self) -> Topics:
        """The topics."""
        return Topics(self.connection)

    @cached_property
    def groups(self) -> Groups:
        """The consumer groups."""
        return Groups(self.connection)

    @cached_property
    def brokers(self) -> Brokers:
        """The brokers."""
        return Brokers(self.connection)

    @cached_property
    def acls(self) -> Acls:
        """The access control."""
        return Acls(self.connection)

    @cached_property
    def outbox(self) -> Outbox:
        """The producer of all clients."""
        return Outbox(self.connection, max_waiting=self.limits.waiting_records)

    @cached_property
    def documents(self) -> "Documents":
        """Records that name a schema; imported late, since most servers never need them."""
        from orion.formats import Documents

        return Documents(self._schemas())

    async def run(self, act: Callable[..., T], *arguments: Any) -> T:
        """Call what waits for Kafka in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, act, *arguments)

    async def require_topic(self, topic: str) -> None:
        """Raise unless a topic is there; never creates it."""
        if self._known.get(topic, 0.0) > time.monotonic():
            return
        if not await self.run(self.topics.exists, topic):
            self._known.pop(topic, None)
            raise TopicNotFoundError(topic)
        self._known[topic] = time.monotonic() + _KNOWN_S

    def forget_topic(self, topic: str) -> None:
        """Look a topic up again when it is asked for next."""
        self._known.pop(topic, None)

    async def write(self, topic: str, records: list[Record]) -> list[Outcome]:
        """Write records and return what became of each, in their order."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Outcome]] = loop.create_future()

        def finish(outcomes: list[Outcome]) -> None:
            if not future.done():
                future.set_result(outcomes)

        def done(outcomes: list[Outcome]) -> None:
            # The client may be gone, and the loop with it when the server stops.
            if not loop.is_closed():
                loop.call_soon_threadsafe(finish, outcomes)

        self.outbox.send(topic, records, done)
        return await future
