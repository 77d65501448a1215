"""The end of a partition, asked of the brokers; one that is being made has a leader in a moment."""

import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

from orion.log.errors import refuse

_TIMEOUT_S = 15.0
_PAUSE_S = 0.05
# What is said of a partition between its creation and the last broker's hearing of it.
_PASSING = (
    "NOT_LEADER_FOR_PARTITION",
    "LEADER_NOT_AVAILABLE",
    "UNKNOWN_TOPIC_OR_PART",
    "_UNKNOWN_PARTITION",
)


def end_offset(consumer: Consumer, partition: TopicPartition, *, addresses: str) -> int:
    """Return the offset after the last record of a partition."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            return int(consumer.get_watermark_offsets(partition, timeout=_TIMEOUT_S)[1])
        except KafkaException as error:
            passes = error.args[0].name() in _PASSING and time.monotonic() < deadline
            if not passes:
                refuse(error, f"read topic '{partition.topic}'", addresses=addresses)
            time.sleep(_PAUSE_S)
