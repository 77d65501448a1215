"""`orion groups` against a real broker: live groups, and groups that only commit offsets."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from orion.log import GroupNotFoundError, Groups, Record, ResetTarget, Topics, produce
from orion.testing.kafka import KafkaServer
from orion.testing.wait import wait_until

ORION = str(Path(sys.executable).with_name("orion"))
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def orion(kafka: KafkaServer, tmp_path: Path) -> Run:
    given = {"ORION_KAFKA_BOOTSTRAP_SERVERS": kafka.addresses, "ORION_PROJECT": str(tmp_path)}

    def run(*words: str) -> "subprocess.CompletedProcess[bytes]":
        environment = {**os.environ, **given, "COLUMNS": "80"}
        return subprocess.run(
            [ORION, "groups", *words], input=b"", capture_output=True, env=environment, timeout=60
        )

    return run


@pytest.fixture
def groups(kafka: KafkaServer) -> Groups:
    return Groups(kafka.connection)


@pytest.fixture
def query(kafka: KafkaServer, topic: str) -> str:
    """Give a group as a query leaves it: offsets in a transaction, no members.

    Ten records a minute apart, the newest a minute old, lie in partition 0; six are read.
    """
    Topics(kafka.connection).create(topic, partitions=2)
    now_ms = int(time.time() * 1_000)
    ages_ms = [60_000 * minutes for minutes in range(10, 0, -1)]
    records = [Record(b"x", timestamp_ms=now_ms - age, partition=0) for age in ages_ms]
    produce(kafka.connection, topic, records)
    name = f"query-{topic}"
    options = {"bootstrap.servers": kafka.addresses}
    writer = Producer({**options, "transactional.id": name})
    writer.init_transactions()
    writer.begin_transaction()
    reader = Consumer({**options, "group.id": name})
    offsets = [TopicPartition(topic, 0, 6, '{"batch": 3}'), TopicPartition(topic, 1, 0)]
    writer.send_offsets_to_transaction(offsets, reader.consumer_group_metadata())
    writer.commit_transaction()
    reader.close()
    return name


@pytest.fixture
def member(kafka: KafkaServer, topic: str) -> Iterator[str]:
    """Give a group with one running member that has read everything."""
    Topics(kafka.connection).create(topic, partitions=2)
    name = f"live-{topic}"
    consumer = Consumer(
        {
            "bootstrap.servers": kafka.addresses,
            "group.id": name,
            "client.id": "billing-app",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), what="The assignment")
    yield name
    consumer.close()


def _json(done: "subprocess.CompletedProcess[bytes]") -> Any:
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_every_partition_has_an_age_where_batches_are_large(
    kafka: KafkaServer, groups: Groups, topic: str
) -> None:
    """Brokers fill an answer with one large batch; a second for each is more than there is."""
    Topics(kafka.connection).create(topic, partitions=24)
    noise = random.Random(1)
    now_ms = int(time.time() * 1_000)
    places = [(partition, number) for partition in range(24) for number in range(500)]
    records = [
        Record(noise.randbytes(500), partition=p, timestamp_ms=now_ms + n) for p, n in places
    ]
    produce(kafka.connection, topic, records)
    name = f"behind-{topic}"
    reader = Consumer({"bootstrap.servers": kafka.addresses, "group.id": name})
    reader.commit(offsets=[TopicPartition(topic, p, 0) for p in range(24)], asynchronous=False)
    reader.close()
    partitions = groups.get(name).partitions
    assert len(partitions) == 24
    assert all(partition.age_ms is not None for partition in partitions)


def test_a_query_without_members_shows_fully(orion: Run, query: str, topic: str) -> None:
    found = _json(orion("describe", query, "--json"))
    assert (found["state"], found["members"], found["lag_records"]) == ("Empty", [], 4)
    assert found["lag_seconds"] == pytest.approx(240, abs=30)
    first, second = found["partitions"]
    assert (first["committed"], first["end_offset"], first["metadata"]) == (6, 10, '{"batch": 3}')
    assert (second["lag_records"], second["lag_seconds"]) == (0, 0.0)
    listed = {group["group"]: group for group in _json(orion("list", "--json"))}
    assert listed[query]["topics"] == [topic]
    assert listed[query]["lag_records"] == 4
    shown = orion("describe", query).stdout.decode()
    assert "4m" in shown


def test_a_live_group_shows_its_members_and_is_protected(
    orion: Run, groups: Groups, member: str, topic: str
) -> None:
    found = groups.get(member)
    assert [m.client_id for m in found.members] == ["billing-app"]
    assert found.members[0].partitions == ((topic, 0), (topic, 1))
    assert all(p.member == found.members[0] for p in found.partitions)
    shown = orion("describe", member).stdout.decode()
    assert "billing-app" in shown
    for words in (
        ("reset", member, "--topic", topic, "--to-earliest", "--execute"),
        ("delete", member, "--yes"),
    ):
        refused = orion(*words)
        assert refused.returncode == 4
        assert b"billing-app" in refused.stderr


def test_a_reset_is_shown_first_and_done_when_told(
    orion: Run, groups: Groups, query: str, topic: str
) -> None:
    preview = orion("reset", query, "--to-earliest")
    assert preview.returncode == 0
    assert b"Nothing was changed" in preview.stdout
    assert groups.get(query).partitions[0].committed == 6
    done = _json(orion("reset", query, "--to-earliest", "--execute", "--json"))
    assert done["executed"] is True
    assert done["moves"][0] == {
        "topic": topic,
        "partition": 0,
        "current": 6,
        "new": 0,
        "clamped": False,
        "difference": -6,
    }
    after = groups.get(query).partitions[0]
    assert (after.committed, after.metadata) == (0, "")


def test_each_target_is_found_and_kept_inside_the_log(
    groups: Groups, query: str, topic: str
) -> None:
    def new(target: ResetTarget) -> tuple[int, bool]:
        (move,) = groups.plan_reset(query, target, only=[(topic, 0)])
        return move.new, move.clamped

    three_minutes_ago = int(time.time() * 1_000) - 150_000
    assert new(ResetTarget("latest")) == (10, False)
    assert new(ResetTarget("offset", 99)) == (10, True)
    assert new(ResetTarget("shift", -2)) == (4, False)
    assert new(ResetTarget("shift", -20)) == (0, True)
    assert new(ResetTarget("datetime", three_minutes_ago)) == (8, False)
    assert len(groups.plan_reset(query, ResetTarget("earliest"), only=[topic])) == 2


def test_records_lost_to_retention_are_told(
    kafka: KafkaServer, orion: Run, groups: Groups, query: str, topic: str
) -> None:
    admin = kafka.connection.admin()
    for future in admin.delete_records([TopicPartition(topic, 0, 8)]).values():
        future.result()
    found = groups.get(query).partitions[0]
    assert (found.lag_records, found.missed_records) == (2, 2)
    assert b"deleted by retention" in orion("describe", query).stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("describe", "no-such-group"), 3, "does not exist"),
        (("reset", "no-such-group", "--to-latest"), 3, "does not exist"),
        (("delete", "no-such-group", "--yes"), 3, "does not exist"),
        (("reset", "g"), 2, "exactly one place, 0 were given"),
        (("reset", "g", "--to-latest", "--to-earliest"), 2, "2 were given"),
        (("reset", "g", "--to-latest", "--topic", "t:x"), 2, "t:x"),
        (("reset", "g", "--to-datetime", "soon"), 2, "Time 'soon'"),
    ],
)
def test_mistakes_get_an_exit_code_and_a_fix(
    orion: Run, words: tuple[str, ...], code: int, said: str
) -> None:
    done = orion(*words)
    text = " ".join(done.stderr.decode().split())
    assert done.returncode == code, text
    assert said in text
    assert "fix:" in text


def test_a_group_is_deleted_with_its_offsets(orion: Run, groups: Groups, query: str) -> None:
    assert orion("delete", query).returncode == 2
    assert _json(orion("delete", query, "--yes", "--json")) == {"deleted": [query]}
    with pytest.raises(GroupNotFoundError):
        groups.get(query)
