"""Consumer groups: who reads, how far each is, how far behind, in records and in seconds."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from orion.log.connection import Connection
from orion.log.errors import (
    REQUEST_TIMEOUT_S,
    GroupActiveError,
    GroupNotFoundError,
    GroupOfQueryError,
    KafkaRefusedError,
    PartitionNotFoundError,
    refuse,
    wait,
)
from orion.log.group_age import read_ages_ms
from orion.log.group_reset import Move, ResetTarget, plan_moves
from orion.log.offset import Bounds, PartitionKey, read_bounds, read_offsets_at
from orion.log.stamp import is_stamped
from orion.log.topic import Topics

# Groups whose oldest unread records are read at the same time.
_READERS = 8
_UNKNOWN = {"GROUP_ID_NOT_FOUND", "INVALID_GROUP_ID"}


@dataclass(frozen=True)
class Member:
    """A running consumer of a group."""

    id: str
    client_id: str
    host: str
    partitions: tuple[PartitionKey, ...] = ()


@dataclass(frozen=True)
class GroupPartition:
    """How far a group is in one partition. None: not committed, or unknown now."""

    topic: str
    partition: int
    committed: int | None
    start_offset: int | None
    end_offset: int | None
    metadata: str = ""
    age_ms: int | None = None
    member: Member | None = None

    @property
    def lag_records(self) -> int | None:
        """Offsets still to be read; what retention deleted does not count."""
        if self.committed is None or self.end_offset is None or self.start_offset is None:
            return None
        return max(0, self.end_offset - max(self.committed, self.start_offset))

    @property
    def missed_records(self) -> int:
        """Offsets that retention deleted before the group read them."""
        if self.committed is None or self.start_offset is None:
            return 0
        return max(0, self.start_offset - self.committed)

    @property
    def lag_seconds(self) -> float | None:
        """Age of the oldest record not yet read; 0 where there is none, None where unknown."""
        if self.lag_records == 0:
            return 0.0
        return None if self.age_ms is None else self.age_ms / 1_000


@dataclass(frozen=True)
class Group:
    """A consumer group; a query of Orion is one without members."""

    name: str
    state: str
    protocol: str
    coordinator: str
    members: tuple[Member, ...]
    partitions: tuple[GroupPartition, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics it has offsets or assignments in."""
        return tuple(sorted({p.topic for p in self.partitions}))

    @property
    def lag_records(self) -> int | None:
        """Lag over all partitions, or None where no partition has one."""
        known = [p.lag_records for p in self.partitions if p.lag_records is not None]
        return sum(known) if known else None

    @property
    def lag_seconds(self) -> float | None:
        """The largest lag of a partition in seconds, or None where no partition has one."""
        return max(
            (p.lag_seconds for p in self.partitions if p.lag_seconds is not None), default=None
        )


class Groups:
    """The consumer groups of one Kafka."""

    def __init__(
        self, connection: Connection, *, now_ms: Callable[[], float] = lambda: time.time() * 1_000
    ) -> None:
        self._connection = connection
        self._now_ms = now_ms

    @cached_property
    def _admin(self) -> AdminClient:
        return self._connection.admin()

    def names(self, *, timeout_s: float = REQUEST_TIMEOUT_S) -> list[str]:
        """Return the names of the groups in their order."""
        self._connection.require(timeout_s=min(timeout_s, 5.0))
        future = self._admin.list_consumer_groups(request_timeout=timeout_s)
        found = wait(future, "list groups", addresses=self._connection.addresses)
        return sorted(group.group_id for group in found.valid)

    def get(self, name: str) -> Group:
        """Return one group with its members, offsets and lag in records and seconds."""
        known = self.names()
        if name not in known:
            raise GroupNotFoundError(name, known)
        group = self._describe([name])[0]
        return self._with_ages(group)

    def plan_reset(
        self, name: str, target: ResetTarget, *, only: Iterable[PartitionKey | str] = ()
    ) -> list[Move]:
        """Return what a reset would change; nothing is changed.

        Args:
            name: The group.
            target: Where to move.
            only: Topics, or (topic, partition) pairs; none given: all the group has offsets in.

        """
        group, addresses = self.get(name), self._connection.addresses
        if any(is_stamped(part.metadata) for part in group.partitions):
            raise GroupOfQueryError(name)
        current = {(p.topic, p.partition): p for p in group.partitions}
        chosen = self._chosen(current, list(only))
        wanted = [TopicPartition(topic, partition) for topic, partition in chosen]
        bounds = read_bounds(self._admin, wanted, addresses=addresses)
        instants: dict[PartitionKey, int] = {}
        if target.kind == "datetime":
            instants = read_offsets_at(self._admin, wanted, target.number, addresses=addresses)
        committed = {key: current[key].committed for key in chosen if key in current}
        return plan_moves(target, bounds, committed, instants)

    def reset(self, name: str, moves: Sequence[Move]) -> None:
        """Commit the planned offsets; refused while the group has members.

        The metadata of the offsets is cleared, as Kafka's own tool does: what it said of the old
        offsets is not true of the new ones.
        """
        group = self.get(name)
        self._require_inactive(group)
        offsets = [TopicPartition(move.topic, move.partition, move.new) for move in moves]
        request = [ConsumerGroupTopicPartitions(name, offsets)]
        futures = self._admin.alter_consumer_group_offsets(
            request, request_timeout=REQUEST_TIMEOUT_S
        )
        done = self._wait(futures[name], group, "reset a group")
        for partition in done.topic_partitions:
            if partition.error is not None:
                cause = partition.error
                raise KafkaRefusedError("reset a group", cause.name(), cause.str())

    def delete(self, name: str) -> None:
        """Delete a group with its offsets; refused while it has members."""
        group = self.get(name)
        self._require_inactive(group)
        futures = self._admin.delete_consumer_groups([name], request_timeout=REQUEST_TIMEOUT_S)
        self._wait(futures[name], group, "delete a group")

    def list(self, *, seconds: bool = False) -> list[Group]:
        """Return every group with members, offsets and lag; in seconds too only where asked."""
        groups = self._describe(self.names())
        if not seconds:
            return [*groups]
        with ThreadPoolExecutor(_READERS) as pool:
            return [*pool.map(self._with_ages, groups)]

    def _chosen(
        self, current: Mapping[PartitionKey, GroupPartition], only: Sequence[PartitionKey | str]
    ) -> Sequence[PartitionKey]:
        if not only:
            return [key for key, found in current.items() if found.committed is not None]
        topics, chosen = Topics(self._connection), []
        for item in only:
            name = item if isinstance(item, str) else item[0]
            numbers = [p.number for p in topics.get(name).partitions]
            if isinstance(item, str):
                chosen += [(name, number) for number in numbers]
            elif item[1] in numbers:
                chosen.append(item)
            else:
                raise PartitionNotFoundError(name, item[1], len(numbers))
        return chosen

    def _require_inactive(self, group: Group) -> None:
        if group.members:
            names = [f"{m.client_id} on {m.host}" for m in group.members]
            raise GroupActiveError(group.name, names)

    def _wait(self, future: Any, group: Group, action: str) -> Any:
        try:
            return future.result(timeout=REQUEST_TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].name() in ("NON_EMPTY_GROUP", "UNKNOWN_MEMBER_ID"):
                raise GroupActiveError(group.name, ()) from error
            refuse(error, action, addresses=self._connection.addresses)

    def _describe(self, names: Sequence[str]) -> Sequence[Group]:
        if not names:
            return []
        addresses = self._connection.addresses
        described = self._admin.describe_consumer_groups(
            [*names], request_timeout=REQUEST_TIMEOUT_S
        )
        # The client takes one group a request; all requests are under way before the first answer.
        asked = {
            name: self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)])[
                name
            ]
            for name in names
        }
        found = []
        for name in names:
            try:
                description = described[name].result(timeout=REQUEST_TIMEOUT_S)
            except KafkaException as error:
                if error.args[0].name() in _UNKNOWN:
                    continue
                refuse(error, "describe a group", addresses=addresses)
            offsets = wait(asked[name], "read a group's offsets", addresses=addresses)
            found.append((description, offsets.topic_partitions))
        keys = {(p.topic, p.partition) for _, offsets in found for p in offsets}
        keys |= {key for description, _ in found for key in _assigned(description)}
        wanted = [TopicPartition(topic, partition) for topic, partition in keys]
        bounds = read_bounds(self._admin, wanted, addresses=addresses)
        return [_group(description, offsets, bounds) for description, offsets in found]

    def _with_ages(self, group: Group) -> Group:
        behind = {
            (p.topic, p.partition): max(p.committed or 0, p.start_offset or 0)
            for p in group.partitions
            if p.lag_records
        }
        ages = read_ages_ms(self._connection, behind, now_ms=self._now_ms())
        partitions = [replace(p, age_ms=ages.get((p.topic, p.partition))) for p in group.partitions]
        return replace(group, partitions=tuple(partitions))


def _assigned(description: Any) -> set[PartitionKey]:
    return {
        (p.topic, p.partition)
        for member in description.members
        if member.assignment
        for p in member.assignment.topic_partitions
    }


def _group(
    description: Any, offsets: Iterable[TopicPartition], bounds: Mapping[PartitionKey, Bounds]
) -> Group:
    members = [
        Member(
            member.member_id,
            member.client_id,
            member.host.lstrip("/"),
            tuple(
                sorted((p.topic, p.partition) for p in member.assignment.topic_partitions)
                if member.assignment
                else ()
            ),
        )
        for member in description.members
    ]
    committed = {(p.topic, p.partition): p for p in offsets if p.offset >= 0}
    readers = {key: member for member in members for key in member.partitions}
    unknown: tuple[int | None, int | None] = (None, None)
    partitions = [
        GroupPartition(
            *key,
            committed[key].offset if key in committed else None,
            *(bounds.get(key, unknown)),
            metadata=(committed[key].metadata or "") if key in committed else "",
            member=readers.get(key),
        )
        for key in sorted({*committed, *readers})
    ]
    node = description.coordinator
    return Group(
        description.group_id,
        description.state.name.replace("_", " ").title().replace(" ", ""),
        description.partition_assignor or "",
        f"{node.host}:{node.port}" if node else "",
        tuple(sorted(members, key=lambda m: (m.client_id, m.id))),
        tuple(partitions),
    )
