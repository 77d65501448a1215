"""One producer for many callers: records go in without waiting, each batch is told when done."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from orion.log.connection import Connection
from orion.log.record import Record
from orion.model import UnavailableError

_OPTIONS = {
    "linger_ms": 5,
    "compression_type": "lz4",
    "delivery_timeout_ms": 30_000,
    "message_max_bytes": 100 << 20,
    "queue_buffering_max_kbytes": 128 << 10,
}
_POLL_S = 0.1
_CLOSE_S = 5.0


@dataclass(frozen=True)
class Written:
    """Where a record lies now."""

    partition: int
    offset: int
    timestamp_ms: int | None


@dataclass(frozen=True)
class Refused:
    """Why a record was not written.

    Args:
        code: Kafka's name of the error.
        can_retry: Whether the same record may be taken later.
    """

    code: str
    reason: str
    can_retry: bool


Outcome = Written | Refused
Done = Callable[[list[Outcome]], None]


class OutboxFullError(UnavailableError):
    """Raised when more records wait for the brokers than may."""

    def __init__(self, waiting: int, limit: int) -> None:
        self.waiting, self.limit = waiting, limit
        super().__init__(
            f"{waiting} records wait to be written, at most {limit} may.",
            fix="Send the records again in a moment.",
        )


class Outbox:
    """Writes records to any topic; called from any thread.

    Each record is acknowledged by every in-sync replica, or reported. `done` is called once for
    each batch, in the outbox's own thread, and must not wait.
    """

    def __init__(self, connection: Connection, *, max_waiting: int = 100_000) -> None:
        self._producer: Producer = connection.producer(
            **_OPTIONS, queue_buffering_max_messages=2 * max_waiting
        )
        self._max_waiting = max_waiting
        self._is_open = True
        self._thread = threading.Thread(target=self._poll, name="orion-outbox", daemon=True)
        self._thread.start()

    def send(self, topic: str, records: Sequence[Record], done: Done) -> None:
        """Queue records in their order; raise OutboxFullError before any if there are too many."""
        waiting = len(self._producer)
        if waiting + len(records) > self._max_waiting:
            raise OutboxFullError(waiting, self._max_waiting)
        batch = _Batch(len(records), done)
        for position, record in enumerate(records):
            if record.timestamp_ms is not None and record.timestamp_ms <= 0:
                batch.finish(position, _untimely(record.timestamp_ms))
                continue
            try:
                self._produce(topic, record, batch.reporter(position))
            except (BufferError, KafkaException, ValueError, TypeError) as error:
                batch.finish(position, _refusal(error))

    def close(self) -> None:
        """Write what waits, for a few seconds, then end."""
        self._producer.flush(_CLOSE_S)
        self._is_open = False
        self._thread.join()

    def _produce(
        self, topic: str, record: Record, report: Callable[[KafkaError | None, Message], None]
    ) -> None:
        self._producer.produce(
            topic,
            value=record.value,
            key=record.key,
            partition=-1 if record.partition is None else record.partition,
            timestamp=record.timestamp_ms or 0,
            headers=list(record.headers),
            on_delivery=report,
        )

    def _poll(self) -> None:
        while self._is_open:
            self._producer.poll(_POLL_S)


class _Batch:
    """Counts the records of a batch down; callers and the outbox's thread both report."""

    def __init__(self, size: int, done: Done) -> None:
        self._outcomes: list[Outcome | None] = [None] * size
        self._left, self._done = size, done
        self._lock = threading.Lock()
        if not size:
            done([])

    def reporter(self, position: int) -> Callable[[KafkaError | None, Message], None]:
        def report(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self.finish(position, _refusal(KafkaException(error)))
                return
            kind, timestamp_ms = message.timestamp()
            found = Written(
                message.partition() or 0, message.offset() or 0, timestamp_ms if kind else None
            )
            self.finish(position, found)

        return report

    def finish(self, position: int, outcome: Outcome) -> None:
        with self._lock:
            self._outcomes[position] = outcome
            self._left -= 1
            is_done = self._left == 0
        if is_done:
            self._done([outcome for outcome in self._outcomes if outcome is not None])


def _untimely(timestamp_ms: int) -> Refused:
    # The client would write the present instead of 0, and brokers know no time before it.
    reason = f"timestamp {timestamp_ms} cannot be sent, only ones above 0"
    return Refused("INVALID_TIMESTAMP", reason, can_retry=False)


def _refusal(error: Exception) -> Refused:
    if not isinstance(error, KafkaException):
        return Refused("_QUEUE_FULL", str(error), isinstance(error, BufferError))
    cause: KafkaError = error.args[0]
    reason = cause.str().removeprefix("Broker: ").removeprefix("Local: ")
    return Refused(cause.name(), reason, cause.retriable() or cause.name() == "_MSG_TIMED_OUT")
