import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from orion.supervise import (
    AppSpec,
    ControlServer,
    NotRunningError,
    RefusedError,
    RunFolder,
    State,
    Supervisor,
    SupervisorClient,
    read_apps,
)
from orion.testing.wait import wait_until

from .conftest import SLEEPER, Spec


@pytest.fixture
def over() -> threading.Event:
    return threading.Event()


@pytest.fixture
def client(supervisor: Supervisor, over: threading.Event) -> Iterator[SupervisorClient]:
    server = ControlServer(supervisor, on_shutdown=over.set)
    yield SupervisorClient(supervisor.run)
    server.close()


def app(name: str, code: str = SLEEPER) -> AppSpec:
    return AppSpec(name=name, argv=(sys.executable, "-S", "-c", code), cwd="/", max_restarts=0)


def test_commands_reach_the_processes(
    client: SupervisorClient, supervisor: Supervisor, spec: Spec
) -> None:
    supervisor.start([spec("one")])
    client.stop("one")
    assert client.statuses()[0].state is State.STOPPED
    assert client.start("one").state is State.READY
    first = client.statuses()[0].pid
    client.kill("one")
    wait_until(lambda: client.statuses()[0].restarts == 1)
    assert client.restart("one").pid != first


def test_an_error_arrives_with_its_fix_and_exit_code(client: SupervisorClient) -> None:
    with pytest.raises(RefusedError) as caught:
        client.stop("nobody")
    assert caught.value.exit_code == 3
    assert "no process 'nobody'" in caught.value.text


def test_an_added_app_runs_and_is_remembered(client: SupervisorClient, run: RunFolder) -> None:
    assert client.add(app("mine")).name == "mine"
    wait_until(lambda: client.statuses()[0].state is State.READY)
    assert read_apps(run.apps) == [app("mine")]
    with pytest.raises(RefusedError, match="already running"):
        client.add(app("mine"))
    client.remove("mine")
    assert client.statuses() == []
    assert read_apps(run.apps) == []


def test_an_app_that_ended_can_be_added_again(client: SupervisorClient, run: RunFolder) -> None:
    client.add(app("mine", "raise SystemExit(1)"))
    wait_until(lambda: client.statuses()[0].state is State.FAILED)
    client.add(app("mine"))
    wait_until(lambda: client.statuses()[0].state is State.READY)
    assert len(read_apps(run.apps)) == 1


def test_shutdown_is_passed_on(client: SupervisorClient, over: threading.Event) -> None:
    client.shut_down()
    assert over.wait(5)


def test_the_socket_is_for_its_owner_only(client: SupervisorClient, run: RunFolder) -> None:
    assert client.statuses() == []
    assert run.socket_path().stat().st_mode & 0o777 == 0o600


def test_nobody_there_says_how_to_start(run: RunFolder) -> None:
    with pytest.raises(NotRunningError, match="orion up") as caught:
        SupervisorClient(run).statuses()
    assert caught.value.exit_code == 3


def test_a_long_project_path_still_has_a_socket(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / ("x" * 120) / "data")
    supervisor = Supervisor(run)
    supervisor.open()
    server = ControlServer(supervisor, on_shutdown=lambda: None)
    try:
        assert SupervisorClient(run).statuses() == []
    finally:
        server.close()
        supervisor.close()
    assert run.path not in supervisor.socket_path.parents
    assert not supervisor.socket_path.parent.exists()


def test_a_damaged_app_file_is_named(run: RunFolder) -> None:
    from orion.model import InvalidInputError

    run.data_dir.mkdir()
    run.apps.write_text("{")
    with pytest.raises(InvalidInputError, match=r"apps\.json"):
        read_apps(run.apps)
    run.apps.write_text(json.dumps([{"name": "x"}]))
    with pytest.raises(InvalidInputError, match="argv"):
        read_apps(run.apps)
