"""A real Kafka for tests: one broker a test session on free ports, and a fresh topic a test.

Use it with `pytest_plugins = ["orion.testing.kafka"]` in a conftest. The broker is started by
`orion.cluster` under `orion.supervise` and ends with the session. Workers of pytest-xdist have one
each: the catalogue, the schemas and the groups of one are no business of another.
`--bootstrap-servers` uses a running Kafka instead.
"""

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from orion.app import App, load_settings
from orion.log import Connection
from orion.supervise import Foreground, RunFolder, Supervisor, SupervisorClient, free_ports
from orion.testing.wait import wait_until

_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class KafkaServer:
    """A running Kafka."""

    addresses: str

    @property
    def connection(self) -> Connection:
        """The way to it."""
        return Connection(self.addresses)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run use a Kafka that is there already."""
    parser.addoption("--bootstrap-servers", default="", help="Kafka to test with; default: own.")


@pytest.fixture(scope="session")
def kafka(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaServer]:
    """Give a real Kafka of one broker, shared by the whole test session."""
    given = request.config.getoption("--bootstrap-servers")
    if given:
        yield KafkaServer(given)
        return
    folder = tmp_path_factory.mktemp("kafka")
    run = RunFolder(folder / ".orion")
    server = _start_server(folder, run)
    yield KafkaServer(f"127.0.0.1:{run.settings()['kafka.ports'][0]}")
    SupervisorClient(run).shut_down()
    server.wait(timeout=_STOP_TIMEOUT_S)


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """Give a topic name that no other test uses, made from the test's own name."""
    name = re.sub(r"[^a-zA-Z0-9_-]+", "-", request.node.name).strip("-")
    return f"{name[:80]}-{uuid.uuid4().hex[:8]}"


def _start_server(project: Path, run: RunFolder) -> "subprocess.Popen[bytes]":
    words = [str(number) for number in (*free_ports(2), os.getpid())]
    output = project / "server.log"
    with output.open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "orion.testing.kafka", str(project), *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    client = SupervisorClient(run)
    wait_until(
        lambda: server.poll() is not None or (run.is_running() and _is_ready(client)),
        timeout_s=_START_TIMEOUT_S,
        what="The Kafka of the test session",
    )
    if server.poll() is not None:
        raise AssertionError(f"Kafka did not start:\n{output.read_text()}")
    return server


def _is_ready(client: SupervisorClient) -> bool:
    from orion.supervise import NotRunningError

    try:
        return client.is_ready()
    except NotRunningError:
        return False


def _serve(project: Path, port: int, controller_port: int, owner: int) -> None:
    """Run the broker until told to stop or until the test session's process is gone."""
    flags = {"kafka.ports": (port,), "kafka.controller_ports": (controller_port,)}
    more = {"kafka.heap": "512m", "engine.warm": False, "server.enabled": False}
    app = App(load_settings({**flags, **more}, project=project))
    supervisor = Supervisor(app.run_folder, settings=flags)
    foreground = Foreground(supervisor, app.prepare_processes)
    _end_with(owner, foreground)
    foreground.run()


def _end_with(owner: int, foreground: Foreground) -> None:
    import threading

    def watch() -> None:
        psutil.Process(owner).wait()
        foreground.end()

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), *(int(word) for word in sys.argv[2:5]))
