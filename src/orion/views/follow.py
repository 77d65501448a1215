"""A thread that follows a source's topic and hands on what its records change."""

import logging
import threading
from collections.abc import Callable

from orion.formats import SchemaSource
from orion.log import Connection, Record, Tail
from orion.sql import Source
from orion.views.reader import RowChange, RowReader

logger = logging.getLogger(__name__)

_STEP_S = 0.05
_RETRY_S = 1.0
Take = Callable[[list[RowChange]], None]


class Follower:
    """One reader of one topic, from its opening until it is closed.

    Args:
        take: Called by the follower's own thread with the changes of each batch.
        after: Called by it after each step, whether something came or not.
    """

    def __init__(
        self,
        source: Source,
        connection: Connection,
        schemas: SchemaSource | None,
        take: Take,
        *,
        after: Callable[[], None] = lambda: None,
        from_beginning: bool,
    ) -> None:
        self._source, self._take, self._after = source, take, after
        self._reader = RowReader(source, schemas)
        self.tail = Tail(connection, source.topic, from_beginning=from_beginning)
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._follow, name=f"follow {source.name}", daemon=True
        )

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def close(self) -> None:
        """Stop reading; the thread lets go of the topic within a step."""
        self._stopped.set()

    def _follow(self) -> None:
        records: list[Record] = []
        with self.tail:
            while not self._stopped.is_set():
                try:
                    records = records or self.tail.read(_STEP_S)
                    if records:
                        self._take(list(self._reader.read(records)))
                        records = []
                    self._after()
                except Exception:
                    # The same records are tried again: leaving them out would falsify the rows.
                    logger.exception("following %s", self._source.name)
                    self._stopped.wait(_RETRY_S)
