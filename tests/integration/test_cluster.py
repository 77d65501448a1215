"""The same project on a standalone Spark cluster, with a worker killed in the middle."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from orion.jvm import find_java, pyspark_home
from orion.lake import Lake
from orion.log import Groups, Topics
from orion.supervise import free_ports
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer
from tests.integration.ledger import Ledger, check_dead_letters, check_table, check_topic

APP = """
import orion
rows = orion.stream("{topic}", "id BIGINT")
orion.to_topic(rows, "{topic}-out", name="{topic}-copy")
orion.to_table(rows.select("id", "_offset"), "kept", name="{topic}-lake")
"""


class Cluster:
    """A master and two workers, started from the pyspark package."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        port = free_ports(1)[0]
        self.master = f"spark://127.0.0.1:{port}"
        ports = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        self._processes = [self._java("master.Master", "master", *ports)]
        self.workers = [self._worker(number) for number in range(2)]

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
                },
                stdout=output,
                stderr=output,
            )
        self.__dict__.setdefault("_processes", []).append(process)
        return process

    def alive(self) -> int:
        """How many workers the master has registered."""
        return (self._folder / "master.log").read_text(errors="replace").count("Registering worker")

    def kill_worker(self) -> None:
        """Kill a worker and its executor as a machine's end would."""
        victim = psutil.Process(self.workers[0].pid)
        for process in [*victim.children(recursive=True), victim]:
            process.kill()
        self.workers[0].wait()

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


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    try:
        wait_until(lambda: found.alive() == 2, timeout_s=60, what="Two workers")
        yield found
    finally:
        found.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_dying_worker_loses_and_doubles_nothing(
    kafka: KafkaServer, topic: str, tmp_path: Path, cluster: Cluster
) -> None:
    Topics(kafka.connection).create(topic, partitions=2)
    (tmp_path / "app.py").write_text(APP.format(topic=topic))
    (tmp_path / "orion.toml").write_text(
        f'[spark]\nmaster = "{cluster.master}"\n[spark.options]\n"spark.executor.memory" = "600m"\n'
    )
    ledger = Ledger(kafka.connection, topic)
    ledger.write(2_000)
    app = _start(tmp_path, kafka.addresses)
    try:
        wait_until(lambda: _read(kafka, topic) > 0, timeout_s=180, what="The first batch")
        ledger.write(2_000)
        cluster.kill_worker()
        for _ in range(5):
            ledger.write(500)
        end = len(ledger.acknowledged) + ledger.bad
        for query in (f"{topic}-copy", f"{topic}-lake"):
            wait_until(lambda q=query: _committed(kafka, q) == end, timeout_s=180, what=query)  # type: ignore[misc]
        assert app.poll() is None
    finally:
        app.terminate()
        try:
            app.wait(timeout=60)
        finally:
            app.kill()
            app.wait()
    check_topic(ledger, f"{topic}-out")
    check_table(ledger, Lake(str(tmp_path / ".orion" / "lake")), "kept")
    check_dead_letters(ledger, f"{topic}-copy.dlq")
    check_dead_letters(ledger, f"{topic}-lake.dlq")


def _start(folder: Path, addresses: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "orion.cli.main", "run", "app.py"]
    with (folder / "app.log").open("wb") as log:
        env = {
            **os.environ,
            "ORION_KAFKA_BOOTSTRAP_SERVERS": addresses,
            # A process that lives for seconds does not earn back the JVM's second compiler.
            "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",
        }
        return subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)


def _read(kafka: KafkaServer, topic: str) -> int:
    return _committed(kafka, f"{topic}-copy")


def _committed(kafka: KafkaServer, group: str) -> int:
    groups = Groups(kafka.connection)
    if group not in groups.names():
        return 0
    return sum(part.committed or 0 for part in groups.get(group).partitions)
