"""The real HTTP server of a project for tests, on the session's Kafka and free ports."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orion.cluster import accepts_connections
from orion.supervise import free_ports
from orion.testing.kafka import KafkaServer
from orion.testing.wait import wait_until


@dataclass
class HttpServer:
    """A server process; it can be killed and started again on the same ports."""

    folder: Path
    env: Mapping[str, str]
    registry_port: int
    rest_port: int
    sql_port: int
    process: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def registry_url(self) -> str:
        """The address of the schema registry."""
        return f"http://localhost:{self.registry_port}"

    @property
    def rest_url(self) -> str:
        """The address of the REST proxy."""
        return f"http://localhost:{self.rest_port}"

    @property
    def sql_url(self) -> str:
        """The address of the SQL API."""
        return f"http://localhost:{self.sql_port}"

    @property
    def log(self) -> Path:
        """What the server wrote."""
        return self.folder / "server.log"

    def begin(self) -> None:
        """Start the process; `wait` returns when it answers."""
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "orion.cli.main", "server"],
                cwd=self.folder,
                env={**os.environ, **self.env},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def wait(self) -> None:
        """Return when the registry answers."""
        process = self.process
        assert process is not None
        wait_until(
            lambda: process.poll() is not None or accepts_connections(self.registry_port),
            what="The HTTP server",
        )
        assert process.poll() is None, self.log.read_text()

    def start(self) -> None:
        """Start the process and wait until it answers."""
        self.begin()
        self.wait()

    def kill(self) -> None:
        """End the process as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the process in order."""
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(timeout=15)
            self.process = None


@pytest.fixture(scope="session")
def make_server(
    kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., HttpServer]]:
    """Give a maker of servers; keywords are settings, with `__` for the dot."""
    made: list[HttpServer] = []

    def make(toml: str = "", **settings: str) -> HttpServer:
        folder = tmp_path_factory.mktemp("server")
        (folder / "orion.toml").write_text(toml)
        ports = free_ports(3)
        names = ("registry", "rest", "sql")
        env = {
            "ORION_PROJECT": str(folder),
            "ORION_KAFKA_BOOTSTRAP_SERVERS": kafka.addresses,
            **{
                f"ORION_SERVER_{name.upper()}_PORT": str(port)
                for name, port in zip(names, ports, strict=True)
            },
            **{f"ORION_{name.replace('__', '_').upper()}": v for name, v in settings.items()},
        }
        server = HttpServer(folder, env, ports[0], ports[1], ports[2])
        made.append(server)
        server.start()
        return server

    yield make
    for server in made:
        server.stop()


@pytest.fixture(scope="session")
def server(make_server: Callable[..., HttpServer]) -> HttpServer:
    """Give one server for the whole session."""
    return make_server()
