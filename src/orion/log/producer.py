"""Write records to a topic, each one acknowledged by every in-sync replica or reported."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from orion.log.connection import Connection
from orion.log.errors import KafkaRefusedError, PartitionNotFoundError
from orion.log.record import Record
from orion.log.topic import Topics
from orion.model import OrionError

Progress = Callable[[int], None]

# The client gave up on a record: the brokers are away, and the next ones would fail as well.
_CUT_OFF = {"_MSG_TIMED_OUT", "_TIMED_OUT", "_TRANSPORT"}
# How many failed records an error keeps; it counts all of them.
_KEPT_FAILURES = 20
_LARGEST_BATCH = 1_000_000
_OPTIONS = {
    # Counting what failed is enough, and an interrupt inside a callback would crash the client.
    "delivery_report_only_error": True,
    "linger_ms": 20,
    "compression_type": "lz4",
    "delivery_timeout_ms": 30_000,
    # The largest record is the broker's decision, which it answers with its own limit.
    "message_max_bytes": 100 << 20,
    "queue_buffering_max_kbytes": 256 << 10,
}


@dataclass(frozen=True)
class Failure:
    """A record that was not written, and Kafka's reason."""

    record: Record
    reason: str


OnFailure = Callable[[Failure], object]


class ProduceError(OrionError):
    """Raised when some records were not written; every other one was."""

    def __init__(
        self, topic: str, failures: Iterable[Failure], *, failed: int, delivered: int, read: int
    ) -> None:
        self.topic, self.failures = topic, tuple(failures)
        self.failed, self.delivered, self.read = failed, delivered, read
        reasons = sorted({failure.reason for failure in self.failures})
        super().__init__(
            f"{failed} of {read} record(s) were not written to topic '{topic}', {delivered} were: "
            f"{'; '.join(reasons[:3])}.",
            fix="Send again what was not written, and the input after the records counted here.",
        )


class _Sender:
    """A producer that counts what was acknowledged and reports what was not."""

    def __init__(
        self, producer: Producer, topic: str, partitions: int, *, on_failure: OnFailure
    ) -> None:
        self._producer, self._topic, self._partitions = producer, topic, partitions
        self._on_failure = on_failure
        self.is_cut_off = False
        self._queued, self._lost, self.failed = 0, 0, 0
        self.failures: list[Failure] = []

    @property
    def delivered(self) -> int:
        """How many were acknowledged: all that were queued, less those under way and lost."""
        return max(0, self._queued - self._lost - len(self._producer))

    def send(self, record: Record) -> None:
        """Queue a record; waits while the queue is full."""
        if record.partition is not None and not 0 <= record.partition < self._partitions:
            raise PartitionNotFoundError(self._topic, record.partition, self._partitions)
        if record.timestamp_ms is not None and record.timestamp_ms <= 0:
            self._fail(record, f"timestamp {record.timestamp_ms} cannot be sent, only ones above 0")
            return
        while True:
            try:
                self._produce(record)
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                self._fail(record, _reason(error.args[0]))
                return
            else:
                self._queued += 1
                self._producer.poll(0)
                return

    def flush(self) -> None:
        """Wait until every queued record is acknowledged or has failed."""
        if self.is_cut_off:
            # What was not even sent would only wait for the same end.
            self._producer.purge(in_flight=False)
        while self._producer.flush(1.0):
            pass

    def _produce(self, record: Record) -> None:
        def on_delivery(error: KafkaError | None, _message: Message) -> None:
            if error is not None:
                self._lost += 1
                self.is_cut_off |= error.name() in _CUT_OFF
                self._fail(record, _reason(error))

        self._producer.produce(
            self._topic,
            value=record.value,
            key=record.key,
            partition=-1 if record.partition is None else record.partition,
            timestamp=record.timestamp_ms or 0,
            headers=list(record.headers),
            on_delivery=on_delivery,
        )

    def _fail(self, record: Record, reason: str) -> None:
        self.failed += 1
        failure = Failure(record, reason)
        self._on_failure(failure)
        if len(self.failures) < _KEPT_FAILURES:
            self.failures.append(failure)


def produce(
    connection: Connection,
    topic: str,
    records: Iterable[Record],
    *,
    progress: Progress = lambda _delivered: None,
    on_failure: OnFailure = lambda _failure: None,
) -> int:
    """Write records in their order to an existing topic and return how many were acknowledged.

    What was queued is delivered even when the records end with an error, which is then raised.
    Records that Kafka refuses do not stop the others; a broker that goes away stops the reading.
    A record's own topic and offset are ignored; its partition, where it has one, is kept.

    Args:
        connection: The way to the log.
        topic: The topic to write to; it is never created here.
        records: The records; read as fast as the brokers take them.
        progress: Called now and then with the count delivered so far, and at the end.
        on_failure: Called with each record that was not written.

    """
    topics = Topics(connection)
    partitions = len(topics.get(topic).partitions)
    options = {**_OPTIONS, "batch_size": _batch_size(topics, topic)}
    sender = _Sender(connection.producer(**options), topic, partitions, on_failure=on_failure)
    read = 0
    try:
        for record in records:
            sender.send(record)
            read += 1
            if sender.is_cut_off:
                break
            if read % 1_000 == 0:
                progress(sender.delivered)
    finally:
        try:
            sender.flush()
        except KeyboardInterrupt:
            # One interrupt ends the input, only a second one the waiting for what was queued.
            sender.flush()
            raise
        finally:
            progress(sender.delivered)
    if sender.failed:
        raise ProduceError(
            topic, sender.failures, failed=sender.failed, delivered=sender.delivered, read=read
        )
    return sender.delivered


def _reason(error: KafkaError) -> str:
    """Return why a record was not written, without the client's own words for absent brokers."""
    if error.name() in _CUT_OFF | {"_PURGE_QUEUE"}:
        return "no broker acknowledged it in time"
    return error.str().removeprefix("Broker: ").removeprefix("Local: ")


def _batch_size(topics: Topics, topic: str) -> int:
    """Return the bytes a batch may have.

    Kafka's limit for a message holds for a whole batch, which it refuses with every record in it:
    above the limit only a record that is itself too large may go.
    """
    try:
        limit = topics.configs(topic)["max.message.bytes"].value
    except KafkaRefusedError:
        # Writing may be allowed where reading the configuration is not.
        return _LARGEST_BATCH
    return min(_LARGEST_BATCH, max(int(limit or _LARGEST_BATCH), 1))
