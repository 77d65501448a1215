"""A project of its own for a test: the real `orion` command in a folder, cleaned up at the end."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from orion.log import Connection
from orion.supervise import ProcessStatus, RunFolder, SupervisorClient, process_exists
from orion.testing.wait import wait_until

_COMMAND_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Project:
    """A folder with an Orion of its own."""

    folder: Path
    # Most tests want the log alone; Spark and the server are started by those that need them.
    env: Mapping[str, str] = field(
        default_factory=lambda: {"ORION_ENGINE_WARM": "false", "ORION_SERVER_ENABLED": "false"}
    )

    @property
    def run(self) -> RunFolder:
        """Its run folder."""
        return RunFolder(self.folder / ".orion")

    @property
    def connection(self) -> Connection:
        """The way to its running Kafka."""
        ports = self.run.settings()["kafka.ports"]
        return Connection(",".join(f"127.0.0.1:{port}" for port in ports))

    def command(self, *words: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command of the environment's bin folder here: `orion`, `kafka-topics`, …."""
        return subprocess.run(
            [str(Path(sys.executable).parent / words[0]), *words[1:]],
            cwd=self.folder,
            env={**os.environ, "COLUMNS": "80", **self.env},
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=_COMMAND_TIMEOUT_S,
            check=False,
        )

    def orion(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run an orion command."""
        return self.command("orion", *words)

    def succeed(self, *words: str) -> str:
        """Run an orion command that must succeed; return what it printed."""
        done = self.orion(*words)
        if done.returncode:
            text = f"orion {' '.join(words)} ended with {done.returncode}"
            raise AssertionError(f"{text}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def status(self, name: str) -> ProcessStatus:
        """Return one process of the running supervisor."""
        found = SupervisorClient(self.run).statuses()
        return next(status for status in found if status.name == name)

    def end(self) -> None:
        """Leave no process behind, whatever the test did."""
        pid, group = self.run.supervisor_pid(), self.run.last_group()
        if self.run.is_running() and pid:
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: not self.run.is_running(), what="The end of the supervisor")
        if group:
            wait_until(lambda: not process_exists(group), what="The end of the watchdog")


@pytest.fixture
def make_project(tmp_path: Path) -> Iterator[Callable[[str], Project]]:
    """Give a maker of projects; what they run is stopped at the end of the test."""
    made = []

    def make(name: str) -> Project:
        project = Project(tmp_path / name)
        project.folder.mkdir()
        made.append(project)
        return project

    yield make
    for project in made:
        project.end()


@pytest.fixture
def project(make_project: Callable[[str], Project]) -> Project:
    """Give one project."""
    return make_project("project")
