from pathlib import Path

import pytest

from orion.app import App, load_settings
from orion.supervise import AppSpec, RunFolder, Supervisor
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
