"""Settings of the Kafka log: where it is, or how the local one is started."""

from collections.abc import Mapping
from dataclasses import dataclass

from orion.config.field import options, setting

THREE_BROKER_PORTS = (19092, 29092, 39092)
THREE_CONTROLLER_PORTS = (29093, 39093, 49093)


@dataclass(frozen=True)
class KafkaSettings:
    """Where the log is, and the shape of the local one."""

    bootstrap_servers: str = setting("", "Addresses of an existing Kafka; empty: the local one")
    brokers: int = setting(1, "Brokers of the local Kafka: 1, or 3 with 3 controllers")
    ports: tuple[int, ...] = setting(
        (), "Ports of the local brokers; empty: 9092, or 19092 29092 39092 for three"
    )
    controller_ports: tuple[int, ...] = setting(
        (), "Ports of the local controllers; empty: 9093, or 29093 39093 49093 for three"
    )
    heap: str = setting("1g", "Largest heap of each local broker")
    broker_options: Mapping[str, str] = options("server.properties of the local brokers")
    options: Mapping[str, str] = options(
        "Client options by librdkafka's own names, security included"
    )

    @property
    def is_local(self) -> bool:
        """Whether `orion up` starts the brokers itself."""
        return not self.bootstrap_servers

    @property
    def broker_ports(self) -> tuple[int, ...]:
        """The ports in force, one a local broker."""
        return self.ports or (THREE_BROKER_PORTS if self.brokers == 3 else (9092,))

    @property
    def quorum_ports(self) -> tuple[int, ...]:
        """The controller ports in force, one a controller."""
        if self.controller_ports:
            return self.controller_ports
        if self.brokers == 3:
            return THREE_CONTROLLER_PORTS
        return (self.broker_ports[0] + 1,)

    @property
    def addresses(self) -> str:
        """The bootstrap addresses that clients connect to."""
        return self.bootstrap_servers or ",".join(f"127.0.0.1:{port}" for port in self.broker_ports)
