"""One supervised process: a thread that starts it, waits for it, and starts it again."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from orion.supervise.errors import StartError
from orion.supervise.group import ProcessGroup
from orion.supervise.logfile import log_path, open_log, read_tail
from orion.supervise.spec import ProcessSpec, ProcessStatus, State

_POLL_S = 0.1
_TAIL_LINES = 15
_RESTING = (State.STOPPED, State.FAILED)


class SupervisedProcess:
    """Keep one process in the wanted state; its methods may be called from any thread."""

    def __init__(
        self,
        spec: ProcessSpec,
        group: ProcessGroup,
        *,
        logs: Path,
        on_change: Callable[[ProcessStatus], None] | None = None,
    ) -> None:
        self.spec = spec
        self._group, self._logs, self._on_change = group, logs, on_change
        self._changed = threading.Condition()
        self._state = State.STOPPED
        self._wanted = False
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._started_at = 0.0
        self._restarts = 0
        self._last_exit: str | None = None

    def start(self) -> None:
        """Begin to keep the process running; returns at once."""
        with self._changed:
            if self._wanted:
                return
            self._wanted = True
            self._restarts = 0
            previous, self._state = self._thread, State.STARTING
            self._thread = threading.Thread(target=self._run, args=(previous,), daemon=True)
            self._thread.start()

    def wait_ready(self, timeout_s: float | None = None) -> None:
        """Wait for readiness; raise with the end of the log when it does not come."""
        limit = self.spec.ready_timeout_s if timeout_s is None else timeout_s
        with self._changed:
            first_restart = self._restarts
            done = self._changed.wait_for(
                lambda: self._state not in (State.STARTING,) or self._restarts > first_restart,
                limit,
            )
            if self._state is State.READY:
                return
            reason = self._last_exit if done else f"not ready after {limit:.0f}s"
        path = log_path(self._logs, self.spec.name)
        tail = read_tail(path, _TAIL_LINES)
        raise StartError(self.spec.name, reason or str(self._state), log=path, tail=tail)

    def stop(self, *, grace_s: float) -> None:
        """Ask the process to end, kill it after the grace, and wait until it is gone."""
        with self._changed:
            self._wanted = False
            self._changed.notify_all()
            self._signal(self.spec.stop_signal)
            if self._changed.wait_for(lambda: self._state in _RESTING, grace_s):
                return
            self._signal(signal.SIGKILL)
            self._changed.wait_for(lambda: self._state in _RESTING, 5.0)

    def kill(self) -> None:
        """Kill the process as a crash would; it is then restarted like after one."""
        with self._changed:
            self._signal(signal.SIGKILL)

    def status(self) -> ProcessStatus:
        """Return what is known now."""
        with self._changed:
            process = self._process
            pid = process.pid if process else None
            return ProcessStatus(
                name=self.spec.name,
                state=self._state,
                pid=pid,
                ports=self.spec.ports,
                uptime_s=time.monotonic() - self._started_at if process else None,
                restarts=self._restarts,
                last_exit=self._last_exit,
                memory_bytes=_memory_bytes(pid) if pid else None,
                required=self.spec.required,
            )

    def _run(self, previous: threading.Thread | None) -> None:
        if previous:
            previous.join()
        while self._wanted:
            try:
                with open_log(self._logs, self.spec.name) as output:
                    process = self._group.start(
                        self.spec.argv, env=self.spec.env, cwd=self.spec.cwd, output=output
                    )
            except OSError as error:
                self._end(f"cannot run {self.spec.argv[0]}: {error.strerror}", failed=True)
                return
            with self._changed:
                self._process, self._started_at = process, time.monotonic()
                # A stop that came while the process was being made found nothing to signal.
                if not self._wanted:
                    self._signal(self.spec.stop_signal)
            self._enter(State.STARTING)
            reason = self._wait_until_ready(process)
            code = process.wait()
            self._process = None
            if not self._prepare_restart(reason or _exit_text(code), succeeded=code == 0):
                return
        self._end(self._last_exit, failed=False)

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> str | None:
        """Ask for readiness while the process lives; return why it was killed, if it was."""
        deadline = time.monotonic() + self.spec.ready_timeout_s
        while process.poll() is None:
            if not self.spec.ready or self.spec.ready():
                if process.poll() is None and self._wanted:
                    self._enter(State.READY)
                return None
            if time.monotonic() > deadline:
                process.kill()
                return f"not ready after {self.spec.ready_timeout_s:.0f}s"
            with self._changed:
                self._changed.wait_for(lambda: not self._wanted, _POLL_S)
                if not self._wanted:
                    return None
        return None

    def _prepare_restart(self, reason: str, *, succeeded: bool) -> bool:
        """Wait out the back-off; return False when the process is to stay down."""
        policy = self.spec.restart
        if not self._wanted:
            # An end that was asked for is no news: the last one that was not is kept.
            self._end(self._last_exit, failed=False)
            return False
        with self._changed:
            self._last_exit = reason
            if time.monotonic() - self._started_at >= policy.stable_after_s:
                self._restarts = 0
            tries, spent = self._restarts, policy.max_restarts
        if succeeded and not policy.after_success:
            self._end(reason, failed=False)
            return False
        if spent is not None and tries >= spent:
            self._end(reason, failed=True)
            return False
        self._restarts += 1
        self._enter(State.BACKING_OFF)
        with self._changed:
            self._changed.wait_for(lambda: not self._wanted, policy.delay_s(tries))
        return True

    def _end(self, reason: str | None, *, failed: bool) -> None:
        with self._changed:
            self._wanted, self._last_exit = False, reason
        self._enter(State.FAILED if failed else State.STOPPED)

    def _enter(self, state: State) -> None:
        with self._changed:
            self._state = state
            # Told before anyone who waits goes on, so that changes are told in order.
            if self._on_change:
                self._on_change(self.status())
            self._changed.notify_all()

    def _signal(self, number: int) -> None:
        if self._process:
            self._process.send_signal(number)


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"killed by {signal.Signals(-code).name}"


def _memory_bytes(pid: int) -> int | None:
    """Return the resident memory of a process and its descendants."""
    try:
        root = psutil.Process(pid)
        return sum(p.memory_info().rss for p in (root, *root.children(recursive=True)))
    except psutil.Error:
        return None


def process_exists(pid: int) -> bool:
    """Tell whether a process runs under that pid and is no zombie."""
    try:
        os.kill(pid, 0)
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except (OSError, psutil.Error):
        return False
