"""The same project on a standalone Spark cluster, with a worker killed in the middle."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from orion.app import App, load_settings
from orion.jvm import find_java, pyspark_home
from orion.lake import Lake
from orion.log import Groups, Selection, Topics, consume
from orion.sql import parse_statements
from orion.supervise import free_ports
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer
from tests.integration.ledger import KEYS, Ledger, check_dead_letters, check_table, check_topic

APP = """
import orion
rows = orion.stream("{topic}", "id BIGINT")
orion.to_topic(rows, "{topic}-out", name="{topic}-copy")
orion.to_table(rows.select("id", "_offset"), "kept", name="{topic}-lake")
"""

SCRIPT = """
CREATE STREAM {name} (k STRING KEY, id BIGINT)
  WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2);
CREATE TABLE {name}_COUNTS AS SELECT k, COUNT(*) AS n, MAX(last_digit(id)) AS digit
  FROM {name} GROUP BY k;
"""
# Goes to the workers with the query; fails for some.
FUNCTIONS = """
import orion


@orion.udf
def last_digit(number: int) -> int:
    return number % 10 if number % 7 else number // 0
"""


class Cluster:
    """A master and two workers, started from the pyspark package."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        port = free_ports(1)[0]
        self.master = f"spark://127.0.0.1:{port}"
        ports = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._java("master.Master", "master", *ports)
        self.workers: list[subprocess.Popen[bytes]] = []
        self._started = -1

    def _worker(self, number: int) -> "subprocess.Popen[bytes]":
        size = ["--cores", "1", "--memory", "1g", "--work-dir", str(self._folder / f"work{number}")]
        place = ["--host", "127.0.0.1", "--webui-port", "0", self.master]
        return self._java("worker.Worker", f"worker{number}", *size, *place)

    def _java(self, name: str, log: str, *words: str) -> "subprocess.Popen[bytes]":
        jars = str(pyspark_home() / "jars" / "*")
        command = [find_java(os.environ).path, "-Xmx256m", "-cp", jars]
        command += [f"org.apache.spark.deploy.{name}", *words]
        with (self._folder / f"{log}.log").open("wb") as output:
            process = subprocess.Popen(
                command,
                env={
                    **os.environ,
                    "SPARK_HOME": str(pyspark_home()),
                    # The package lacks the file that an installed Spark is told by.
                    "SPARK_SCALA_VERSION": "2.13",
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    # Else a killed executor's copies of the packages stay in the system's.
                    "SPARK_LOCAL_DIRS": str(self._folder / "scratch"),
                },
                stdout=output,
                stderr=output,
            )
        self._processes.append(process)
        return process

    def known(self) -> int:
        """How many workers the master has registered so far, the dead ones included."""
        return (self._folder / "master.log").read_text(errors="replace").count("Registering worker")

    def kill_worker(self) -> None:
        """Kill a worker and its executor as a machine's end would."""
        worker = self.workers.pop(0)
        victim = psutil.Process(worker.pid)
        for process in [*victim.children(recursive=True), victim]:
            process.kill()
        worker.wait()

    def complete(self) -> None:
        """Start workers until there are two, and wait until the master knows them."""
        while len(self.workers) < 2:
            self._started += 1
            self.workers.append(self._worker(self._started))
        wait_until(lambda: self.known() > self._started, timeout_s=60, what="Two workers")

    def close(self) -> None:
        for process in self._processes:
            for child in (
                psutil.Process(process.pid).children(recursive=True)
                if process.poll() is None
                else []
            ):
                child.kill()
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def cluster(spark_cluster: Cluster, tmp_path: Path) -> Cluster:
    """Give a cluster of two workers, and a project that runs on it."""
    (tmp_path / "orion.toml").write_text(
        f'[spark]\nmaster = "{spark_cluster.master}"\n'
        '[spark.options]\n"spark.executor.memory" = "600m"\n'
        f'[engine]\nstate = "{tmp_path / "shared"}"\n'
    )
    spark_cluster.complete()
    return spark_cluster


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_dying_worker_loses_and_doubles_nothing(
    kafka: KafkaServer, topic: str, tmp_path: Path, cluster: Cluster
) -> None:
    Topics(kafka.connection).create(topic, partitions=2)
    (tmp_path / "app.py").write_text(APP.format(topic=topic))
    ledger = Ledger(kafka.connection, topic)
    ledger.write(2_000)
    app = _start(tmp_path, kafka.addresses, "run", "app.py")
    _lose_a_worker(app, cluster, ledger, [f"{topic}-copy", f"{topic}-lake"])
    check_topic(ledger, f"{topic}-out")
    check_table(ledger, Lake(str(tmp_path / ".orion" / "lake")), "kept")
    check_dead_letters(ledger, f"{topic}-copy.dlq")
    check_dead_letters(ledger, f"{topic}-lake.dlq")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_state_outlives_a_worker(
    kafka: KafkaServer, topic: str, tmp_path: Path, cluster: Cluster
) -> None:
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    app = App(load_settings({"kafka.bootstrap_servers": kafka.addresses}, project=tmp_path))
    commands = app.open_commands(app.schemas)
    name = topic.replace("-", "_").upper()
    for statement in parse_statements(SCRIPT.format(topic=topic, name=name)):
        commands.accept(statement, {})
    (query,) = (each for each in commands.queries if name in each)
    ledger = Ledger(kafka.connection, topic)
    ledger.write(2_000)
    engine = _start(tmp_path, kafka.addresses, "engine")
    try:
        _lose_a_worker(engine, cluster, ledger, [query])
    finally:
        # An empty catalogue is left to the other tests of this Kafka.
        for statement in parse_statements(f"TERMINATE {query};"):
            commands.accept(statement, {})
    assert (tmp_path / "shared" / query).is_dir()
    check_dead_letters(ledger, f"{query}.dlq")
    changes: dict[bytes, list[int]] = defaultdict(list)
    digits: dict[bytes, int] = {}
    for record in consume(kafka.connection, Selection(f"{name}_COUNTS")):
        row = json.loads(record.value or b"")
        changes[record.key or b""].append(row["N"])
        digits[record.key or b""] = row["DIGIT"]
    per_key = Counter(str(number % KEYS).encode() for number in ledger.acknowledged)
    assert changes == {key: list(range(1, count + 1)) for key, count in per_key.items()}
    known = [number for number in sorted(ledger.acknowledged) if number % 7]
    greatest: dict[bytes, int] = defaultdict(int)
    for number in known:
        key = str(number % KEYS).encode()
        greatest[key] = max(greatest[key], number % 10)
    assert digits == greatest


def _lose_a_worker(
    process: "subprocess.Popen[bytes]", cluster: Cluster, ledger: Ledger, queries: list[str]
) -> None:
    """Kill a worker while queries read, and wait until they have read all; then end them."""
    try:
        first = queries[0]
        wait_until(lambda: _committed(ledger, first) > 0, timeout_s=180, what="The first batch")
        ledger.write(2_000)
        cluster.kill_worker()
        for _ in range(5):
            ledger.write(500)
        end = len(ledger.acknowledged) + ledger.bad
        for query in queries:
            wait_until(lambda q=query: _committed(ledger, q) == end, timeout_s=180, what=query)  # type: ignore[misc]
        assert process.poll() is None
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()


def _start(folder: Path, addresses: str, *words: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "orion.cli.main", *words]
    with (folder / "app.log").open("wb") as log:
        env = {
            **os.environ,
            "ORION_PROJECT": str(folder),
            "ORION_KAFKA_BOOTSTRAP_SERVERS": addresses,
        }
        return subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)


def _committed(ledger: Ledger, group: str) -> int:
    groups = Groups(ledger.connection)
    if group not in groups.names():
        return 0
    return sum(part.committed or 0 for part in groups.get(group).partitions)
