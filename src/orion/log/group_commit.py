"""Commit offsets on behalf of a query that reads by itself, so that every tool sees its lag."""

from confluent_kafka import KafkaException, TopicPartition

from orion.log.connection import Connection
from orion.log.transaction import Offsets


class GroupCommit:
    """Commits progress for consumer groups that have no members."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last: dict[str, Offsets] = {}

    def commit(self, group: str, offsets: Offsets) -> bool:
        """Commit where a group has come to; returns whether the log took it.

        A refusal is not an error of the query: the next progress tries again.
        """
        if not offsets or self._last.get(group) == offsets:
            return True
        consumer = self._connection.consumer(group)
        try:
            positions = [
                TopicPartition(topic, partition, offset)
                for topic, ends in offsets.items()
                for partition, offset in ends.items()
            ]
            consumer.commit(offsets=positions, asynchronous=False)
        except KafkaException:
            return False
        finally:
            consumer.close()
        self._last[group] = offsets
        return True
