"""Each risk of a topic is found, and a sound topic has none."""

from dataclasses import replace

import pytest

from orion.log.topic import Partition, Topic
from orion.log.topic_config import TopicConfig
from orion.log.topic_risk import find_risks

SOUND = Topic("t", tuple(Partition(n, 1, (1, 2, 3), (1, 2, 3), 0, 0, 0) for n in range(3)))
CONFIGS = {
    "min.insync.replicas": "2",
    "cleanup.policy": "delete",
    "retention.ms": "1000",
    "retention.bytes": "-1",
    "unclean.leader.election.enable": "false",
}


def _names(topic: Topic, **changed: str) -> list[str]:
    values = CONFIGS | {name.replace("_", "."): value for name, value in changed.items()}
    configs = {name: TopicConfig(name, value, "topic") for name, value in values.items()}
    risks = find_risks(topic, configs, brokers=3)
    assert all(risk.meaning.endswith(".") and risk.fix for risk in risks)
    return [risk.name for risk in risks]


def _with(**changed: object) -> Topic:
    first = replace(SOUND.partitions[0], **changed)  # type: ignore[arg-type]
    return Topic("t", (first, *SOUND.partitions[1:]))


def test_a_sound_topic_has_no_risk() -> None:
    assert _names(SOUND) == []


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        (_with(leader=None), "no-leader"),
        (_with(in_sync=(1,)), "under-replicated"),
        (_with(replicas=(1,), in_sync=(1,)), "replication-1"),
        (Topic("t", SOUND.partitions[:1]), "one-partition"),
    ],
)
def test_the_shape_of_a_topic_may_be_a_risk(topic: Topic, expected: str) -> None:
    assert _names(topic) == [expected]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"min_insync_replicas": "3"}, "min-insync"),
        ({"min_insync_replicas": "1"}, "min-insync-1"),
        ({"unclean_leader_election_enable": "true"}, "unclean-election"),
        ({"cleanup_policy": "compact"}, "compaction-keys"),
        ({"retention_ms": "-1"}, "retention-unlimited"),
    ],
)
def test_a_configuration_may_be_a_risk(changed: dict[str, str], expected: str) -> None:
    assert _names(SOUND, **changed) == [expected]


def test_a_limit_of_bytes_bounds_unlimited_time() -> None:
    assert _names(SOUND, retention_ms="-1", retention_bytes="100") == []
