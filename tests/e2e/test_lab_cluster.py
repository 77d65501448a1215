"""The commands of a classroom lab on a cluster of three, typed as its sheet has them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from orion.supervise import is_free
from orion.testing.project import Project
from orion.testing.wait import wait_until

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]
BIN = Path(sys.executable).parent
PORTS = (19092, 29092, 39092, 29093, 39093, 49093)
ALL = "localhost:19092,localhost:29092,localhost:39092"
# Kafka looks for what it can compact every 15 seconds unless it is told otherwise.
QUICK_CLEANER = """\
[kafka.broker_options]
"log.cleaner.backoff.ms" = "500"
"""
KEYED = r"sed 's/\([0-9]\+\)/\1:\1/g'"
PARSE_KEY = "--property parse.key=true --property key.separator=:"


class Lab:
    """A shell in the folder of the tools, as the sheet asks for, and the project beside it."""

    def __init__(self, project: Project) -> None:
        self.project = project

    def run(self, line: str) -> "subprocess.CompletedProcess[str]":
        """Type a line."""
        environ = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", "-c", line],
            cwd=BIN,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    def ok(self, line: str) -> str:
        """Type a line that must succeed."""
        done = self.run(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def read(self, topic: str, count: int, more: str = "") -> list[str]:
        """Read that many records from the beginning."""
        line = f"./kafka-console-consumer --bootstrap-server {ALL} --from-beginning --topic {topic}"
        return self.ok(f"{line} --max-messages {count} --timeout-ms 30000 {more}").split()

    def partition(self, topic: str, server: str = ALL) -> dict[str, str]:
        """Return leader, replicas and in-sync replicas of a topic's first partition."""
        text = self.ok(f"./kafka-topics --bootstrap-server {server} --describe --topic {topic}")
        line = next(line for line in text.splitlines() if "Partition: 0" in line)
        return dict(word.strip().split(": ") for word in line.split("\t") if ": " in word.strip())


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a running cluster of three on the ports the sheet names."""
    # A connection that goes out may hold one for a while.
    wait_until(lambda: all(is_free(port) for port in PORTS), what=f"Free ports {PORTS}")
    project = Project(tmp_path_factory.mktemp("lab"))
    (project.folder / "orion.toml").write_text(QUICK_CLEANER)
    project.succeed("up", "--detach", "--brokers", "3")
    yield Lab(project)
    project.end()


def create(lab: Lab, topic: str, partitions: int) -> None:
    lab.ok(
        f"./kafka-topics --bootstrap-server localhost:19092 --create --topic {topic}"
        f" --partitions {partitions} --replication-factor 3 --if-not-exists"
    )


def test_topics_and_failover(lab: Lab) -> None:
    create(lab, "sensor", 1)
    create(lab, "sensor", 1)
    before = lab.partition("sensor")
    assert sorted(before["Replicas"].split(",")) == ["101", "102", "103"]
    done = lab.run(
        f"seq 42 | ./kafka-console-producer --broker-list {ALL} --topic sensor"
        " && echo 'Produced 42 messages.'"
    )
    assert done.stdout == "Produced 42 messages.\n"
    assert "--bootstrap-server" in done.stderr
    assert lab.read("sensor", 42) == [str(n) for n in range(1, 43)]

    leader = int(before["Leader"]) - 100
    lab.project.succeed("broker", "stop", str(leader))
    wait_until(lambda: _moved(lab, before["Leader"]), what="A new leader")
    assert lab.partition("sensor")["Leader"] in before["Replicas"].split(",")
    # Two of three in sync are enough to write and to read.
    lab.ok(f"seq 8 | ./kafka-console-producer --broker-list {ALL} --topic sensor")
    assert len(lab.read("sensor", 50)) == 50
    lab.project.succeed("broker", "start", str(leader))
    wait_until(lambda: len(lab.partition("sensor")["Isr"].split(",")) == 3, what="Three in sync")


def _moved(lab: Lab, old_leader: str) -> bool:
    return lab.partition("sensor")["Leader"] not in (old_leader, "none")


def test_one_broker_alone_reads_but_does_not_write(lab: Lab) -> None:
    # Broker 3 leads from the start: below min.insync a leader no longer raises its high watermark,
    # so one that took over before it heard of the records would hide them until another is back.
    lab.ok(
        "./kafka-topics --bootstrap-server localhost:19092 --create --topic lonely"
        " --replica-assignment 103:101:102"
    )
    lab.ok(f"seq 5 | ./kafka-console-producer --broker-list {ALL} --topic lonely")
    lab.project.succeed("broker", "stop", "1")
    lab.project.succeed("broker", "stop", "2")
    try:
        wait_until(lambda: lab.partition("lonely", "localhost:39092")["Isr"] == "103")
        refused = lab.run(
            "seq 5 | ./kafka-console-producer --broker-list localhost:39092 --topic lonely"
            " --message-send-max-retries 1"
        )
        assert "NotEnoughReplicas" in refused.stdout + refused.stderr
        # Reading by partition needs no group, whose coordinator may be down.
        assert lab.ok(
            "./kafka-console-consumer --bootstrap-server localhost:39092 --topic lonely"
            " --partition 0 --offset earliest --max-messages 5 --timeout-ms 30000"
        ).split() == ["1", "2", "3", "4", "5"]
    finally:
        lab.project.succeed("broker", "start", "1")
        lab.project.succeed("broker", "start", "2")


def test_keys_choose_partitions_and_groups_share_them(lab: Lab) -> None:
    create(lab, "sensor2", 2)
    lab.ok(
        f"seq 42 | {KEYED} | ./kafka-console-producer --broker-list localhost:19092"
        f" --topic sensor2  {PARSE_KEY} && echo 'Produced 42 messages.'"
    )
    offsets = lab.ok("./kafka-get-offsets --bootstrap-server localhost:19092 --topic sensor2")
    counts = [int(line.rsplit(":", 1)[1]) for line in offsets.split()]
    assert len(counts) == 2
    assert sum(counts) == 42
    assert min(counts) > 0
    assert sorted(lab.read("sensor2", 42, "--group myGroup"), key=int) == [
        str(n) for n in range(1, 43)
    ]
    groups = lab.ok(
        "./kafka-consumer-groups --bootstrap-server localhost:19092 --describe --group myGroup"
    )
    assert groups.count("sensor2") == 2


def test_compaction_keeps_the_last_of_each_key(lab: Lab) -> None:
    create(lab, "sensor3", 1)
    alter = "kafka-configs --alter --add-config"
    where = "--entity-type topics --entity-name sensor3 --bootstrap-server localhost:19092"
    lab.ok(f"{alter} cleanup.policy=compact {where}")
    lab.ok(f"{alter} max.compaction.lag.ms=1000 {where}")
    small = lab.run(f"{alter} segment.bytes=256 {where}")
    assert small.returncode == 0
    assert "segment.ms=1000" in small.stderr
    described = lab.ok(f"kafka-configs --describe {where}")
    assert "cleanup.policy=compact" in described
    assert "segment.ms=1000" in described

    send = (
        f"seq 5 | {KEYED} | ./kafka-console-producer --broker-list localhost:19092"
        f" --topic sensor3  {PARSE_KEY} && echo 'Produced 5 messages.'"
    )
    sent = 0

    def is_compacted() -> bool:
        nonlocal sent
        assert lab.ok(send) == "Produced 5 messages.\n"
        sent += 5
        tail = "--timeout-ms 3000 2>/dev/null"
        reader = f"./kafka-console-consumer --bootstrap-server {ALL} --from-beginning"
        values = lab.run(f"{reader} --topic sensor3 {tail}").stdout.split()
        assert set(values) == {"1", "2", "3", "4", "5"}
        return len(values) < sent - 5

    wait_until(is_compacted, timeout_s=90, what="Compaction")
