"""One member of a consumer group, moved from outside: it reads when it is asked to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaException, TopicPartition

from orion.log.connection import Connection
from orion.log.consumer import to_record
from orion.log.errors import REQUEST_TIMEOUT_S, refuse
from orion.log.record import Record
from orion.model import ConflictError

PartitionOf = tuple[str, int]
BEGINNING, END = OFFSET_BEGINNING, OFFSET_END

# What a member may hold that nobody has asked for yet.
_PREFETCH_KBYTES = 8 << 10
_NO_OFFSET = -1001


@dataclass(frozen=True)
class CommittedOffset:
    """How far a group has read a partition; the offset is None where it has committed none."""

    topic: str
    partition: int
    offset: int | None
    metadata: str = ""


class MemberStateError(ConflictError):
    """Raised when a member is asked for what its state does not allow."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The consumer cannot do that: {reason}.")


class GroupMember:
    """A consumer by subscription or by assignment; not for several threads at once."""

    def __init__(self, connection: Connection, group: str, **options: Any) -> None:
        self._addresses = connection.addresses
        given = {"queued_max_messages_kbytes": _PREFETCH_KBYTES, **options}
        self._consumer = connection.consumer(group, **given)
        self._topics: tuple[str, ...] = ()
        self._is_assigned = False

    @property
    def topics(self) -> tuple[str, ...]:
        """What it is subscribed to."""
        return self._topics

    def subscribe(self, topics: Sequence[str]) -> None:
        """Read these topics, shared with the other members; a name that begins with ^ matches."""
        if self._is_assigned:
            raise MemberStateError("partitions were assigned to it by hand")
        self._consumer.subscribe(list(topics))
        self._topics = tuple(topics)

    def unsubscribe(self) -> None:
        """Read nothing any more."""
        self._consumer.unsubscribe()
        self._consumer.unassign()
        self._topics, self._is_assigned = (), False

    def assign(self, partitions: Iterable[PartitionOf]) -> None:
        """Read these partitions, whoever else does."""
        if self._topics:
            raise MemberStateError("it is subscribed to topics")
        self._consumer.assign([TopicPartition(*partition) for partition in partitions])
        self._is_assigned = True

    def assignment(self) -> list[PartitionOf]:
        """Return the partitions that it reads now."""
        return sorted((p.topic, p.partition) for p in self._consumer.assignment())

    @property
    def is_waiting(self) -> bool:
        """Whether it has subscribed and has no partitions yet."""
        return bool(self._topics) and not self._consumer.assignment()

    def seek(self, partition: PartitionOf, offset: int) -> None:
        """Go on at an offset, or at BEGINNING or END."""
        if partition not in self.assignment():
            topic, number = partition
            raise MemberStateError(f"it does not read partition {number} of topic '{topic}'")
        try:
            self._consumer.seek(TopicPartition(*partition, offset))
        except KafkaException as error:
            refuse(error, "move a consumer", addresses=self._addresses)

    def read(self, most: int, *, timeout_s: float = 0.0) -> list[Record]:
        """Return records that have come in."""
        return [
            to_record(message)
            for message in self._consumer.consume(most, timeout_s)
            if message.error() is None
        ]

    def commit(self, offsets: Iterable[CommittedOffset] | None = None) -> list[CommittedOffset]:
        """Commit offsets, or where it stands; return what was committed."""
        given = None if offsets is None else [_partition(each) for each in offsets]
        try:
            if given is None:
                found = self._consumer.commit(asynchronous=False)
            else:
                found = self._consumer.commit(offsets=given, asynchronous=False)
        except KafkaException as error:
            if error.args[0].name() == "_NO_OFFSET":
                return []
            if error.args[0].name() == "UNKNOWN_TOPIC_OR_PART":
                raise MemberStateError("a partition to commit does not exist") from error
            refuse(error, "commit offsets", addresses=self._addresses)
        return [_committed(each) for each in found or ()]

    def committed(self, partitions: Iterable[PartitionOf]) -> list[CommittedOffset]:
        """Return what the group has committed."""
        wanted = [TopicPartition(*partition) for partition in partitions]
        try:
            found = self._consumer.committed(wanted, timeout=REQUEST_TIMEOUT_S)
        except KafkaException as error:
            refuse(error, "read committed offsets", addresses=self._addresses)
        return [_committed(each) for each in found]

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()


def _partition(offset: CommittedOffset) -> TopicPartition:
    place = (offset.topic, offset.partition, offset.offset or 0)
    return TopicPartition(*place, offset.metadata) if offset.metadata else TopicPartition(*place)


def _committed(found: TopicPartition) -> CommittedOffset:
    offset = None if found.offset == _NO_OFFSET else found.offset
    return CommittedOffset(found.topic, found.partition, offset, found.metadata or "")
