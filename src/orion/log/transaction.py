"""One Kafka transaction a batch: output, dead letters and input offsets become visible together."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat, starmap
from operator import length_hint
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.deadline import CallStuckError, call_in_time
from orion.log.stamp import decode_stamp, encode_stamp
from orion.model import ConflictError, UnavailableError

Headers = Sequence[tuple[str, bytes | None]]
Offsets = Mapping[str, Mapping[int, int]]

_TIMEOUT_S = 30.0
# How long the end of a transaction is waited for at once. What could not be aborted in that time,
# the next owner of the name aborts.
_AT_ONCE_S = 3.0
# A call that keeps to its time, more or less, is not given up.
_MARGIN_S = 5.0
_PRODUCER: dict[str, Any] = {
    # The next transaction waits this long between tries while the last one is being closed.
    "retry_backoff_ms": 5,
    "linger_ms": 20,
    "compression_type": "lz4",
    "batch_size": 512 << 10,
    "batch_num_messages": 100_000,
    "queue_buffering_max_messages": 2_000_000,
    "queue_buffering_max_kbytes": 1 << 20,
    "message_max_bytes": 64 << 20,
    "delivery_report_only_error": True,
    # A large batch takes its time. What a killed run has left open, its next run ends at once.
    "transaction_timeout_ms": 300_000,
    "message_timeout_ms": 60_000,
}
_FENCED = {KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED}  # noqa: SLF001
# What a topic may have against a record, and the configuration that would let it in.
_REFUSALS = {
    KafkaError.INVALID_TIMESTAMP: (
        "The time of a record lies further ahead",
        "message.timestamp.after.max.ms=100000d",
    ),
    KafkaError.MSG_SIZE_TOO_LARGE: ("A record is larger", "max.message.bytes=64m"),
}
# Delivery reports are served this often; more costs time, less lets them pile up.
_POLL_EVERY = 20_000
# How long a full queue is given to send some of what it holds.
_FULL_S = 0.05


class FencedError(ConflictError):
    """Raised when another run of the same query has taken over."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"Query '{name}' was fenced: another run of it has started and owns its transactions.",
            fix="This run has written nothing since. Stop the other one if this one should go on.",
        )


class RecordRefusedError(ConflictError):
    """Raised when a topic does not take a record for its time or its size."""

    def __init__(self, name: str, reason: str, found: str, allowance: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(
            f"A transaction of query '{name}' was aborted: {reason}. {found} than its topic allows;"
            " none of the batch is visible.",
            fix=f"Allow it: orion topics config set TOPIC {allowance}, "
            f"then: orion queries restart {name}",
        )


class TransactionError(UnavailableError):
    """Raised when a batch could not be committed; nothing of it is visible."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(
            f"A transaction of query '{name}' was aborted: {reason}. None of it is visible.",
            fix="It is tried again by itself; if that does not help, look at the brokers' logs.",
        )


@dataclass(frozen=True)
class Outgoing:
    """Records for one topic, as columns of equal length; None: that part is left to Kafka.

    Args:
        timestamps_ms: 0: the time at which it is written.
    """

    topic: str
    values: Sequence[bytes | None]
    keys: Sequence[bytes | None] | None = None
    timestamps_ms: Sequence[int] | None = None
    headers: Sequence[Headers | None] | None = None
    partitions: Sequence[int] | None = None


@dataclass(frozen=True)
class Position:
    """Where a query's last committed batch ended.

    Args:
        checkpoint: Identity of the checkpoint that numbered the batch.

    """

    checkpoint: str
    batch: int
    offsets: Offsets


class TransactionalWriter:
    """The one producer of a query; opening it fences every earlier one of the same name.

    Args:
        timeout_s: How long one request of a transaction may last.
    """

    def __init__(self, connection: Connection, name: str, *, timeout_s: float = _TIMEOUT_S) -> None:
        self._connection = connection
        self._name = name
        self._timeout_s = timeout_s
        self._producer: Producer | None = None
        # It never subscribes: it lends its group's identity to the transaction.
        self._group: Consumer | None = None

    def open(self) -> None:
        """Take over the name: end what an earlier run left open, and fence that run."""
        options = {**_PRODUCER, "transactional_id": f"orion.{self._name}"}
        self._producer = self._connection.producer(**options)
        # Connected first: what finds no connection is tried again only after half a second.
        self._connection.require(self._producer)
        self._group = self._connection.consumer(self._name)
        with self._translated():
            self._producer.init_transactions(self._timeout_s)

    def close(self) -> None:
        """Let go of the clients; an open transaction is aborted."""
        self._producer = None
        if self._group is not None:
            self._group.close()
            self._group = None

    def position(self, topics: Iterable[str]) -> Position | None:
        """Return the last committed position of the group over these topics, if it has one."""
        reader = self._group or self._connection.consumer(self._name)
        partitions = list(_partitions(reader, topics))
        if not partitions:
            return None
        with self._translated():
            committed = reader.committed(partitions, timeout=self._timeout_s)
        offsets: dict[str, dict[int, int]] = {}
        batch, checkpoint = -1, ""
        for item in committed:
            if item.offset < 0:
                continue
            offsets.setdefault(item.topic, {})[item.partition] = item.offset
            stamped, number = decode_stamp(item.metadata)
            if number >= batch:
                batch, checkpoint = number, stamped
        return Position(checkpoint, batch, offsets) if offsets else None

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """Open a transaction; it commits when the block ends and aborts when the block raises."""
        assert self._producer is not None
        assert self._group is not None
        with self._translated():
            self._producer.begin_transaction()
            try:
                yield Transaction(self._producer, self._group, self._timeout_s)
                self._commit()
            except CallStuckError:
                # It would wait for the same call. The next owner of the name aborts.
                self._producer = None
                raise
            except KafkaException as error:
                cause = self._cause(error)
                self._abort()
                raise cause from error
            except BaseException:
                self._abort()
                raise

    def _commit(self) -> None:
        assert self._producer is not None
        while True:
            try:
                # Asked again it goes on, or tells of a record that was refused meanwhile.
                commit = self._producer.commit_transaction
                call_in_time("commit", commit, _AT_ONCE_S, limit_s=self._timeout_s + _MARGIN_S)
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
            else:
                return

    def _cause(self, error: KafkaException) -> KafkaException:
        """Return why an open transaction failed: by a record that was refused, say.

        What is asked of it behind that fails for a reason of its own.
        """
        assert self._producer is not None
        try:
            # Never begins another while one is open; one that has failed says here by what.
            self._producer.begin_transaction()
        except KafkaException as told:
            if told.args[0].txn_requires_abort():
                return told
        return KafkaException(error.args[0])

    def _abort(self) -> None:
        assert self._producer is not None
        try:
            # With records behind a refused one it takes all the time that it is given.
            abort = self._producer.abort_transaction
            call_in_time("abort", abort, _AT_ONCE_S, limit_s=_AT_ONCE_S + _MARGIN_S)
        except (KafkaException, CallStuckError):
            # A fenced or unreachable producer cannot abort; the next owner of the name does.
            self._producer = None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except KafkaException as error:
            cause = error.args[0]
            if cause.code() in _FENCED or cause.fatal():
                raise FencedError(self._name) from error
            if cause.code() == KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001
                raise BrokerUnreachableError(self._connection.addresses) from error
            if cause.code() in _REFUSALS:
                refusal = _REFUSALS[cause.code()]
                raise RecordRefusedError(self._name, cause.str(), *refusal) from error
            raise TransactionError(self._name, cause.str()) from error


class Transaction:
    """An open transaction; used by one thread, inside its `with` block."""

    def __init__(self, producer: Producer, group: Consumer, timeout_s: float) -> None:
        self._producer = producer
        self._group = group
        self._timeout_s = timeout_s

    def write(self, outgoing: Outgoing) -> None:
        """Add records, in their order."""
        count = len(outgoing.values)
        for start in range(0, count, _POLL_EVERY):
            self._write(outgoing, start, min(start + _POLL_EVERY, count))

    def _write(self, outgoing: Outgoing, start: int, end: int) -> None:
        while start < end:
            values = iter(outgoing.values[start:end])
            calls = starmap(self._producer.produce, _calls(outgoing, values, slice(start, end)))
            try:
                # No loop of Python's own: it would cost a quarter of what a record costs here.
                deque(calls, maxlen=0)
                start = end
                self._producer.poll(0)
            except BufferError:
                # The last record that was taken is the one that found no room.
                start = end - length_hint(values) - 1
                self._producer.poll(_FULL_S)

    def commit_offsets(self, offsets: Offsets, *, checkpoint: str, batch: int) -> None:
        """Add where the batch ended; the batch is named in the offsets' metadata."""
        stamp = encode_stamp(checkpoint, batch)
        positions = [
            TopicPartition(topic, partition, offset, stamp)
            for topic, ends in offsets.items()
            for partition, offset in ends.items()
        ]
        if positions:
            metadata = self._group.consumer_group_metadata()
            # While the group's coordinator is down it waits for ever, and hears of no return.
            send = partial(self._producer.send_offsets_to_transaction, positions, metadata)
            limit_s = self._timeout_s + _MARGIN_S
            call_in_time("send offsets", send, self._timeout_s, limit_s=limit_s)


def _calls(
    outgoing: Outgoing, values: Iterator[bytes | None], part: slice
) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `produce` by position: it reads keywords for twice the cost."""
    keys, times, headers = outgoing.keys, outgoing.timestamps_ms, outgoing.headers
    return zip(
        repeat(outgoing.topic),
        values,
        repeat(None) if keys is None else keys[part],
        repeat(-1) if outgoing.partitions is None else outgoing.partitions[part],
        repeat(None),
        repeat(None),
        repeat(0) if times is None else times[part],
        repeat(None) if headers is None else (list(own) if own else None for own in headers[part]),
        strict=False,
    )


def _partitions(consumer: Consumer, topics: Iterable[str]) -> Iterator[TopicPartition]:
    for topic in topics:
        known = consumer.list_topics(topic, timeout=_TIMEOUT_S).topics[topic]
        yield from (TopicPartition(topic, number) for number in known.partitions)
