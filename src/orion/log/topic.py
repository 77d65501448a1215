"""Topics: list, describe, create, configure, grow, delete."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.errors import (
    REQUEST_TIMEOUT_S,
    ProtectedTopicError,
    TopicExistsError,
    TopicNotFoundError,
    TopicRefusedError,
    UnknownConfigError,
    refuse,
)
from orion.log.offset import read_bounds
from orion.log.topic_config import TopicConfig
from orion.log.topic_size import read_sizes

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka.admin import ClusterMetadata, TopicMetadata  # type: ignore[attr-defined]

_SOURCES = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG: "topic",
    ConfigSource.DEFAULT_CONFIG: "default",
}
_REFUSED = {
    "INVALID_CONFIG",
    "INVALID_PARTITIONS",
    "INVALID_REPLICATION_FACTOR",
    "INVALID_REPLICA_ASSIGNMENT",
    "INVALID_REQUEST",
    "POLICY_VIOLATION",
    "TOPIC_EXCEPTION",
    "_INVALID_ARG",
}


# A query cannot go on that makes a record which its topic refuses. Kafka by itself takes no more
# than 1 MiB, which lists of a busy key outgrow, and nothing that lies more than an hour ahead.
_LARGE = {"max.message.bytes": str(64 << 20)}
_ANY_TIME = {"message.timestamp.after.max.ms": str(2**63 - 1)}
# A change is done when the controller says so; a slow broker delays the answer no longer than this.
_SETTLE_S = 3.0
_UNKNOWN: tuple[int | None, int | None] = (None, None)


@dataclass(frozen=True)
class Partition:
    """One partition: who holds it and what it holds. None: unknown now."""

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    start_offset: int | None = None
    end_offset: int | None = None
    size_bytes: int | None = None

    @property
    def records(self) -> int | None:
        """Offsets between start and end: records, transaction marks and compacted-away ones."""
        if self.start_offset is None or self.end_offset is None:
            return None
        return self.end_offset - self.start_offset


@dataclass(frozen=True)
class Topic:
    """A topic and its partitions in their order."""

    name: str
    partitions: tuple[Partition, ...]

    @property
    def is_internal(self) -> bool:
        """Whether Kafka or Orion keeps its own state in it, by the leading `_` of its name."""
        return is_internal(self.name)

    @property
    def replication(self) -> int:
        """Copies of each partition; the least where partitions differ."""
        return min((len(p.replicas) for p in self.partitions), default=0)

    @property
    def records(self) -> int | None:
        """Offsets held in all partitions, or None where one is unknown."""
        return _total(p.records for p in self.partitions)

    @property
    def size_bytes(self) -> int | None:
        """Bytes of one copy, or None where a partition's size is unknown."""
        return _total(p.size_bytes for p in self.partitions)


def is_internal(name: str) -> bool:
    """Tell whether a topic belongs to Kafka or Orion itself."""
    return name.startswith("_")


class Topics:
    """The topics of one Kafka."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def _admin(self) -> AdminClient:
        return self._connection.admin()

    def names(self, *, internal: bool = False, timeout_s: float = 5.0) -> list[str]:
        """Return the names of the topics in their order."""
        found = self._metadata(timeout_s).topics
        return sorted(name for name in found if internal or not is_internal(name))

    def exists(self, name: str) -> bool:
        """Tell whether a topic is there; never creates it."""
        return name in self._metadata().topics

    def cluster_id(self) -> str:
        """Return the id of the Kafka itself."""
        return self._metadata().cluster_id or ""

    def broker_count(self) -> int:
        """Return how many brokers the cluster has now."""
        return len(self._metadata().brokers)

    def list(self, *, internal: bool = False) -> list[Topic]:
        """Return every topic with its partitions, offsets and sizes."""
        cluster = self._metadata()
        wanted = [t for n, t in sorted(cluster.topics.items()) if internal or not is_internal(n)]
        return [*self._describe(cluster, wanted)]

    def get(self, name: str) -> Topic:
        """Return one topic with its partitions, offsets and sizes."""
        cluster = self._metadata()
        if name not in cluster.topics:
            raise TopicNotFoundError(name, cluster.topics)
        return self._describe(cluster, [cluster.topics[name]])[0]

    def configs(self, name: str) -> dict[str, TopicConfig]:
        """Return every configuration in force for a topic, by name."""
        resource = ConfigResource(ResourceType.TOPIC, name)
        future = self._admin.describe_configs([resource])[resource]
        entries = self._result(future, name, "read the configuration of a topic")
        return {
            entry.name: TopicConfig(
                entry.name,
                entry.value,
                _SOURCES.get(ConfigSource(entry.source), "broker"),
                bool(entry.is_read_only),
            )
            for _, entry in sorted(entries.items())
        }

    def create(
        self,
        name: str,
        *,
        partitions: int | None = None,
        replication: int | None = None,
        configs: Mapping[str, str] | None = None,
        is_open: bool = False,
    ) -> None:
        """Create a topic and wait for it; counts left out are the broker's defaults.

        Args:
            is_open: Whether it takes all that queries make: large records, and of any time ahead.
        """
        given = {**(_LARGE if is_open else {}), **(configs or {})}
        shape = (name, partitions or -1, replication or -1)
        try:
            self._create(NewTopic(*shape, config={**(_ANY_TIME if is_open else {}), **given}))
        except TopicRefusedError:
            if not is_open:
                raise
            # Kafka before 3.6 has no such limit, and no name for it.
            self._create(NewTopic(*shape, config=given))

    def _create(self, new: NewTopic) -> None:
        name = str(new.topic)
        try:
            future = self._admin.create_topics([new], operation_timeout=REQUEST_TIMEOUT_S)[name]
        except (ValueError, KafkaException) as error:
            raise TopicRefusedError(name, str(error)) from error
        self._result(future, name, "create a topic")
        _settle(lambda: self._partition_count(name) > 0)

    def delete(self, name: str, *, internal: bool = False) -> None:
        """Delete a topic and its records; internal ones only when asked for by word."""
        if is_internal(name) and not internal:
            raise ProtectedTopicError(name)
        future = self._admin.delete_topics([name], operation_timeout=REQUEST_TIMEOUT_S)[name]
        self._result(future, name, "delete a topic")
        _settle(lambda: not self.exists(name))

    def set_configs(
        self, name: str, values: Mapping[str, str], *, unset: Iterable[str] = ()
    ) -> None:
        """Set and unset single configurations in one step; the others stay as they are."""
        known = self.configs(name)
        changes = [_entry(n, v, AlterConfigOpType.SET) for n, v in values.items()]
        removed = set(unset)
        changes += [_entry(n, None, AlterConfigOpType.DELETE) for n in removed]
        for change in changes:
            if change.name not in known:
                raise UnknownConfigError(name, change.name, known)
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=changes)
        future = self._admin.incremental_alter_configs([resource])[resource]
        self._result(future, name, "change the configuration of a topic")
        _settle(lambda: _holds(self.configs(name), values, removed))

    def add_partitions(self, name: str, total: int) -> None:
        """Grow a topic to that many partitions; keys may move to other ones from then on."""
        future = self._admin.create_partitions([NewPartitions(name, total)])[name]
        self._result(future, name, "add partitions to a topic")
        _settle(lambda: self._partition_count(name) >= total)

    def _partition_count(self, name: str) -> int:
        """Return how many partitions have a leader."""
        found = self._metadata().topics.get(name)
        return sum(p.leader >= 0 for p in found.partitions.values()) if found else 0

    def _metadata(self, timeout_s: float = 5.0) -> ClusterMetadata:
        try:
            return self._admin.list_topics(timeout=timeout_s)
        except KafkaException as error:
            raise BrokerUnreachableError(self._connection.addresses, error.args[0].str()) from error

    def _describe(
        self, cluster: ClusterMetadata, topics: Sequence[TopicMetadata]
    ) -> Sequence[Topic]:
        led = {str(t.topic): [p.id for p in t.partitions.values() if p.leader >= 0] for t in topics}
        bounds = read_bounds(
            self._admin,
            [TopicPartition(topic, number) for topic, numbers in led.items() for number in numbers],
            addresses=self._connection.addresses,
        )
        sizes: dict[tuple[str, int], int] = {}
        if self._connection.options.get("security.protocol", "plaintext").lower() == "plaintext":
            brokers = [(str(b.host), b.port) for b in cluster.brokers.values()]
            sizes = read_sizes(brokers, led)
        return [_topic(t, bounds, sizes) for t in topics]

    def _result(self, future: Future[object], name: str, action: str) -> dict[str, ConfigEntry]:
        addresses = self._connection.addresses
        try:
            return future.result(timeout=2 * REQUEST_TIMEOUT_S)  # type: ignore[return-value]
        except TimeoutError as error:
            raise BrokerUnreachableError(addresses, "no answer in time") from error
        except KafkaException as error:
            cause = error.args[0]
            if cause.name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
                raise TopicNotFoundError(name, self.names(internal=True)) from error
            if cause.name() == "TOPIC_ALREADY_EXISTS":
                raise TopicExistsError(name) from error
            if cause.name() in _REFUSED:
                raise TopicRefusedError(name, cause.str()) from error
            refuse(error, action, addresses=addresses)


def _topic(
    topic: TopicMetadata,
    bounds: Mapping[tuple[str, int], tuple[int | None, int | None]],
    sizes: Mapping[tuple[str, int], int],
) -> Topic:
    name = str(topic.topic)
    partitions = []
    for number, found in sorted(topic.partitions.items()):
        start, end = bounds.get((name, number), _UNKNOWN)
        partitions.append(
            Partition(
                number,
                found.leader if found.leader >= 0 else None,
                tuple(found.replicas),
                tuple(sorted(found.isrs)),
                start,
                end,
                sizes.get((name, number)),
            )
        )
    return Topic(name, tuple(partitions))


def _settle(condition: Callable[[], bool]) -> None:
    """Wait until brokers tell what the controller has decided, which they learn a moment later."""
    deadline = time.monotonic() + _SETTLE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def _holds(
    configs: Mapping[str, TopicConfig], values: Mapping[str, str], removed: Collection[str]
) -> bool:
    is_set = all(configs[n].is_overridden and configs[n].value == v for n, v in values.items())
    return is_set and not any(configs[name].is_overridden for name in removed)


def _entry(name: str, value: str | None, operation: AlterConfigOpType) -> ConfigEntry:
    return ConfigEntry(name, value, incremental_operation=operation)


def _total(numbers: Iterable[int | None]) -> int | None:
    found = list(numbers)
    return None if None in found else sum(n for n in found if n is not None)
