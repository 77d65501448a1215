"""Late records: those that a query's windows no longer take, whole, with what made them late."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from orion.log.connection import Connection
from orion.log.consumer import read_ranges
from orion.log.record import Record
from orion.log.transaction import Outgoing

Place = tuple[str, int, int]


@dataclass(frozen=True)
class LateRecord:
    """The original record, and why a query did not take it.

    Args:
        closed_ms: The end of the last window that it missed; of a join, the oldest time kept.
        watermark_ms: The time that the query had come to.
        missed: How many windows, or rows that it would have caused, were missed.
    """

    record: Record
    query: str
    time_ms: int
    closed_ms: int
    watermark_ms: int
    missed: int = 1


def encode_late_records(found: Sequence[LateRecord], topic: str) -> Outgoing:
    """Return late records for a topic: the original's bytes, headers of Orion's own behind its."""
    return Outgoing(
        topic,
        values=[late.record.value for late in found],
        keys=[late.record.key for late in found],
        headers=[[*late.record.headers, *_own_headers(late)] for late in found],
    )


def _own_headers(late: LateRecord) -> list[tuple[str, bytes]]:
    values = {
        "orion.topic": late.record.topic,
        "orion.partition": late.record.partition,
        "orion.offset": late.record.offset,
        "orion.timestamp": late.record.timestamp_ms,
        "orion.query": late.query,
        "orion.event_time": late.time_ms,
        "orion.window_end": late.closed_ms,
        "orion.watermark": late.watermark_ms,
        "orion.missed": late.missed,
    }
    return [(name, b"" if value is None else str(value).encode()) for name, value in values.items()]


def read_places(connection: Connection, places: Iterable[Place]) -> dict[Place, Record]:
    """Return the records that lie at places; those that are gone from their topics are missing."""
    wanted = set(places)
    ranges: dict[str, dict[int, tuple[int, int]]] = {}
    for topic, partition, offset in wanted:
        own = ranges.setdefault(topic, {})
        first, end = own.get(partition, (offset, offset + 1))
        own[partition] = min(first, offset), max(end, offset + 1)
    found: dict[Place, Record] = {}
    for topic, partitions in ranges.items():
        for record in read_ranges(connection, topic, partitions):
            place = (topic, record.partition or 0, record.offset or 0)
            if place in wanted:
                found[place] = record
    return found
