"""How far a query reads in each of its topics with a batch: all go forward by time."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import SparkSession

from orion.log import Offsets, Slice, TopicTimes, slice_topics

# What Spark says of a query that has planned a batch and found nothing to read.
_WAITING = "Waiting for data to arrive"
_LOOK_S = 0.05
# Kafka's source reads up to the offsets in the one where the other is set; Spark's own use of it
# is to read what is there when a query starts, and no more.
_BOUNDS, _IS_BOUND = "allDataForTriggerAvailableNow", "isTriggerAvailableNow"


class Pace:
    """Lets the sources of one query read in step.

    Spark limits each source by itself. Of two topics with a long history one would be read far
    ahead of the other, and events would miss the rows that were in a table before them. So while
    a topic holds more than a batch may, all are read up to the same moment; with less, each is
    read to its end.

    Args:
        limits: How many records of each topic a batch may hold.
        times: See `TopicTimes`, which tells where a moment lies in topics.
    """

    def __init__(self, spark: SparkSession, limits: Mapping[str, int], times: TopicTimes) -> None:
        # PySpark has no way to a source's limit.
        self._jvm: Any = spark._jvm  # noqa: SLF001
        self._limits, self._times = limits, times
        self._lock = threading.Lock()
        self._positions: Offsets | None = None
        self._slice: Slice | None = None
        self._is_in_step = False

    def begin(self, execution: Any, ended: threading.Event) -> None:
        """Let sources read that were held at first; blocks until they do, or the query has ended.

        The first batch of a query is an empty one then, and lets them read itself. So does one
        that an earlier run has left. This is for a run that has neither.

        Args:
            execution: Spark's side of the query.
        """
        while not ended.wait(_LOOK_S):
            with self._lock:
                if self._positions is not None:
                    return
                if execution.status().message() == _WAITING:
                    self._positions = _positions(execution)
                    self._go_on(execution, self._positions)
                    return

    def go_on(self, execution: Any, positions: Offsets) -> None:
        """Say how far the next batch may go; called while Spark waits for one to be delivered.

        Args:
            positions: Where that batch ends.
        """
        with self._lock:
            before, self._positions = self._positions, positions
            if before is None or self._is_in_step or self._is_full(before, positions):
                self._go_on(execution, positions)

    def _is_full(self, before: Offsets, positions: Offsets) -> bool:
        """Tell whether a batch was as large as it may be, so that there may be more."""
        for topic, ends in positions.items():
            count = sum(end - before.get(topic, {}).get(p, 0) for p, end in ends.items())
            # Shares of partitions are rounded down.
            if count >= self._limits[topic] - len(ends):
                return True
        return False

    def _go_on(self, execution: Any, positions: Offsets) -> None:
        limits = self._jvm.org.apache.spark.sql.connector.read.streaming.ReadLimit
        sources = [(source, *_reached(execution, source)) for source in _sources(execution)]
        ends: dict[str, Mapping[int, int]] = {}
        for source, topic in sources:
            _bind(source, None)
            start = source.deserializeOffset(_written(topic, positions[topic]))
            ends |= _read(source.latestOffset(start, limits.allAvailable()).json())
        found = slice_topics(positions, ends, self._limits, self._times, after=self._slice)
        chosen = execution.uniqueSources()
        for source, topic in sources:
            limit = limits.maxRows(self._limits[topic])
            if found is not None:
                last = source.deserializeOffset(_written(topic, found.ends[topic]))
                _bind(source, last.partitionToOffsets())
                limit = limits.allAvailable()
            chosen = chosen.updated(source, limit)
        # At once for all of them: Spark may be planning.
        getattr(execution, "uniqueSources_$eq")(chosen)
        self._slice, self._is_in_step = found or self._slice, found is not None


def _positions(execution: Any) -> dict[str, dict[int, int]]:
    """Return where the last batch that was planned ends."""
    found: dict[str, dict[int, int]] = {}
    for source in _sources(execution):
        found |= _reached(execution, source)
    return found


def _reached(execution: Any, source: Any) -> dict[str, dict[int, int]]:
    return _read(execution.availableOffsets().get(source).get().json())


def _sources(execution: Any) -> Iterator[Any]:
    sources = execution.uniqueSources().keys().iterator()
    while sources.hasNext():
        yield sources.next()


def _bind(source: Any, offsets: Any) -> None:
    """Let a source read up to some offsets; None: as far as Spark lets it."""
    for name, value in ((_BOUNDS, offsets), (_IS_BOUND, offsets is not None)):
        field = source.getClass().getDeclaredField(name)
        field.setAccessible(True)
        field.set(source, value)


def _written(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(number): offset for number, offset in offsets.items()}})


def _read(text: str) -> dict[str, dict[int, int]]:
    return {t: {int(p): o for p, o in parts.items()} for t, parts in json.loads(text).items()}
