import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orion.supervise import ProcessSpec, ProcessStatus, RestartPolicy, RunFolder, Supervisor

QUICK = RestartPolicy(first_delay_s=0.01, longest_delay_s=0.05)
SLEEPER = "import signal; signal.pause()"
Spec = Callable[..., ProcessSpec]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "data")


@pytest.fixture
def changes() -> list[ProcessStatus]:
    return []


@pytest.fixture
def supervisor(run: RunFolder, changes: list[ProcessStatus]) -> Iterator[Supervisor]:
    supervisor = Supervisor(run, on_change=changes.append)
    supervisor.open()
    yield supervisor
    supervisor.close()


@pytest.fixture
def spec() -> Spec:
    """Give a maker of specs that run a line of Python."""

    def make(name: str, code: str = SLEEPER, **more: object) -> ProcessSpec:
        values: dict[str, object] = {"restart": QUICK, **more}
        argv = (sys.executable, "-S", "-E", "-c", code)
        return ProcessSpec(name=name, argv=argv, **values)  # type: ignore[arg-type]

    return make
