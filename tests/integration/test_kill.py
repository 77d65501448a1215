"""Kill -9 at random and at named points: every acknowledged record arrives exactly once."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orion.lake import Lake
from orion.log import Groups, Topics
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer
from tests.integration.ledger import (
    SHORT_LIVED,
    Ledger,
    check_dead_letters,
    check_table,
    check_topic,
)

STRIKES = int(os.environ.get("SOAK_STRIKES", "20"))
LANES = 2
PLACES = (
    "after_offset_log:2",
    "in_transaction:1",
    "in_transaction:3",
    "after_transaction:1",
    "after_transaction:2",
    "in_table_commit:1:100",
    "in_table_commit:2:250",
    "after_table_commit:1",
    "random",
    "random",
)

APP = """
import orion
rows = orion.stream("{topic}", "id BIGINT")
orion.to_topic(rows, "{topic}-out", name="{topic}-copy")
orion.to_table(rows.select("id", "_topic", "_partition", "_offset"), "kept", name="{topic}-lake")
"""


class Engine:
    """The app in a project folder, started as a user would and killed as a machine would."""

    def __init__(self, folder: Path, addresses: str) -> None:
        self.folder = folder
        self.more: dict[str, str] = {}
        self.env = {
            **os.environ,
            "ORION_KAFKA_BOOTSTRAP_SERVERS": addresses,
            "ORION_ENGINE_MAX_BATCH_RECORDS": "300",
            **SHORT_LIVED,
        }

    def start(self, strike: str = "", *words: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "orion.cli.main", "run", "app.py", *words]
        with (self.folder / "app.log").open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env={**self.env, "ORION_STRIKE": strike, **self.more},
                stdout=log,
                stderr=log,
            )

    def drain(self) -> None:
        # Small batches gave the blows places to fall; what is left comes in large ones.
        self.more = {"ORION_ENGINE_MAX_BATCH_RECORDS": "20000"}
        process = self.start("", "--once")
        assert process.wait(timeout=300) == 0, (self.folder / "app.log").read_text()[-4000:]


# Two workers strike side by side.
@pytest.mark.slow
@pytest.mark.timeout(60 * max(STRIKES, 20))
@pytest.mark.parametrize("lane", range(LANES))
def test_kill_at_any_point_loses_and_doubles_nothing(
    lane: int, kafka: KafkaServer, topic: str, tmp_path: Path
) -> None:
    chance = random.Random(20261115 + lane)
    Topics(kafka.connection).create(topic, partitions=3)
    (tmp_path / "app.py").write_text(APP.format(topic=topic))
    engine = Engine(tmp_path, kafka.addresses)
    ledger = Ledger(kafka.connection, topic)
    ledger.write(2_000)
    for number in range(STRIKES // LANES):
        strike_once(engine, ledger, PLACES[number % len(PLACES)], chance)
    engine.drain()
    check_topic(ledger, f"{topic}-out")
    check_table(ledger, Lake(str(tmp_path / ".orion" / "lake")), "kept")
    check_dead_letters(ledger, f"{topic}-copy.dlq")
    check_dead_letters(ledger, f"{topic}-lake.dlq")
    for query in (f"{topic}-copy", f"{topic}-lake"):
        assert Groups(kafka.connection).get(query).lag_records == 0


def strike_once(engine: Engine, ledger: Ledger, place: str, chance: random.Random) -> None:
    """Run until the blow falls; a blow that has no cause to fall in time is struck at random."""
    process = engine.start("" if place == "random" else place)
    try:
        moments = chance.randint(0, 20)
        for _ in range(80 if place != "random" else 6 + moments):
            ledger.write(100)
            try:
                process.wait(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                continue
    finally:
        process.kill()
    assert process.wait(timeout=10) == -signal.SIGKILL, "the app ended by itself"


def test_a_second_run_on_the_same_checkpoint_is_refused(
    kafka: KafkaServer, topic: str, tmp_path: Path
) -> None:
    Topics(kafka.connection).create(topic, partitions=1)
    (tmp_path / "app.py").write_text(APP.format(topic=topic))
    engine = Engine(tmp_path, kafka.addresses)
    first = engine.start()
    try:
        lock = tmp_path / ".orion" / "checkpoints" / f"{topic}-copy" / "orion.lock"
        wait_until(lambda: lock.exists() and lock.read_text() == str(first.pid), timeout_s=60)
        second = engine.start()
        assert second.wait(timeout=90) == 4
        output = (tmp_path / "app.log").read_text()
        assert f"process {first.pid} holds its" in output
        assert first.poll() is None
    finally:
        first.kill()
        first.wait()
