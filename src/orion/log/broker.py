"""The brokers of a Kafka: who they are, who leads them, how they are configured."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
)

from orion.log.connection import Connection
from orion.log.errors import REQUEST_TIMEOUT_S, KafkaRefusedError, wait
from orion.model import InvalidInputError, NotFoundError

_REFUSED = {"INVALID_CONFIG", "INVALID_REQUEST", "POLICY_VIOLATION", "_INVALID_ARG"}


@dataclass(frozen=True)
class Broker:
    """A broker that answers now."""

    id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True)
class Cluster:
    """The brokers and the one that clients take for the controller."""

    id: str
    controller: int | None
    brokers: tuple[Broker, ...]


@dataclass(frozen=True)
class Synonym:
    """A place that a configuration's value may come from."""

    name: str
    value: str | None
    source: str


@dataclass(frozen=True)
class Config:
    """A configuration in force, with everywhere it could have come from."""

    name: str
    value: str | None
    source: str
    is_default: bool
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[Synonym, ...]


class BrokerNotFoundError(NotFoundError):
    """Raised when no broker has an id."""

    def __init__(self, broker: int, known: Sequence[int]) -> None:
        self.broker, self.known = broker, tuple(known)
        super().__init__(
            f"There is no broker {broker}.", fix=f"There are: {', '.join(map(str, known))}."
        )


class ConfigRefusedError(InvalidInputError):
    """Raised when Kafka refuses a value, or to change a configuration while it runs."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"Kafka refused the configuration: {reason.rstrip('.')}.",
            fix="Nothing was changed. Correct the value and try again.",
        )


class Brokers:
    """The brokers of one Kafka."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def _admin(self) -> AdminClient:
        return self._connection.admin()

    def cluster(self) -> Cluster:
        """Return the brokers and their controller."""
        future = self._admin.describe_cluster(request_timeout=REQUEST_TIMEOUT_S)
        found = self._wait(future, "describe the cluster")
        brokers = sorted(
            (Broker(n.id, n.host, n.port, n.rack) for n in found.nodes), key=lambda b: b.id
        )
        controller = found.controller.id if found.controller else None
        return Cluster(found.cluster_id or "", controller, tuple(brokers))

    def get(self, broker: int) -> Broker:
        """Return one broker."""
        known = self.cluster().brokers
        for each in known:
            if each.id == broker:
                return each
        raise BrokerNotFoundError(broker, [each.id for each in known])

    def configs(self, broker: int) -> dict[str, Config]:
        """Return the configurations of a broker."""
        return self._configs(ResourceType.BROKER, str(broker))

    def topic_configs(self, topic: str) -> dict[str, Config]:
        """Return the configurations of a topic with their synonyms."""
        return self._configs(ResourceType.TOPIC, topic)

    def alter(self, broker: int, changes: Mapping[str, str | None]) -> None:
        """Set configurations of a broker; None resets one."""
        if not changes:
            return
        entries = [
            ConfigEntry(
                key,
                value,
                incremental_operation=AlterConfigOpType.DELETE
                if value is None
                else AlterConfigOpType.SET,
            )
            for key, value in changes.items()
        ]
        resource = ConfigResource(ResourceType.BROKER, str(broker), incremental_configs=entries)
        future = self._admin.incremental_alter_configs([resource])[resource]
        try:
            self._wait(future, "change the configuration of a broker")
        except KafkaRefusedError as error:
            if error.code in _REFUSED:
                raise ConfigRefusedError(error.reason) from error
            raise

    def _configs(self, kind: ResourceType, name: str) -> dict[str, Config]:
        resource = ConfigResource(kind, name)
        future = self._admin.describe_configs([resource])[resource]
        entries = self._wait(future, "read a configuration")
        return {name: _config(entry) for name, entry in sorted(entries.items())}

    def _wait(self, future: "Future[Any]", action: str) -> Any:
        return wait(future, action, addresses=self._connection.addresses)


def _config(entry: ConfigEntry) -> Config:
    return Config(
        name=entry.name,
        value=entry.value,
        source=ConfigSource(entry.source).name,
        is_default=bool(entry.is_default),
        is_read_only=bool(entry.is_read_only),
        is_sensitive=bool(entry.is_sensitive),
        synonyms=tuple(
            Synonym(each.name, each.value, ConfigSource(each.source).name)
            for each in (entry.synonyms or {}).values()
        ),
    )
