import signal
import socket
import time
from functools import partial
from pathlib import Path

import pytest

from orion.model import ConflictError
from orion.supervise import (
    AlreadyRunningError,
    PortTakenError,
    ProcessStatus,
    RestartPolicy,
    RunFolder,
    StartError,
    State,
    Supervisor,
    UnknownProcessError,
    free_ports,
    is_free,
    process_exists,
)
from orion.testing.wait import wait_until

from .conftest import Spec

STUBBORN = (
    "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); signal.pause()"
)


def pid_of(supervisor: Supervisor, name: str) -> int:
    found = wait_until(lambda: supervisor.get(name).status().pid, what=f"A pid of {name}")
    assert found is not None
    return found


def states(changes: list[ProcessStatus], name: str) -> list[State]:
    return [change.state for change in changes if change.name == name]


def test_a_process_is_ready_when_it_says_so(
    supervisor: Supervisor, spec: Spec, tmp_path: Path, changes: list[ProcessStatus]
) -> None:
    flag = tmp_path / "flag"
    code = f"import signal; open({str(flag)!r}, 'w').close(); signal.pause()"
    supervisor.start([spec("one", code, ready=flag.exists)])
    status = supervisor.get("one").status()
    assert (status.state, status.restarts, status.last_exit) == (State.READY, 0, None)
    assert status.memory_bytes
    assert states(changes, "one") == [State.STARTING, State.READY]


def test_a_killed_process_comes_back_and_is_counted(supervisor: Supervisor, spec: Spec) -> None:
    supervisor.start([spec("one")])
    first = pid_of(supervisor, "one")
    supervisor.get("one").kill()
    wait_until(lambda: supervisor.get("one").status().restarts == 1)
    wait_until(lambda: supervisor.get("one").status().state is State.READY)
    status = supervisor.get("one").status()
    assert status.pid != first
    assert status.last_exit == "killed by SIGKILL"
    assert not process_exists(first)


def test_restarts_end_with_the_policy(
    supervisor: Supervisor, spec: Spec, changes: list[ProcessStatus]
) -> None:
    policy = RestartPolicy(max_restarts=2, first_delay_s=0.01)
    supervisor.start([spec("one", "raise SystemExit(7)", restart=policy, required=False)])
    wait_until(lambda: supervisor.get("one").status().state is State.FAILED)
    assert supervisor.get("one").status().last_exit == "exit code 7"
    assert states(changes, "one").count(State.BACKING_OFF) == 2


def test_a_program_that_is_done_is_not_run_again(supervisor: Supervisor, spec: Spec) -> None:
    policy = RestartPolicy(after_success=False)
    supervisor.start([spec("one", "pass", restart=policy, required=False)])
    wait_until(lambda: supervisor.get("one").status().state is State.STOPPED)
    assert supervisor.get("one").status().restarts == 0


def test_the_delay_doubles_up_to_a_limit() -> None:
    policy = RestartPolicy(first_delay_s=0.5, longest_delay_s=4)
    assert [policy.delay_s(n) for n in range(5)] == [0.5, 1, 2, 4, 4]
    assert policy.delay_s(10_000) == 4


def test_a_process_that_ends_before_it_is_ready_fails_the_start_with_its_words(
    supervisor: Supervisor, spec: Spec
) -> None:
    code = "print('no such topic'); raise SystemExit(3)"
    with pytest.raises(StartError, match="exit code 3") as caught:
        supervisor.start([spec("one", code, ready=lambda: False)])
    assert "no such topic" in caught.value.tail


def test_a_process_that_never_gets_ready_fails_the_start(
    supervisor: Supervisor, spec: Spec
) -> None:
    with pytest.raises(StartError, match="not ready after"):
        supervisor.start([spec("one", ready=lambda: False, ready_timeout_s=0.2)])


def test_a_program_that_is_not_there_fails_by_name(supervisor: Supervisor, spec: Spec) -> None:
    from dataclasses import replace

    with pytest.raises(StartError, match="cannot run /no/such/program"):
        supervisor.start([replace(spec("one"), argv=("/no/such/program",))])


def test_processes_start_in_order_and_stop_in_reverse(
    run: RunFolder, spec: Spec, changes: list[ProcessStatus]
) -> None:
    supervisor = Supervisor(run, on_change=changes.append)
    supervisor.open()
    supervisor.start([spec("top", order=2), spec("bottom", order=0), spec("middle", order=1)])
    supervisor.close()
    ready = [c.name for c in changes if c.state is State.READY]
    stopped = [c.name for c in changes if c.state is State.STOPPED]
    assert ready == ["bottom", "middle", "top"]
    assert stopped == ["top", "middle", "bottom"]


def test_one_that_waits_by_itself_starts_early_and_still_stops_first(
    run: RunFolder, spec: Spec, changes: list[ProcessStatus]
) -> None:
    supervisor = Supervisor(run, on_change=changes.append)
    supervisor.open()
    started = partial(states, changes, "client")
    low = spec("log", order=1, ready=lambda: State.STARTING in started())
    supervisor.start([low, spec("client", order=2, starts_early=True)])
    supervisor.close()
    assert [c.name for c in changes if c.state is State.STOPPED] == ["client", "log"]


def test_one_that_ignores_the_signal_is_killed_in_time(run: RunFolder, spec: Spec) -> None:
    supervisor = Supervisor(run, stop_total_s=2.0)
    supervisor.open()
    supervisor.start([spec("deaf", STUBBORN)])
    pid = pid_of(supervisor, "deaf")
    log = run.logs / "deaf.log"
    wait_until(lambda: "up" in log.read_text())
    before = time.monotonic()
    supervisor.close()
    assert time.monotonic() - before < 4
    assert not process_exists(pid)


def test_a_grandchild_does_not_outlive_an_orderly_end(
    run: RunFolder, spec: Spec, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    code = (
        "import signal, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "signal.pause()"
    )
    supervisor = Supervisor(run)
    supervisor.open()
    supervisor.start([spec("parent", code)])
    grandchild = int(wait_until(lambda: note.exists() and note.read_text()) or 0)
    assert process_exists(grandchild)
    supervisor.close()
    wait_until(lambda: not process_exists(grandchild), timeout_s=10)


def test_a_stopped_process_stays_down_until_started(supervisor: Supervisor, spec: Spec) -> None:
    supervisor.start([spec("one")])
    process = supervisor.get("one")
    process.stop(grace_s=5)
    status = process.status()
    assert (status.state, status.pid, status.last_exit) == (State.STOPPED, None, None)
    process.start()
    process.wait_ready()
    assert process.status().state is State.READY


def test_a_stop_signal_of_its_own_is_used(run: RunFolder, spec: Spec, tmp_path: Path) -> None:
    note = tmp_path / "note"
    code = (
        "import signal\n"
        f"signal.signal(signal.SIGINT, lambda *_: (open({str(note)!r}, 'w').close(), exit(0)))\n"
        "print('up', flush=True)\nsignal.pause()"
    )
    supervisor = Supervisor(run)
    supervisor.open()
    supervisor.start([spec("one", code, stop_signal=signal.SIGINT)])
    wait_until(lambda: "up" in (run.logs / "one.log").read_text())
    supervisor.close()
    assert note.exists()


def test_a_second_supervisor_is_refused_with_the_pid_of_the_first(
    supervisor: Supervisor, run: RunFolder
) -> None:
    import os

    assert run.is_running()
    with pytest.raises(AlreadyRunningError, match=str(os.getpid())):
        Supervisor(run).open()


def test_settings_of_a_start_hold_while_it_runs(run: RunFolder) -> None:
    supervisor = Supervisor(run, settings={"kafka.ports": (9500,)})
    supervisor.open()
    assert run.settings() == {"kafka.ports": [9500]}
    supervisor.close()
    assert run.settings() == {}
    assert not run.is_running()


def test_a_taken_port_names_its_holder_and_the_flag(supervisor: Supervisor, spec: Spec) -> None:
    import os

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"pid {os.getpid()}") as caught:
            supervisor.start([spec("one", ports=(port,), port_flag="--port")])
    assert "--port" in (caught.value.fix or "")
    assert supervisor.statuses() == []


def test_a_port_is_kept_for_a_process_that_is_down(supervisor: Supervisor, spec: Spec) -> None:
    port = free_ports(1)[0]
    code = f"import signal, socket; s = socket.create_server(('127.0.0.1', {port})); signal.pause()"
    supervisor.start([spec("one", code, ports=(port,), ready=lambda: not is_free(port))])
    supervisor.get("one").stop(grace_s=5)
    # As the system binds the sockets of outgoing connections: without reuse.
    with socket.socket() as outgoing, pytest.raises(OSError, match="in use"):
        outgoing.bind(("127.0.0.1", port))
    supervisor.get("one").start()
    wait_until(lambda: supervisor.get("one").status().state is State.READY)


def test_an_unknown_name_suggests_the_nearest(supervisor: Supervisor, spec: Spec) -> None:
    supervisor.start([spec("broker-1")])
    with pytest.raises(UnknownProcessError, match="Did you mean 'broker-1'"):
        supervisor.get("broker1")


def test_parts_of_the_platform_cannot_be_removed(supervisor: Supervisor, spec: Spec) -> None:
    supervisor.start([spec("one")])
    with pytest.raises(ConflictError, match="orion down"):
        supervisor.remove_app("one")
