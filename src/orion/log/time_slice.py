"""A slice of several topics by time: how far to read in each, so that none runs ahead of others."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from orion.log.connection import Connection
from orion.log.consumer import to_record
from orion.log.errors import REQUEST_TIMEOUT_S, refuse
from orion.log.offset import Bounds, PartitionKey, read_offsets_at
from orion.log.record import Record
from orion.log.transaction import Offsets
from orion.model import UnavailableError

_GROUP = "orion-times"
_WAIT_S = 0.5
# So many records without a readable time are passed over; behind them the log's own time counts.
_MOST_UNREADABLE = 100
_BEFORE_ALL = -(1 << 62)

Found = dict[PartitionKey, int]
ReadTime = Callable[[Record], int | None]


class TimeIndex(Protocol):
    """Where times lie in topics."""

    def times_at(self, places: Mapping[PartitionKey, int]) -> Found:
        """Return the time of the record at each offset, or of the next one; no record: left out."""

    def offsets_at(self, ranges: Mapping[PartitionKey, Bounds], time_ms: int) -> Found:
        """Return the first offset in each range that is not before a time; none: left out."""


@dataclass(frozen=True)
class Slice:
    """A piece of several topics.

    Args:
        ends: Where to stop reading in each partition.
        moment_ms: What is older has been read behind it, as far as times never go back.
    """

    ends: Offsets
    moment_ms: int


def slice_topics(
    positions: Offsets,
    ends: Offsets,
    limits: Mapping[str, int],
    index: TimeIndex,
    *,
    after: Slice | None = None,
) -> Slice | None:
    """Return how far to read in each partition; None: all that is there fits.

    A topic that holds more than its limit is cut, each partition in proportion to what it holds,
    behind one record at least. The earliest of the times at these cuts is where all stop, before
    that moment. A record that lies behind a later one of its partition is taken with that one: it
    neither holds up the others, nor lets its partition run ahead of them.

    Args:
        positions: Where reading goes on; a partition that is not there begins at 0.
        ends: Where each partition ends.
        limits: How many records of a topic a slice may hold.
        after: The slice before.
    """
    begins = {(t, p): positions.get(t, {}).get(p, 0) for t, parts in ends.items() for p in parts}
    cuts: dict[PartitionKey, int] = {}
    for topic in ends:
        cuts |= _cuts(topic, positions.get(topic, {}), ends[topic], limits[topic])
    if not cuts:
        return None
    moments = _moments(begins, cuts, index, _BEFORE_ALL if after is None else after.moment_ms)
    latest = {(t, p): end for t, parts in ends.items() for p, end in parts.items()} | cuts
    if moments:
        first = min(moments, key=lambda place: moments[place])
        ranges = {place: (begins[place], end) for place, end in latest.items()}
        stops = index.offsets_at(ranges, moments[first])
        chosen = {p: max(begins[p], min(end, stops.get(p, end))) for p, end in latest.items()}
        # Where records that were read before are later than all that are left, none would go on.
        if chosen == begins:
            chosen[first] = cuts[first]
        latest = chosen
    return Slice(
        {topic: {p: latest[topic, p] for p in parts} for topic, parts in ends.items()},
        min(moments.values(), default=_BEFORE_ALL),
    )


def _moments(
    begins: Found, cuts: Found, index: TimeIndex, earliest_ms: int
) -> dict[PartitionKey, int]:
    """Return the time at each cut, behind that of the record at which its partition goes on."""
    firsts = index.times_at({place: begins[place] for place in cuts})
    return {
        place: max(time_ms, firsts[place] + 1, earliest_ms)
        for place, time_ms in index.times_at(cuts).items()
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
    """Asks the brokers where times lie; called by one thread at a time.

    Args:
        readers: What reads the times of the records of a topic, None where they cannot be read;
            topics without go by the log's own times.
    """

    def __init__(self, connection: Connection, readers: Mapping[str, ReadTime]) -> None:
        self._connection, self._readers = connection, readers

    def times_at(self, places: Mapping[PartitionKey, int]) -> Found:
        """Return the time of the record at each offset, or of the next one; no record: left out."""
        with closing(self._connection.glancing_consumer(_GROUP)) as consumer:
            return self._times(consumer, places)

    def offsets_at(self, ranges: Mapping[PartitionKey, Bounds], time_ms: int) -> Found:
        """Return the first offset in each range that is not before a time; none: left out."""
        searched = {place: own for place, own in ranges.items() if place[0] in self._readers}
        wanted = [TopicPartition(*place) for place in ranges if place not in searched]
        connection = self._connection
        admin = connection.admin()
        found = read_offsets_at(admin, wanted, time_ms, addresses=connection.addresses)
        return found | self._search(searched, time_ms)

    def _search(self, ranges: Mapping[PartitionKey, Bounds], time_ms: int) -> Found:
        """Halve each range until it is one offset; the log has no index of such times."""
        first = {place: start for place, (start, _) in ranges.items()}
        last = {place: end for place, (_, end) in ranges.items()}
        with closing(self._connection.glancing_consumer(_GROUP)) as consumer:
            while middles := {p: (first[p] + last[p]) // 2 for p in ranges if first[p] < last[p]}:
                times = self._times(consumer, middles)
                for place, middle in middles.items():
                    if times.get(place, time_ms) >= time_ms:
                        last[place] = middle
                    else:
                        first[place] = middle + 1
        return first

    def _times(self, consumer: Consumer, places: Mapping[PartitionKey, int]) -> Found:
        consumer.assign([TopicPartition(*place, offset) for place, offset in places.items()])
        found: Found = {}
        unreadable = Counter[PartitionKey]()
        left, deadline = set(places), time.monotonic() + REQUEST_TIMEOUT_S
        while left:
            if time.monotonic() > deadline:
                raise TimesUnknownError(left)
            for message in consumer.consume(len(left), _WAIT_S):
                place = message.topic() or "", message.partition() or 0
                if place not in left:
                    continue
                own = None
                if message.error() is None:
                    own = self._time(to_record(message), unreadable[place])
                    unreadable[place] += own is None
                elif not self._is_end(message):
                    continue
                if own is not None:
                    found[place] = own
                if own is not None or message.error() is not None:
                    left.discard(place)
                    # It would go on, and leave no room for the others.
                    consumer.incremental_unassign([TopicPartition(*place)])
        return found

    def _time(self, record: Record, unreadable: int) -> int | None:
        """Return a record's time; None where it cannot be read, and the next one shall tell.

        Args:
            unreadable: How many records ahead of it could not be read.
        """
        read = self._readers.get(record.topic)
        own = None if read is None else read(record)
        if own is None and (read is None or unreadable >= _MOST_UNREADABLE):
            return record.timestamp_ms or 0
        return own

    def _is_end(self, message: Message) -> bool:
        """Tell whether nothing follows in a partition; raise an error that does not pass."""
        error = message.error()
        assert error is not None
        if error.name() != "_PARTITION_EOF" and not error.retriable():
            refuse(KafkaException(error), "read records", addresses=self._connection.addresses)
        return error.name() == "_PARTITION_EOF"


class TimesUnknownError(UnavailableError):
    """Raised when brokers do not give the records whose times are asked for."""

    def __init__(self, places: Iterable[PartitionKey]) -> None:
        self.places = sorted(places)
        names = ", ".join(f"{topic}/{number}" for topic, number in self.places)
        super().__init__(
            f"No record came from {names} in {REQUEST_TIMEOUT_S:g} s.",
            fix="See whether all brokers are up: orion status",
        )
