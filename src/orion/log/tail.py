"""Follow a topic in steps of bounded time, for who must do other things in between."""

from collections.abc import Mapping
from types import TracebackType

from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from orion.log.connection import Connection
from orion.log.consumer import to_record
from orion.log.record import Record
from orion.log.topic import Topics
from orion.log.watermark import end_offset

# Those that are there already; the client holds no more than 64 MB of them.
_BATCH_RECORDS = 10_000


class Tail:
    """The records of a topic's partitions as they come; used by one thread at a time."""

    def __init__(self, connection: Connection, topic: str, *, from_beginning: bool) -> None:
        partitions = Topics(connection).get(topic).partitions
        self._addresses = connection.addresses
        self._consumer = connection.consumer(
            "orion-tail",
            auto_offset_reset="earliest",
            fetch_wait_max_ms=100,
            enable_partition_eof=True,
        )
        self._partitions = [TopicPartition(topic, p.number, OFFSET_BEGINNING) for p in partitions]
        if not from_beginning:
            # Kafka's own "end" is looked up later: what is written until then would be missed.
            ends = self.ends()
            for part in self._partitions:
                part.offset = ends[part.partition]
        self._ends: dict[int, int] = {}
        self._consumer.assign(self._partitions)

    def read(self, timeout_s: float) -> list[Record]:
        """Return what has come, at the latest after the timeout; perhaps nothing."""
        first = self._consumer.poll(timeout_s)
        if first is None:
            return []
        messages = (first, *self._consumer.consume(_BATCH_RECORDS, 0))
        for message in messages:
            error = message.error()
            if error is not None and error.name() == "_PARTITION_EOF":
                # Behind the marks of transactions, which no record is.
                self._ends[message.partition() or 0] = message.offset() or 0
        return [to_record(message) for message in messages if message.error() is None]

    def ends(self) -> dict[int, int]:
        """Return where each partition ends now; asks the brokers."""
        return {
            part.partition: end_offset(self._consumer, part, addresses=self._addresses)
            for part in self._partitions
        }

    def has_reached(self, ends: Mapping[int, int]) -> bool:
        """Tell whether everything before these ends has been returned by `read`."""
        return all(end == 0 or self._ends.get(part, -1) >= end for part, end in ends.items())

    def close(self) -> None:
        """Let go of the client."""
        self._consumer.close()

    def __enter__(self) -> "Tail":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
