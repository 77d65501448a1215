"""What may go wrong with a topic as it is: each risk says what it means and how to end it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orion.log.topic import Topic
from orion.log.topic_config import TopicConfig


@dataclass(frozen=True)
class Risk:
    """One risk: a name for scripts, its meaning, and the fix."""

    name: str
    meaning: str
    fix: str


def find_risks(topic: Topic, configs: Mapping[str, TopicConfig], *, brokers: int) -> list[Risk]:
    """Return the risks of a topic, the gravest first."""
    values = {name: config.value or "" for name, config in configs.items()}
    return [
        *_availability_risks(topic),
        *_replication_risks(topic, values, brokers),
        *_cleanup_risks(topic, values),
        *_shape_risks(topic),
    ]


def _availability_risks(topic: Topic) -> Iterator[Risk]:
    leaderless = [p.number for p in topic.partitions if p.leader is None]
    if leaderless:
        yield Risk(
            "no-leader",
            f"Partition(s) {_numbers(leaderless)} have no leader: nothing can be read or written.",
            "Start the brokers that hold their replicas.",
        )
    behind = [p.number for p in topic.partitions if len(p.in_sync) < len(p.replicas)]
    if behind:
        yield Risk(
            "under-replicated",
            f"Partition(s) {_numbers(behind)} lack in-sync replicas: a further failure loses data.",
            "Start the missing brokers, or wait until they have caught up.",
        )


def _replication_risks(topic: Topic, values: Mapping[str, str], brokers: int) -> Iterator[Risk]:
    copies, needed = topic.replication, int(values.get("min.insync.replicas") or 1)
    if copies == 1:
        yield Risk(
            "replication-1",
            "Each record has one copy: losing its broker's disk loses it.",
            "Fine on a laptop. Elsewhere create it with --replication 3"
            + (" on a cluster of 3 brokers." if brokers < 3 else "."),
        )
    elif needed >= copies:
        yield Risk(
            "min-insync",
            f"min.insync.replicas is {needed} of {copies} copies: one broker down stops writes.",
            f"Run: orion topics config set {topic.name} min.insync.replicas={copies - 1}",
        )
    elif needed == 1:
        yield Risk(
            "min-insync-1",
            "min.insync.replicas is 1: a write may be acknowledged while only one copy exists.",
            f"Run: orion topics config set {topic.name} min.insync.replicas=2",
        )
    if values.get("unclean.leader.election.enable") == "true":
        yield Risk(
            "unclean-election",
            "A replica that missed records may become leader: acknowledged records can be lost.",
            f"Run: orion topics config set {topic.name} unclean.leader.election.enable=false",
        )


def _cleanup_risks(topic: Topic, values: Mapping[str, str]) -> Iterator[Risk]:
    policy = values.get("cleanup.policy", "delete")
    if "compact" in policy:
        yield Risk(
            "compaction-keys",
            "It is compacted: a record without a key is refused, only the last one a key is kept.",
            "Give every record a key.",
        )
    unlimited = values.get("retention.ms") == "-1" and values.get("retention.bytes", "-1") == "-1"
    if "delete" in policy and unlimited:
        yield Risk(
            "retention-unlimited",
            "Records are kept forever: the disk fills up.",
            f"Run: orion topics config set {topic.name} retention.ms=7d",
        )


def _shape_risks(topic: Topic) -> Iterator[Risk]:
    if len(topic.partitions) == 1:
        yield Risk(
            "one-partition",
            "It has one partition: one consumer of a group and one task of a query read it.",
            f"Keep it where order matters; else: orion topics add-partitions {topic.name} 6",
        )


def _numbers(numbers: list[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:5])
    return f"{shown} and {len(numbers) - 5} more" if len(numbers) > 5 else shown
