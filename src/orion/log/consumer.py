"""Read records of one topic: from a position, to the current end, a count, or forever."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.errors import (
    OffsetOutOfRangeError,
    PartitionNotFoundError,
    TopicNotFoundError,
    refuse,
)
from orion.log.offset import Bounds, read_bounds, read_offsets_at
from orion.log.record import Record

# One round trip to the client's queue; a follower sees a record at most this much later.
_BATCH_RECORDS, _BATCH_WAIT_S = 1_000, 0.1
_METADATA_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Start:
    """Where reading begins in every partition; made by its class methods."""

    kind: Literal["beginning", "end", "instant", "offset"]
    number: int = 0

    @classmethod
    def beginning(cls) -> "Start":
        """Begin with the oldest record."""
        return cls("beginning")

    @classmethod
    def end(cls) -> "Start":
        """Begin after the newest record."""
        return cls("end")

    @classmethod
    def instant(cls, instant_ms: int) -> "Start":
        """Begin with the first record whose timestamp is not before the instant."""
        return cls("instant", instant_ms)

    @classmethod
    def offset(cls, offset: int) -> "Start":
        """Begin at an offset, which must lie in the log."""
        return cls("offset", offset)


@dataclass(frozen=True)
class Selection:
    """What to read and when to stop.

    Args:
        topic: The topic.
        start: Where to begin.
        partitions: The partitions to read; none given: all.
        follow: Wait for new records; otherwise stop at the end found at the start.
        limit: Stop after this many records.
        committed: Leave out records of open and aborted transactions.
        idle_s: When following: stop after this long without a record.

    """

    topic: str
    start: Start = Start("beginning")
    partitions: tuple[int, ...] = ()
    follow: bool = False
    limit: int | None = None
    committed: bool = True
    idle_s: float | None = None


def consume(connection: Connection, selection: Selection) -> Iterator[Record]:
    """Yield the selected records, in order within each partition; commits nothing.

    The topic and positions are checked before the first record is asked for. A follower outlives a
    broker that goes away; any other reading ends with an error then.
    """
    positions, ends = _plan(connection, selection)
    return _read(connection, selection, positions, ends)


def read_ranges(
    connection: Connection, topic: str, ranges: Mapping[int, tuple[int, int]]
) -> Iterator[Record]:
    """Yield the records of ranges of offsets, a range a partition; those that are gone are left."""
    positions = [TopicPartition(topic, number, first) for number, (first, _) in ranges.items()]
    ends = {number: end for number, (_, end) in ranges.items()}
    return _read(connection, Selection(topic), positions, ends)


def _plan(
    connection: Connection, selection: Selection
) -> tuple[list[TopicPartition], dict[int, int]]:
    """Return where to begin in each partition that has something to read, and where to end."""
    admin, addresses = connection.admin(), connection.addresses
    wanted = _partitions(admin, selection, addresses)
    bounds = read_bounds(admin, wanted, addresses=addresses, committed=selection.committed)
    instants: dict[tuple[str, int], int] = {}
    if selection.start.kind == "instant":
        number = selection.start.number
        instants = read_offsets_at(admin, wanted, number, addresses=addresses)
    positions, ends = [], {}
    for (topic, partition), (first, last) in sorted(bounds.items()):
        found = instants.get((topic, partition), last)
        start = _start(selection, partition, (first, last), found)
        if selection.follow or start < last:
            positions.append(TopicPartition(topic, partition, start))
            ends[partition] = last
    return positions, ends


def _partitions(admin: AdminClient, selection: Selection, addresses: str) -> list[TopicPartition]:
    try:
        topics = admin.list_topics(timeout=_METADATA_TIMEOUT_S).topics
    except KafkaException as error:
        raise BrokerUnreachableError(addresses, error.args[0].str()) from error
    if selection.topic not in topics:
        raise TopicNotFoundError(selection.topic, topics)
    known = sorted(topics[selection.topic].partitions)
    for number in selection.partitions:
        if number not in known:
            raise PartitionNotFoundError(selection.topic, number, len(known))
    return [TopicPartition(selection.topic, n) for n in selection.partitions or known]


def _start(selection: Selection, partition: int, bounds: Bounds, at_instant: int) -> int:
    start = selection.start
    if start.kind == "offset" and not bounds[0] <= start.number <= bounds[1]:
        raise OffsetOutOfRangeError(selection.topic, partition, start.number, bounds)
    chosen = {
        "beginning": bounds[0],
        "end": bounds[1],
        "instant": at_instant,
        "offset": start.number,
    }
    return chosen[start.kind]


def _read(
    connection: Connection,
    selection: Selection,
    positions: list[TopicPartition],
    ends: dict[int, int],
) -> Iterator[Record]:
    if not positions or selection.limit == 0:
        return
    consumer = connection.consumer(
        "orion-consume",
        enable_partition_eof=not selection.follow,
        isolation_level="read_committed" if selection.committed else "read_uncommitted",
        auto_offset_reset="earliest",
        fetch_wait_max_ms=int(_BATCH_WAIT_S * 1_000),
    )
    try:
        consumer.assign(positions)
        found = (
            _follow(consumer, selection.idle_s)
            if selection.follow
            else _until(connection, consumer, ends)
        )
        for count, record in enumerate(found, start=1):
            yield record
            if count == selection.limit:
                return
    finally:
        consumer.close()


def _follow(consumer: Consumer, idle_s: float | None) -> Iterator[Record]:
    last = time.monotonic()
    while idle_s is None or time.monotonic() - last < idle_s:
        for message in consumer.consume(_BATCH_RECORDS, _BATCH_WAIT_S):
            if message.error() is None:
                yield to_record(message)
                last = time.monotonic()


def _until(connection: Connection, consumer: Consumer, ends: dict[int, int]) -> Iterator[Record]:
    """Yield records before the ends; a partition is done at its end or where nothing follows.

    The offset before an end may be a transaction's mark, which is never delivered: only the
    client's end-of-partition event tells that it was passed.
    """
    left = dict(ends)
    while left:
        for message in consumer.consume(_BATCH_RECORDS, _BATCH_WAIT_S):
            partition, error = message.partition(), message.error()
            if error is not None and error.name() != "_PARTITION_EOF":
                if not error.retriable():
                    refuse(KafkaException(error), "read records", addresses=connection.addresses)
                continue
            if partition not in left:
                continue
            offset = message.offset()
            if error is None and offset is not None and offset < left[partition]:
                yield to_record(message)
            if error is not None or (offset is not None and offset + 1 >= left[partition]):
                del left[partition]
                consumer.incremental_unassign([TopicPartition(message.topic() or "", partition)])


def to_record(message: Message) -> Record:
    """Return a message of the client as a record."""
    kind, timestamp_ms = message.timestamp()
    return Record(
        value=message.value(),
        key=message.key(),
        headers=tuple(message.headers() or ()),  # type: ignore[arg-type]
        timestamp_ms=timestamp_ms if kind else None,
        topic=message.topic() or "",
        partition=message.partition(),
        offset=message.offset(),
    )
