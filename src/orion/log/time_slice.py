"""A slice of several topics by time: how far to read in each, so that none runs ahead of others."""

import time
from collections.abc import Iterable, Mapping
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, TopicPartition

from orion.log.connection import Connection
from orion.log.errors import REQUEST_TIMEOUT_S, refuse
from orion.log.offset import PartitionKey, read_offsets_at
from orion.log.transaction import Offsets
from orion.model import UnavailableError

_WAIT_S = 0.5
# Of each partition one record is looked at; brokers send the whole batch that it lies in.
_FETCH_BYTES = 1


class TimeIndex(Protocol):
    """Where times lie in topics."""

    def times_at(self, places: Mapping[PartitionKey, int]) -> dict[PartitionKey, int]:
        """Return the time of the record at each offset, or of the next one; no record: left out."""

    def offsets_at(
        self, partitions: Iterable[PartitionKey], time_ms: int
    ) -> dict[PartitionKey, int]:
        """Return the first offset that is not before a time; partitions with none are left out."""


def slice_ends(
    positions: Offsets, ends: Offsets, limits: Mapping[str, int], index: TimeIndex
) -> Offsets | None:
    """Return where to stop reading in each partition; None: all that is there fits.

    A topic that holds more than its limit is cut, in proportion to what its partitions hold, where
    each has a record to give. The
    earliest of the times at these cuts is where all others stop too, before that moment. At
    least one partition comes to its cut, so that every slice goes forward.

    Args:
        positions: Where reading goes on; a partition that is not there begins at 0.
        ends: Where each partition ends.
        limits: How many records of a topic a slice may hold.
    """
    cuts: dict[PartitionKey, int] = {}
    for topic in ends:
        cuts |= _cuts(topic, positions.get(topic, {}), ends[topic], limits[topic])
    if not cuts:
        return None
    times = index.times_at(cuts)
    latest = {
        (t, p): cuts.get((t, p), end) for t, parts in ends.items() for p, end in parts.items()
    }
    if times:
        first = min(times.values())
        others = [place for place in latest if times.get(place) != first]
        for place, offset in index.offsets_at(others, first).items():
            latest[place] = min(latest[place], offset)
    return {
        topic: {p: max(latest[topic, p], positions.get(topic, {}).get(p, 0)) for p in parts}
        for topic, parts in ends.items()
    }


def _cuts(
    topic: str, positions: Mapping[int, int], ends: Mapping[int, int], limit: int
) -> dict[PartitionKey, int]:
    """Return where the share of each partition ends, if all of the topic is too much."""
    sizes = {p: max(0, end - positions.get(p, 0)) for p, end in ends.items()}
    total = sum(sizes.values())
    if total <= limit:
        return {}
    shares = {p: max(1, limit * size // total) for p, size in sizes.items()}
    return {
        (topic, p): positions.get(p, 0) + shares[p] for p, size in sizes.items() if shares[p] < size
    }


class TopicTimes:
    """Asks the brokers where times lie; called by one thread at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def times_at(self, places: Mapping[PartitionKey, int]) -> dict[PartitionKey, int]:
        """Return the time of the record at each offset, or of the next one; no record: left out."""
        reader = self._connection.consumer(
            "orion-times",
            enable_partition_eof=True,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            fetch_message_max_bytes=_FETCH_BYTES,
        )
        try:
            reader.assign([TopicPartition(t, p, offset) for (t, p), offset in places.items()])
            return self._first_times(reader, set(places))
        finally:
            reader.close()

    def offsets_at(
        self, partitions: Iterable[PartitionKey], time_ms: int
    ) -> dict[PartitionKey, int]:
        """Return the first offset that is not before a time; partitions with none are left out."""
        wanted = [TopicPartition(topic, number) for topic, number in partitions]
        connection = self._connection
        admin = connection.admin()
        return read_offsets_at(admin, wanted, time_ms, addresses=connection.addresses)

    def _first_times(self, reader: Consumer, left: set[PartitionKey]) -> dict[PartitionKey, int]:
        found: dict[PartitionKey, int] = {}
        deadline = time.monotonic() + REQUEST_TIMEOUT_S
        while left:
            if time.monotonic() > deadline:
                raise TimesUnknownError(left)
            for message in reader.consume(len(left), _WAIT_S):
                error = message.error()
                if error is not None and error.name() != "_PARTITION_EOF":
                    if not error.retriable():
                        addresses = self._connection.addresses
                        refuse(KafkaException(error), "read records", addresses=addresses)
                    continue
                place = message.topic() or "", message.partition() or 0
                if place not in left:
                    continue
                left.discard(place)
                reader.incremental_unassign([TopicPartition(*place)])
                if error is None:
                    found[place] = message.timestamp()[1]
        return found


class TimesUnknownError(UnavailableError):
    """Raised when brokers do not give the records whose times are asked for."""

    def __init__(self, places: Iterable[PartitionKey]) -> None:
        self.places = sorted(places)
        names = ", ".join(f"{topic}/{number}" for topic, number in self.places)
        super().__init__(
            f"No record came from {names} in {REQUEST_TIMEOUT_S:g} s.",
            fix="See whether all brokers are up: orion status",
        )
