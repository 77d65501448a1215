"""Queries that plain Spark code started: listed and given a consumer group like Orion's own."""

import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from orion.log import Connection, GroupCommit, Offsets
from orion.model import Mode, QueryStatus, State

logger = logging.getLogger(__name__)
_LOOK_EVERY_S = 1.0


class Strangers:
    """Looks at the named streaming queries of a session that Orion's API did not start."""

    # Of the whole process: a commit for another runtime's query would undo that one's own.
    own: ClassVar[set[str]] = set()

    def __init__(self, spark: SparkSession, connection: Connection, *, app: str) -> None:
        self._spark = spark
        self._app = app
        self._groups = GroupCommit(connection)
        self._known: dict[str, QueryStatus] = {}
        self._looked_s = 0.0

    def active(self) -> bool:
        """Tell whether any of them runs."""
        return any(status.state.is_active for status in self._known.values())

    def look(self) -> dict[str, QueryStatus]:
        """Return their statuses; commits what they have read, about once a second."""
        if time.monotonic() - self._looked_s < _LOOK_EVERY_S:
            return self._known
        self._looked_s = time.monotonic()
        try:
            active = self._spark.streams.active
        except (Py4JError, OSError) as error:
            # The JVM is gone, and the queries with it: a signal reached both processes.
            logger.debug("no JVM to ask: %s", error)
            active = []
        running = {q.name: q for q in active if q.name and q.name not in self.own}
        for name, query in running.items():
            self._known[name] = self._status(name, query)
        for name in set(self._known) - set(running):
            self._known[name] = _ended(self._known[name])
        return self._known

    def _status(self, name: str, query: StreamingQuery) -> QueryStatus:
        progress = read_progress(query)
        ends = end_offsets(progress)
        self._groups.commit(name, ends)
        return QueryStatus(
            name=name,
            app=self._app,
            state=State.RUNNING,
            mode=Mode.AT_LEAST_ONCE,
            sources=tuple(ends),
            sink=str(progress.get("sink", {}).get("description", "")),
            guarantee="as plain Spark gives it: its sink decides",
            batch=int(progress.get("batchId", -1)),
            records_per_second=float(progress.get("processedRowsPerSecond") or 0.0),
            pid=os.getpid(),
        )


def _ended(status: QueryStatus) -> QueryStatus:
    return replace(status, state=State.STOPPED) if status.state.is_active else status


def read_progress(query: StreamingQuery) -> dict[str, Any]:
    """Return what Spark last reported of a query."""
    found = query._jsq.lastProgress()  # noqa: SLF001
    return {} if found is None else dict(json.loads(found.json()))


def end_offsets(progress: Mapping[str, Any]) -> Offsets:
    """Return where the last batch ended in each Kafka partition."""
    ends: dict[str, dict[int, int]] = {}
    for source in progress.get("sources", ()):
        offset = source.get("endOffset")
        if isinstance(offset, dict) and "Kafka" in source.get("description", ""):
            for topic, partitions in offset.items():
                ends[topic] = {int(number): end for number, end in partitions.items()}
    return ends
