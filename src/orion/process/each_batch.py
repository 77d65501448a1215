"""The calls between Spark's JVM and Python that every batch makes: as few of them as will do."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pyarrow as pa
from py4j.clientserver import JavaClient
from py4j.java_gateway import JavaObject, java_import
from py4j.protocol import Py4JError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from orion.model import OrionError


class EachBatch:
    """What Spark calls with every batch of a query.

    `foreachBatch` of PySpark makes a session for every batch, which asks the JVM several times;
    a query has one.
    """

    def __init__(self, spark: SparkSession, deliver: Callable[[DataFrame, int], None]) -> None:
        self._context = spark.sparkContext
        self._deliver: Callable[[DataFrame, int], None] | None = deliver
        self._session: SparkSession | None = None
        self._why_ended: OrionError | None = None
        # Where the connection of Spark's thread that calls begins; no other thread has it.
        self._port: int | None = None

    def attach(self, writer: DataStreamWriter) -> None:
        """Let a query's batches go to this object."""
        gateway = self._gateway
        java_import(gateway.jvm, "org.apache.spark.sql.execution.streaming.sources.*")
        gateway.jvm.PythonForeachBatchHelper.callForeachBatch(writer._jwrite, self)  # noqa: SLF001
        ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]

    @property
    def _gateway(self) -> Any:
        return self._context._gateway  # noqa: SLF001

    def call(self, frame: Any, number: int) -> None:
        """Take a batch; Spark's name for it."""
        deliver = self._deliver
        if deliver is None:
            assert self._why_ended is not None
            raise self._why_ended
        if self._session is None:
            self._port = _port_of_thread(self._gateway)
            self._session = SparkSession(self._context, frame.sparkSession())
        deliver(DataFrame(frame, self._session), number)

    def end(self, why: OrionError) -> None:
        """Let go of a query that has ended.

        Its objects in Java hold this one, which holds them by what it delivers to: neither side's
        collector sees the circle, and the JVM would fill with all queries that ever ran.

        Args:
            why: Refuses batches that come all the same.
        """
        self._why_ended = why
        port, self._port = self._port, None
        self._deliver = self._session = None
        if port is not None:
            # With its JVM gone, there is nothing left to close.
            with suppress(Py4JError, OSError):
                _close_connection(self._gateway, port)

    class Java:
        """How py4j knows what this is in Java."""

        implements = (
            "org.apache.spark.sql.execution.streaming.sources.PythonForeachBatchFunction",
        )


def collect(rows: DataFrame) -> pa.Table | None:
    """Run a batch and return its rows, in order; None where there are none.

    `toArrow` asks the JVM for the schema and for settings as well.
    """
    batches = rows._collect_as_arrow()  # type: ignore[operator]  # noqa: SLF001
    return pa.Table.from_batches(batches) if batches else None


def _port_of_thread(gateway: Any) -> int | None:
    """Return the JVM's port of the connection by which this thread is called."""
    client = gateway._gateway_client  # noqa: SLF001
    # Without pinned threads (PYSPARK_PIN_THREAD) calls share a few connections.
    if not isinstance(client, JavaClient):
        return None
    return int(client.get_thread_connection().socket.getpeername()[1])


def _close_connection(gateway: Any, port: int) -> None:
    """Close the connection of a thread of Spark's that has ended.

    The JVM has one for each thread that ever called Python, and py4j keeps them for ever: two open
    files and a thread of Python's for every run of a query.
    """
    client = JavaObject("GATEWAY_SERVER", gateway._gateway_client).getCallbackClient()  # noqa: SLF001
    connections, lock = (_field(client, name) for name in ("connections", "lock"))
    lock.lock()
    try:
        for each in connections.toArray():
            # One that is not there is in use: a batch was given up that is still being delivered.
            socket = each.getSocket()
            if socket is not None and socket.getLocalPort() == port:
                connections.remove(each)
                each.shutdown()
    finally:
        lock.unlock()


def _field(client: Any, name: str) -> Any:
    field = client.getClass().getSuperclass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(client)
