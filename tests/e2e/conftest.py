"""One platform for all tests of SQL: starting it costs more than most of them."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from orion.supervise import free_ports
from orion.testing.project import Project
from tests.e2e.platform import Platform


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    project = Project(tmp_path_factory.mktemp("sql"))
    project = replace(project, env={"ORION_ENGINE_WARM": "true", "ORION_SERVER_ENABLED": "true"})
    port, controller, registry, rest, sql = free_ports(5)
    project.succeed(
        *("up", "--detach", f"--port={port}", f"--controller-ports={controller}"),
        *(f"--registry-port={registry}", f"--rest-port={rest}", f"--sql-port={sql}"),
    )
    yield Platform(project, sql, registry, port)
    project.end()
