"""How old the oldest unread record of each partition is, by reading that record's timestamp."""

import time
from collections.abc import Mapping

from confluent_kafka import TopicPartition

from orion.log.connection import Connection
from orion.log.offset import PartitionKey


def read_ages_ms(
    connection: Connection,
    offsets: Mapping[PartitionKey, int],
    *,
    now_ms: float,
    timeout_s: float = 5.0,
) -> dict[PartitionKey, int]:
    """Return the age of the first committed record at or after each offset, in milliseconds.

    A partition with no such record (only marks of transactions follow) has age 0; one that does
    not answer in time is left out.
    """
    if not offsets:
        return {}
    consumer = connection.glancing_consumer("orion-age")
    ages: dict[PartitionKey, int] = {}
    deadline = time.monotonic() + timeout_s
    try:
        consumer.assign([TopicPartition(*key, offset) for key, offset in offsets.items()])
        while len(ages) < len(offsets) and time.monotonic() < deadline:
            message = consumer.poll(0.1)
            if message is None:
                continue
            error = message.error()
            if error is not None and error.name() != "_PARTITION_EOF":
                continue
            key = (message.topic() or "", message.partition() or 0)
            if key not in ages:
                timestamp_ms = message.timestamp()[1] if error is None else now_ms
                ages[key] = max(0, int(now_ms - timestamp_ms))
                consumer.incremental_unassign([TopicPartition(*key)])
    finally:
        consumer.close()
    return ages
