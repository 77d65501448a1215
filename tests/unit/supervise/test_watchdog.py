import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from orion.supervise import (
    Foreground,
    RunFolder,
    State,
    Supervisor,
    SupervisorClient,
    process_exists,
)
from orion.testing.wait import wait_until

from .conftest import Spec

# A supervisor of one process that has a child of its own, both deaf to SIGTERM.
PROGRAM = """
import sys
from pathlib import Path
from orion.supervise import Foreground, ProcessSpec, RunFolder, Supervisor

child = '''
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    open(sys.argv[1] + ".grandchild", "w").write(str(os.getpid()))
signal.pause()
'''
folder = Path(sys.argv[1])
note = str(folder / "note")
spec = ProcessSpec("one", (sys.executable, "-S", "-c", child, note))
Foreground(Supervisor(RunFolder(folder / "data"), stop_total_s=2.0), lambda: [spec]).run()
"""


@contextmanager
def running(folder: Path) -> Iterator[tuple["subprocess.Popen[bytes]", list[int]]]:
    """Run the program; give it and the pids of its watchdog, child and grandchild."""
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)])
    note = folder / "note.grandchild"
    pids: list[int] = []
    try:
        wait_until(lambda: note.exists() and note.read_text(), what="The grandchild")
        client = SupervisorClient(RunFolder(folder / "data"))
        wait_until(lambda: client.is_ready())
        pids = [p.pid for p in psutil.Process(program.pid).children(recursive=True)]
        assert int(note.read_text()) in pids
        assert len(pids) == 3
        yield program, pids
    finally:
        for pid in [program.pid, *pids]:
            if process_exists(pid):
                os.kill(pid, signal.SIGKILL)
        program.wait()


def test_nothing_outlives_a_killed_supervisor(tmp_path: Path, spec: Spec) -> None:
    with running(tmp_path) as (program, pids):
        program.kill()
        program.wait()
        run = RunFolder(tmp_path / "data")
        # Its files are still there, and count for nothing.
        assert json.loads((run.path / "supervisor.json").read_text())["pid"] == program.pid
        assert not run.is_running()
        # The next supervisor waits until the leftovers are gone.
        supervisor = Supervisor(run)
        supervisor.open()
        try:
            assert not any(process_exists(pid) for pid in pids)
            supervisor.start([spec("two")])
            assert supervisor.get("two").status().state is State.READY
        finally:
            supervisor.close()


def test_an_orderly_end_leaves_nothing_either(tmp_path: Path) -> None:
    with running(tmp_path) as (program, pids):
        program.send_signal(signal.SIGTERM)
        assert program.wait(timeout=11) == 0
        wait_until(lambda: not any(process_exists(pid) for pid in pids), timeout_s=5)


def test_a_killed_watchdog_is_replaced_before_the_next_start(
    supervisor: Supervisor, spec: Spec
) -> None:
    supervisor.start([spec("one")])
    watchdog = supervisor.run.last_group()
    assert watchdog
    os.kill(watchdog, signal.SIGKILL)
    first = supervisor.get("one").status().pid
    assert first
    supervisor.get("one").kill()
    wait_until(lambda: supervisor.get("one").status().restarts == 1)
    wait_until(lambda: supervisor.get("one").status().state is State.READY)
    names = [p.cmdline()[-1] for p in psutil.Process().children() if p.is_running() and p.cmdline()]
    assert any(name.endswith("watchdog.py") for name in names)


def test_the_end_may_come_while_processes_start(run: RunFolder, spec: Spec) -> None:
    def make() -> list[object]:
        foreground.end()
        return [spec("slow", ready=lambda: False)]

    foreground = Foreground(Supervisor(run), make)  # type: ignore[arg-type]
    foreground.run()
    assert not run.is_running()
