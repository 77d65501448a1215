"""Kafka's own command line tools: which class each name runs, and the command that runs it."""

import shlex
from collections.abc import Mapping, Sequence
from importlib.resources import files

from orion.cluster.tool_argument import translate
from orion.model import NotFoundError, nearest

_TOOLS = "org.apache.kafka.tools"
TOOL_CLASSES: Mapping[str, str] = {
    "kafka-acls": f"{_TOOLS}.AclCommand",
    "kafka-broker-api-versions": f"{_TOOLS}.BrokerApiVersionsCommand",
    "kafka-cluster": f"{_TOOLS}.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": f"{_TOOLS}.consumer.ConsoleConsumer",
    "kafka-console-producer": f"{_TOOLS}.ConsoleProducer",
    "kafka-console-share-consumer": f"{_TOOLS}.consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": f"{_TOOLS}.consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": f"{_TOOLS}.ConsumerPerformance",
    "kafka-delete-records": f"{_TOOLS}.DeleteRecordsCommand",
    "kafka-dump-log": f"{_TOOLS}.DumpLogSegments",
    "kafka-features": f"{_TOOLS}.FeatureCommand",
    "kafka-get-offsets": f"{_TOOLS}.GetOffsetShell",
    "kafka-groups": f"{_TOOLS}.GroupsCommand",
    "kafka-leader-election": f"{_TOOLS}.LeaderElectionCommand",
    "kafka-log-dirs": f"{_TOOLS}.LogDirsCommand",
    "kafka-metadata-quorum": f"{_TOOLS}.MetadataQuorumCommand",
    "kafka-producer-perf-test": f"{_TOOLS}.ProducerPerformance",
    "kafka-reassign-partitions": f"{_TOOLS}.reassign.ReassignPartitionsCommand",
    "kafka-share-groups": f"{_TOOLS}.consumer.group.ShareGroupCommand",
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-topics": f"{_TOOLS}.TopicCommand",
    "kafka-transactions": f"{_TOOLS}.TransactionsCommand",
}
# Tools that move data run long enough for the optimising compiler to pay.
_LONG_RUNNING = (
    "kafka-console-consumer",
    "kafka-console-producer",
    "kafka-console-share-consumer",
    "kafka-consumer-perf-test",
    "kafka-producer-perf-test",
)


class UnknownToolError(NotFoundError):
    """Raised when a name is none of Kafka's tools."""

    def __init__(self, name: str) -> None:
        self.name = name
        hint = nearest(name, TOOL_CLASSES) or "See them all with: orion broker tools"
        super().__init__(f"Kafka has no tool '{name}'.", fix=hint)


def plan_tool(
    name: str,
    arguments: Sequence[str],
    *,
    java_path: str,
    class_path: str,
    environ: Mapping[str, str],
    java_options: Sequence[str] = (),
) -> tuple[list[str], list[str]]:
    """Return the command that runs a tool, and notes on arguments that were translated.

    Args:
        name: The tool, with or without `.sh`.
        arguments: What the user typed after it.
        java_path: The java to run it with.
        class_path: The jars of the Kafka bundle.
        environ: KAFKA_HEAP_OPTS and KAFKA_OPTS mean what they mean to Kafka's own scripts.
        java_options: What its JVM is told besides.
    """
    tool = name.removesuffix(".sh")
    if tool not in TOOL_CLASSES:
        raise UnknownToolError(tool)
    translated, notes = translate(tool, arguments)
    long_running = tool in _LONG_RUNNING
    heap = environ.get("KAFKA_HEAP_OPTS") or ("-Xmx512m" if long_running else "-Xmx256m")
    speed = [] if long_running else ["-XX:TieredStopAtLevel=1"]
    log4j = files("orion.cluster").joinpath("tools-log4j2.properties")
    command = [java_path, *shlex.split(heap), "-XX:+UseSerialGC", *speed, *java_options]
    command += [f"-Dlog4j2.configurationFile={log4j}", *shlex.split(environ.get("KAFKA_OPTS", ""))]
    return [*command, "-cp", class_path, TOOL_CLASSES[tool], *translated], notes
