"""The server.properties of a node."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from orion.cluster.node import Node

# Records of 10 MB must pass; the batch around one takes a little more.
LARGEST_MESSAGE_BYTES = 12 << 20


def render_properties(
    node: Node, nodes: Iterable[Node], *, folder: Path, overrides: Mapping[str, str]
) -> str:
    """Return the text of server.properties; overrides win over everything Orion chose."""
    nodes = tuple(nodes)
    brokers = sum(1 for other in nodes if other.broker_port)
    chosen = {
        **_identity(node, nodes, folder),
        **_replication(brokers),
        **_size(),
        **overrides,
    }
    return "".join(f"{key}={_escape(value)}\n" for key, value in chosen.items())


def _identity(node: Node, nodes: tuple[Node, ...], folder: Path) -> dict[str, str]:
    voters = [f"{n.id}@127.0.0.1:{n.controller_port}" for n in nodes if n.controller_port]
    listeners = []
    if node.broker_port:
        listeners.append(f"PLAINTEXT://127.0.0.1:{node.broker_port}")
    if node.controller_port:
        listeners.append(f"CONTROLLER://127.0.0.1:{node.controller_port}")
    found = {
        "node.id": str(node.id),
        "process.roles": node.roles,
        # Fixed voters rather than a dynamic quorum: ports may then change between two starts.
        "controller.quorum.voters": ",".join(voters),
        "controller.listener.names": "CONTROLLER",
        "listeners": ",".join(listeners),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(folder / "log"),
        # For kafka-acls. Nobody logs in here, so every client is ANONYMOUS and may do everything.
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    if node.broker_port:
        # A number and not a name: `localhost` may mean ::1 first, where nothing listens.
        found["advertised.listeners"] = f"PLAINTEXT://127.0.0.1:{node.broker_port}"
        found["inter.broker.listener.name"] = "PLAINTEXT"
    return found


def _replication(brokers: int) -> dict[str, str]:
    copies = str(min(brokers, 3))
    in_sync = "2" if brokers >= 3 else "1"
    return {
        "default.replication.factor": copies,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": copies,
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": in_sync,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": in_sync,
    }


def _size() -> dict[str, str]:
    return {
        # Fifty partitions for each internal topic serve large clusters; here they only cost files.
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.num.partitions": "4",
        "num.partitions": "1",
        # Kafka's own default, as in every lab and quick start: producing to a new topic makes it.
        "auto.create.topics.enable": "true",
        "group.initial.rebalance.delay.ms": "0",
        "message.max.bytes": str(LARGEST_MESSAGE_BYTES),
        "replica.fetch.max.bytes": str(LARGEST_MESSAGE_BYTES),
        "socket.request.max.bytes": str(100 << 20),
        # The cleaner holds this buffer for good; 128 MiB by default. It looks for work every
        # second, so that compaction can be watched.
        "log.cleaner.dedupe.buffer.size": str(16 << 20),
        "log.cleaner.backoff.ms": "1000",
        "log.retention.check.interval.ms": "30000",
        "num.network.threads": "2",
        "num.io.threads": "4",
        "num.recovery.threads.per.data.dir": "2",
        # A killed broker may register again only when its old session is over: 9 s by default.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        "controlled.shutdown.enable": "true",
    }


def _escape(value: str) -> str:
    """Write a value so that a Java properties file gives it back unchanged."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")
