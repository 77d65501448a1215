"""Readers that followers of one stream or table share: a hundred clients cost one."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from orion.formats import SchemaSource
from orion.log import Connection
from orion.sql import Source
from orion.views.follow import Follower
from orion.views.followed import ChangedRow, FollowedQuery
from orion.views.reader import RowChange

# Called by a feed's thread; must not wait.
Deliver = Callable[[list[ChangedRow]], None]


class Feeds:
    """The feeds of this process; threads may share it."""

    def __init__(self, connection: Connection, schemas: SchemaSource | None) -> None:
        self._connection, self._schemas = connection, schemas
        self._shared: dict[tuple[str, int], _Feed] = {}
        self._lock = threading.Lock()

    @property
    def readers(self) -> int:
        """How many readers clients that follow from now on share."""
        return len(self._shared)

    def follow(
        self, source: Source, text: str, query: FollowedQuery, deliver: Deliver
    ) -> Callable[[], None]:
        """Deliver every row that comes from now on; return what ends that.

        Args:
            text: The query's text: those of the same text are computed once.
        """
        at = (source.name, source.number)
        with self._lock:
            feed = self._shared.get(at)
            if feed is None:
                feed = self._shared[at] = self._open(source, from_beginning=False)
            group = feed.join(text, query, deliver)

        def leave() -> None:
            with self._lock:
                if feed.leave(group, deliver) and self._shared.get(at) is feed:
                    del self._shared[at]

        return leave

    def replay(self, source: Source, query: FollowedQuery, deliver: Deliver) -> Callable[[], None]:
        """Deliver every row from the first record on, by a reader of its own."""
        feed = self._open(source, from_beginning=True, query=query, deliver=deliver)
        return feed.close

    def _open(
        self,
        source: Source,
        *,
        from_beginning: bool,
        query: FollowedQuery | None = None,
        deliver: Deliver | None = None,
    ) -> "_Feed":
        feed = _Feed()
        if query is not None and deliver is not None:
            feed.join("", query, deliver)
        feed.follower = Follower(
            source, self._connection, self._schemas, feed.take, from_beginning=from_beginning
        )
        feed.follower.start()
        return feed


@dataclass
class _Group:
    """The followers of one query."""

    text: str
    query: FollowedQuery
    delivers: list[Deliver] = field(default_factory=list)


class _Feed:
    """One reader and who listens to it."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._lock = threading.Lock()
        self.follower: Follower | None = None

    def take(self, changes: list[RowChange]) -> None:
        with self._lock:
            for group in self._groups.values():
                rows = group.query.rows(changes)
                for deliver in group.delivers if rows else ():
                    deliver(rows)

    def join(self, text: str, query: FollowedQuery, deliver: Deliver) -> _Group:
        with self._lock:
            group = self._groups.setdefault(text, _Group(text, query))
            group.delivers.append(deliver)
            return group

    def leave(self, group: _Group, deliver: Deliver) -> bool:
        """Let a follower go; tell whether that was the last one, with whom the reader ends."""
        with self._lock:
            group.delivers.remove(deliver)
            if not group.delivers:
                del self._groups[group.text]
            is_over = not self._groups
        if is_over:
            self.close()
        return is_over

    def close(self) -> None:
        if self.follower is not None:
            self.follower.close()
