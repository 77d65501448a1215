"""The nodes of a local Kafka: which ids, roles and ports it is made of."""

from dataclasses import dataclass

from orion.config import KafkaSettings

# Broker ids start here in a cluster of three, away from the ids of the controllers.
_FIRST_BROKER_ID = 101


@dataclass(frozen=True)
class Node:
    """One Kafka process."""

    name: str
    id: int
    broker_port: int | None
    controller_port: int | None

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports it listens on, the one for clients first."""
        return tuple(port for port in (self.broker_port, self.controller_port) if port)

    @property
    def roles(self) -> str:
        """The value of process.roles."""
        if self.broker_port and self.controller_port:
            return "broker,controller"
        return "broker" if self.broker_port else "controller"


def plan_nodes(kafka: KafkaSettings) -> tuple[Node, ...]:
    """Return one node with both roles, or three controllers and then three brokers."""
    if kafka.brokers == 1:
        return (Node("broker-1", 1, kafka.broker_ports[0], kafka.quorum_ports[0]),)
    controllers = [
        Node(f"controller-{number}", number, None, port)
        for number, port in enumerate(kafka.quorum_ports, start=1)
    ]
    brokers = [
        Node(f"broker-{number}", _FIRST_BROKER_ID + number - 1, port, None)
        for number, port in enumerate(kafka.broker_ports, start=1)
    ]
    return (*controllers, *brokers)
