"""How long a table's windows are answered: some time behind its newest one."""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from orion.sql import Windowed, tree
from orion.views.reader import Key


class Retention:
    """The windows of a table in the order of their time; used by one thread."""

    def __init__(self, windowed: Windowed | None) -> None:
        self._kept_ms = None if windowed is None else windowed.retention_ms
        # Sessions begin before anybody knows how long they will last.
        self._bound = int(windowed is not None and windowed.kind is tree.WindowKind.SESSION)
        self._newest = 0
        # A number tells windows of one moment apart, whose keys may have no order.
        self._windows: list[tuple[int, int, Key, Key]] = []
        self._number = count()

    def add(self, key: Key, window: Key) -> None:
        """Note a window that was not there before."""
        if self._kept_ms is not None:
            moment = window[self._bound]
            self._newest = max(self._newest, moment)
            heappush(self._windows, (moment, next(self._number), key, window))

    def take_over(self) -> Iterator[tuple[Key, Key]]:
        """Yield the windows that are too old to be kept, once each."""
        if self._kept_ms is None:
            return
        while self._windows and self._windows[0][0] < self._newest - self._kept_ms:
            _, _, key, window = heappop(self._windows)
            yield key, window
