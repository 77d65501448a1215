"""A local Kafka of one or three brokers, described as processes for a supervisor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path

from orion.cluster.node import Node, plan_nodes
from orion.cluster.probe import accepts_connections, knows_broker
from orion.cluster.properties import render_properties
from orion.cluster.storage import Storage
from orion.config import KafkaSettings

_CONTROLLER_HEAP = "256m"


@dataclass(frozen=True)
class NodeProcess:
    """A node as a process: what to run, on which ports, and how to know that it serves."""

    name: str
    argv: tuple[str, ...]
    env: dict[str, str]
    ports: tuple[int, ...]
    ready: Callable[[], bool]
    is_broker: bool


class LocalKafka:
    """Prepare the storage of a local Kafka and describe its nodes.

    Args:
        java_options: What the JVMs of nodes are told besides.
    """

    def __init__(
        self,
        kafka: KafkaSettings,
        folder: Path,
        *,
        java_path: str,
        class_path: str,
        java_options: Sequence[str] = (),
    ) -> None:
        self._kafka, self._java_options = kafka, java_options
        self._storage = Storage(folder)
        self._java_path, self._class_path = java_path, class_path
        self.nodes = plan_nodes(kafka)

    def prepare(self) -> None:
        """Write every node's configuration and format storage that is new."""
        cluster_id = self._storage.cluster_id(brokers=self._kafka.brokers)
        for node in self.nodes:
            folder = self._storage.node_folder(node.name)
            folder.mkdir(parents=True, exist_ok=True)
            text = render_properties(
                node, self.nodes, folder=folder, overrides=self._kafka.broker_options
            )
            (folder / "server.properties").write_text(text)
        self._storage.format(
            [node.name for node in self.nodes],
            storage_tool=[
                *(self._java_path, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                *("-Dlog4j2.level=ERROR", "-cp", self._class_path, "kafka.tools.StorageTool"),
            ],
            cluster_id=cluster_id,
        )

    def processes(self) -> list[NodeProcess]:
        """Return the nodes as processes, controllers before brokers."""
        return [self._process(node) for node in self.nodes]

    def _process(self, node: Node) -> NodeProcess:
        folder = self._storage.node_folder(node.name)
        heap = self._kafka.heap if node.broker_port else _CONTROLLER_HEAP
        # A controller does little: the quick compiler alone starts it with half the work.
        speed = () if node.broker_port else ("-XX:TieredStopAtLevel=1",)
        argv = (
            self._java_path,
            # The serial collector and a small first heap: an idle broker stays small.
            *("-Xms64m", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError"),
            *(*speed, *self._java_options),
            *("-Djava.awt.headless=true", "-Dkafka.logs.dir=" + str(folder)),
            f"-Dlog4j2.configurationFile={files('orion.cluster').joinpath('node-log4j2.properties')}",
            *("-cp", self._class_path, "kafka.Kafka", str(folder / "server.properties")),
        )
        if node.broker_port:
            ready = partial(knows_broker, node.broker_port, node.id)
        else:
            ready = partial(accepts_connections, node.ports[0])
        return NodeProcess(
            name=node.name,
            argv=argv,
            # Two malloc arenas instead of eight a core: tens of megabytes less for each JVM.
            env={"MALLOC_ARENA_MAX": "2"},
            ports=node.ports,
            ready=ready,
            is_broker=bool(node.broker_port),
        )
