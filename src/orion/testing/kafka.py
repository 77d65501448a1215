"""A real Kafka for tests: one broker a test session on free ports, and a fresh topic a test.

Use it with `pytest_plugins = ["orion.testing.kafka"]` in a conftest. The broker is started by
`orion.cluster` under `orion.supervise`, shared by the workers of pytest-xdist, and stopped when the
last one is done. `--bootstrap-servers` uses a running Kafka instead.
"""

import fcntl
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil
import pytest

from orion.app import App, load_settings
from orion.log import Connection
from orion.supervise import Foreground, RunFolder, Supervisor, SupervisorClient, free_ports
from orion.testing.wait import wait_until

_START_TIMEOUT_S = 120.0


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
    shared = tmp_path_factory.getbasetemp()
    owner = os.getpid()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared, owner = shared.parent, os.getppid()
    with _shared_kafka(shared / "kafka", owner) as server:
        yield server


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """Give a topic name that no other test uses, made from the test's own name."""
    name = re.sub(r"[^a-zA-Z0-9_-]+", "-", request.node.name).strip("-")
    return f"{name[:80]}-{uuid.uuid4().hex[:8]}"


@contextmanager
def _shared_kafka(project: Path, owner: int) -> Iterator[KafkaServer]:
    """Start the server or join the one another worker started; the last one out stops it."""
    project.mkdir(exist_ok=True)
    with (project / "users.lock").open("w") as users:
        with _exclusive(project / "start.lock"):
            run = RunFolder(project / ".orion")
            if not run.is_running():
                _start_server(project, run, owner)
            fcntl.flock(users, fcntl.LOCK_SH)
        try:
            yield KafkaServer(f"127.0.0.1:{run.settings()['kafka.ports'][0]}")
        finally:
            with _exclusive(project / "start.lock"):
                fcntl.flock(users, fcntl.LOCK_UN)
                if _nobody_else(users):
                    _stop_server(run)


def _start_server(project: Path, run: RunFolder, owner: int) -> None:
    ports = [str(port) for port in free_ports(2)]
    command = [sys.executable, "-m", "orion.testing.kafka", str(project), *ports, str(owner)]
    output = project / "server.log"
    with output.open("wb") as log:
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    _servers.append(server)
    client = SupervisorClient(run)
    wait_until(
        lambda: server.poll() is not None or (run.is_running() and _is_ready(client)),
        timeout_s=_START_TIMEOUT_S,
        what="The Kafka of the test session",
    )
    if server.poll() is not None:
        raise AssertionError(f"Kafka did not start:\n{output.read_text()}")


# Kept so that no Popen is collected while its process runs, which would warn.
_servers: list["subprocess.Popen[bytes]"] = []


def _is_ready(client: SupervisorClient) -> bool:
    from orion.supervise import NotRunningError

    try:
        return client.is_ready()
    except NotRunningError:
        return False


def _stop_server(run: RunFolder) -> None:
    SupervisorClient(run).shut_down()
    wait_until(lambda: not run.is_running(), what="The stop of the test session's Kafka")
    for server in _servers:
        server.wait()


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _nobody_else(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
