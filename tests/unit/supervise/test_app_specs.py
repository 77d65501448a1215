import socket
from dataclasses import replace
from pathlib import Path

import pytest

from orion.app import App, load_settings
from orion.supervise import AppSpec, PortTakenError, RunFolder, Supervisor, hold_ports
from orion.supervise.appfile import write_apps

_ELSEWHERE = {
    "kafka.bootstrap_servers": "elsewhere:9092",
    "engine.warm": False,
    "server.enabled": False,
}


@pytest.fixture(autouse=True)
def _no_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORION_PROJECT", raising=False)


def test_apps_of_an_earlier_run_start_again(tmp_path: Path) -> None:
    app = App(load_settings(_ELSEWHERE, project=tmp_path))
    app.run_folder.data_dir.mkdir()
    write_apps(app.run_folder.apps, [AppSpec("mine", ("python", "x.py"), "/", max_restarts=3)])
    (spec,) = app.process_specs()
    assert (spec.name, spec.argv, spec.required) == ("mine", ("python", "x.py"), False)
    assert spec.restart.max_restarts == 3
    assert not spec.restart.after_success


def test_commands_use_the_ports_of_the_running_platform(tmp_path: Path) -> None:
    (tmp_path / "orion.toml").write_text("[kafka]\nports = [9500]\n")
    supervisor = Supervisor(RunFolder(tmp_path / ".orion"), settings={"kafka.ports": (9600,)})
    supervisor.open()
    try:
        assert load_settings(project=tmp_path).kafka.broker_ports == (9600,)
        assert load_settings({"kafka.ports": (9700,)}, project=tmp_path).kafka.ports == (9700,)
    finally:
        supervisor.close()
    assert load_settings(project=tmp_path).kafka.broker_ports == (9500,)


def test_the_server_tells_its_ports_and_how_to_move_them(tmp_path: Path) -> None:
    flags = {**_ELSEWHERE, "server.enabled": True, "server.sql_port": 9188}
    (spec,) = App(load_settings(flags, project=tmp_path)).process_specs()
    assert (spec.name, spec.ports) == ("server", (8081, 8082, 9188))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = {**flags, "server.rest_port": other.getsockname()[1]}
        (spec,) = App(load_settings(taken, project=tmp_path)).process_specs()
        with pytest.raises(PortTakenError) as caught:
            hold_ports([replace(spec, ports=spec.ports[1:2])])
    assert caught.value.port == taken["server.rest_port"]
    assert "--rest-port" in str(caught.value.fix)
    # A registry elsewhere needs no door here.
    elsewhere = {**flags, "registry.url": "http://elsewhere:8081"}
    (spec,) = App(load_settings(elsewhere, project=tmp_path)).process_specs()
    assert spec.ports == (8082, 9188)
