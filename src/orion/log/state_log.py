"""A compacted topic of one partition: every process reads it whole, one at a time writes it.

Whoever writes owns the topic's transactional id. Owning it anew fences the owner before, and the
new owner reads to the end before it decides: so no two processes decide from the same past.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from confluent_kafka import KafkaException, Message, Producer, TopicPartition

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.errors import TopicExistsError
from orion.log.topic import Topics
from orion.log.watermark import end_offset
from orion.model import UnavailableError

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Pair = tuple[bytes | None, bytes | None]
Apply = Callable[[bytes | None, bytes | None], None]
Decide = Callable[[], tuple[Sequence[Pair], Result]]

_TIMEOUT_S = 15.0
# Two processes that write at the same time fence each other; one of them waits the longer.
_PAUSE_S = (0.005, 0.06)
_POLL_S = 0.5


class StateLogError(UnavailableError):
    """Raised when a change was not stored, or cannot be known to be."""

    def __init__(self, topic: str, reason: str) -> None:
        self.topic, self.reason = topic, reason
        super().__init__(
            f"Topic '{topic}' did not take a change: {reason.rstrip('.')}.",
            fix="Try again; look at the brokers with: orion status",
        )


class StateLog:
    """One process's view of the topic; threads may share it.

    Args:
        apply: Called with each record in order, from one thread, while `lock` is held.
    """

    def __init__(self, connection: Connection, topic: str, apply: Apply) -> None:
        self._connection, self._topic, self._apply = connection, topic, apply
        self.lock = threading.RLock()
        self._moved = threading.Condition(self.lock)
        self._turn = threading.Lock()
        self._position = 0
        # The last record that was read, and the last one that this process wrote.
        self._last_read, self._last_written = -1, -1
        self._stopped = threading.Event()
        self._producer: Producer | None = None
        self._reader: threading.Thread | None = None

    def open(self) -> None:
        """Create the topic where it is missing and read it to its end."""
        self._create()
        self._reader = threading.Thread(target=self._read, name=f"read {self._topic}", daemon=True)
        self._reader.start()
        self._catch_up(self._end())

    def close(self) -> None:
        """Stop reading; what was decided is stored already."""
        self._stopped.set()
        if self._reader is not None:
            self._reader.join(timeout=5.0)

    def decide(self, make: Decide[Result]) -> Result:
        """Return what `make` answers, once the records it gives are stored and read back.

        `make` is called with the state up to date and nobody else writing; it is called again when
        another process wrote in between. It may raise: then nothing is written.
        """
        with self._turn:
            deadline = time.monotonic() + _TIMEOUT_S
            while True:
                try:
                    return self._try(make)
                except KafkaException as error:
                    # Another process took over, or a broker went: nothing of this try is visible,
                    # or all of it is, which the next one sees.
                    self._producer = None
                    if time.monotonic() > deadline:
                        raise StateLogError(self._topic, error.args[0].str()) from error
                    time.sleep(random.uniform(*_PAUSE_S))

    def _try(self, make: Decide[Result]) -> Result:
        producer = self._own()
        with self.lock:
            pairs, result = make()
        if pairs:
            self._last_written = self._write(producer, pairs)
            self._catch_up(self._last_written + 1)
        return result

    def _create(self) -> None:
        topics = Topics(self._connection)
        if topics.exists(self._topic):
            return
        configs = {"cleanup.policy": "compact"}
        copies = min(3, topics.broker_count())
        try:
            topics.create(self._topic, partitions=1, replication=copies, configs=configs)
        except TopicExistsError:
            return  # another process was faster

    def _own(self) -> Producer:
        """Return the producer that owns the topic; a new one fences the owner before."""
        with self.lock:
            # A record of someone else tells that the topic has another owner; to be refused by
            # the brokers would tell the same, half a second later.
            if self._producer is not None and self._last_read <= self._last_written:
                return self._producer
        self._producer = None
        producer = self._connection.producer(
            transactional_id=f"orion.state.{self._topic}",
            linger_ms=0,
            retry_backoff_ms=5,
            transaction_timeout_ms=10_000,
            message_max_bytes=64 << 20,
        )
        producer.init_transactions(_TIMEOUT_S)
        # What the owner before had under way is decided now: the end is the end.
        self._catch_up(self._after_last_record())
        with self.lock:
            self._last_written = self._last_read
        self._producer = producer
        return producer

    def _write(self, producer: Producer, pairs: Sequence[Pair]) -> int:
        """Store records together; return the offset of the last one."""
        offsets: list[int] = []

        def on_delivery(error: object, message: Message) -> None:
            if error is None:
                offsets.append(message.offset() or 0)

        producer.begin_transaction()
        for key, value in pairs:
            producer.produce(self._topic, value, key, partition=0, on_delivery=on_delivery)
        # Flushing serves the callbacks; committing alone need not.
        producer.flush(_TIMEOUT_S)
        producer.commit_transaction(_TIMEOUT_S)
        if len(offsets) < len(pairs):
            raise StateLogError(self._topic, "a record was not acknowledged")
        return max(offsets)

    def _end(self) -> int:
        """Return the offset after the last decided record."""
        consumer = self._connection.consumer("orion-state")
        try:
            partition = TopicPartition(self._topic, 0)
            return end_offset(consumer, partition, addresses=self._connection.addresses)
        finally:
            consumer.close()

    def _after_last_record(self) -> int:
        """Return the offset after the last record, which may lie before marks of transactions.

        The reader learns of an end without records only when its fetch times out, half a second
        later; of a record at once.
        """
        with self.lock:
            position = self._position
        consumer = self._connection.consumer(
            "orion-state",
            enable_partition_eof=True,
            auto_offset_reset="earliest",
            fetch_wait_max_ms=5,
        )
        deadline = time.monotonic() + _TIMEOUT_S
        try:
            consumer.assign([TopicPartition(self._topic, 0, position)])
            while time.monotonic() < deadline:
                message = consumer.poll(_POLL_S)
                if message is None:
                    continue
                error = message.error()
                if error is None:
                    position = max(position, (message.offset() or 0) + 1)
                elif error.name() == "_PARTITION_EOF":
                    return position
        finally:
            consumer.close()
        raise BrokerUnreachableError(self._connection.addresses, f"{self._topic} cannot be read")

    def _catch_up(self, offset: int) -> None:
        deadline = time.monotonic() + _TIMEOUT_S
        with self._moved:
            while self._position < offset:
                left = deadline - time.monotonic()
                if left <= 0 or not self._moved.wait(left):
                    reason = f"{self._topic} cannot be read"
                    raise BrokerUnreachableError(self._connection.addresses, reason)

    def _read(self) -> None:
        consumer = self._connection.consumer(
            "orion-state", enable_partition_eof=True, auto_offset_reset="earliest"
        )
        try:
            consumer.assign([TopicPartition(self._topic, 0, 0)])
            while not self._stopped.is_set():
                message = consumer.poll(_POLL_S)
                if message is not None:
                    self._take(message)
        finally:
            consumer.close()

    def _take(self, message: Message) -> None:
        error, offset = message.error(), message.offset() or 0
        if error is not None and error.name() != "_PARTITION_EOF":
            logger.warning("%s: %s", self._topic, error.str())
            return
        with self._moved:
            if error is None:
                self._apply(message.key(), message.value())
                self._last_read = offset
            # The end is told with the offset behind the marks of transactions.
            self._position = max(self._position, offset + (error is None))
            self._moved.notify_all()
