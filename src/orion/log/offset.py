"""Offsets of partitions: where the log begins and ends, and where an instant lies in it."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from orion.log.errors import REQUEST_TIMEOUT_S, refuse, wait

Bounds = tuple[int, int]
PartitionKey = tuple[str, int]

# A partition that is moving, leaderless or just deleted has no offsets now; the others do.
_MISSING = {
    "UNKNOWN_TOPIC_OR_PART",
    "_UNKNOWN_PARTITION",
    "_UNKNOWN_TOPIC",
    "LEADER_NOT_AVAILABLE",
    "NOT_LEADER_FOR_PARTITION",
}
# A broker that has just started or taken over knows its partitions a moment later.
_MOVING = {"UNKNOWN_LEADER_EPOCH", "FENCED_LEADER_EPOCH"}
_PAUSE_S = 0.1
_FIRST, _LAST = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]


def read_bounds(
    admin: AdminClient,
    partitions: Iterable[TopicPartition],
    *,
    addresses: str,
    committed: bool = False,
) -> dict[PartitionKey, Bounds]:
    """Return the first offset and the one after the last; partitions with no answer are left out.

    Args:
        admin: The client to ask with.
        partitions: The partitions to ask for.
        addresses: The brokers' addresses, for errors.
        committed: Whether the end is that of committed transactions, not the newest record's.

    """
    wanted = list(partitions)
    starts = _read(admin, dict.fromkeys(wanted, _FIRST), addresses, committed=False)
    ends = _read(admin, dict.fromkeys(wanted, _LAST), addresses, committed=committed)
    return {key: (start, ends[key]) for key, start in starts.items() if key in ends}


def read_offsets_at(
    admin: AdminClient, partitions: Iterable[TopicPartition], instant_ms: int, *, addresses: str
) -> dict[PartitionKey, int]:
    """Return the first offset at or after the instant; partitions with none are left out."""
    spec = OffsetSpec.for_timestamp(max(instant_ms, 0))
    found = _read(admin, dict.fromkeys(partitions, spec), addresses, committed=False)
    return {key: offset for key, offset in found.items() if offset >= 0}


def _read(
    admin: AdminClient, wanted: Mapping[TopicPartition, Any], addresses: str, *, committed: bool
) -> dict[PartitionKey, int]:
    if not wanted:
        return {}
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    found: dict[PartitionKey, int] = {}
    left, deadline = dict(wanted), time.monotonic() + REQUEST_TIMEOUT_S
    while left:
        futures = admin.list_offsets(left, isolation_level=level, request_timeout=REQUEST_TIMEOUT_S)
        moving = {}
        for partition, future in futures.items():
            try:
                answer = future.result(REQUEST_TIMEOUT_S)
                found[partition.topic, partition.partition] = answer.offset
            except KafkaException as error:
                name = error.args[0].name()
                if name in _MOVING and time.monotonic() < deadline:
                    moving[partition] = left[partition]
                elif name not in _MISSING:
                    refuse(error, "read offsets", addresses=addresses)
            except TimeoutError:
                wait(future, "read offsets", addresses=addresses)
        left = moving
        time.sleep(_PAUSE_S if left else 0)
    return found
