"""Write the ledger's records to their topics in a thread of its own, and count them."""

import threading
from collections.abc import Iterator, Sequence

from orion.log import Connection, Record, produce
from orion.model import OrionError


class Feed:
    """A producer that runs beside the view and can be told to end.

    Args:
        per_second: How many records to write in a second; 0: as fast as they are taken.
    """

    def __init__(
        self, connection: Connection, topic: str, records: Sequence[Record], *, per_second: int = 0
    ) -> None:
        self.topic = topic
        self.total = len(records)
        self.delivered = 0
        self._connection, self._records = connection, records
        self._per_second = per_second
        self._over = threading.Event()
        self._error: OrionError | None = None
        self._thread = threading.Thread(target=self._run, name=f"feed-{topic}")

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def is_done(self) -> bool:
        """Tell whether every record is acknowledged; raise what kept one from being so."""
        if self._thread.is_alive():
            return False
        if self._error is not None:
            raise self._error
        return True

    def stop(self) -> None:
        """End early; returns when the thread has ended."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            produce(self._connection, self.topic, self._paced(), progress=self._count)
        except OrionError as error:
            self._error = error

    def _count(self, delivered: int) -> None:
        self.delivered = delivered

    def _paced(self) -> Iterator[Record]:
        """Yield the records a tenth of a second's worth at a time."""
        step = max(self._per_second // 10, 1) if self._per_second else self.total or 1
        for first in range(0, self.total, step):
            yield from self._records[first : first + step]
            if self._over.wait(0.1 if self._per_second else 0.0):
                return
