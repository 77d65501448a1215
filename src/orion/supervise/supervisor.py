"""All processes of a project: started in order, kept running, stopped in reverse order."""

import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any

from orion.model import ConflictError, UnavailableError
from orion.supervise.appfile import AppSpec, read_apps, write_apps
from orion.supervise.errors import UnknownProcessError
from orion.supervise.group import ProcessGroup, group_is_alive
from orion.supervise.preflight import check_disk, hold_ports
from orion.supervise.process import SupervisedProcess
from orion.supervise.runfolder import RunFolder
from orion.supervise.spec import ProcessSpec, ProcessStatus

STOP_TOTAL_S = 9.0
# The last second before SIGKILL of the whole group is kept for grandchildren.
_GROUP_GRACE_S = 1.0
_LEFTOVER_WAIT_S = 7.0
OnChange = Callable[[ProcessStatus], None]


class Supervisor:
    """Own the processes of one project while the lock is held.

    Args:
        run: The run folder of the project.
        settings: What later commands must know to find the processes (ports, brokers).
        stop_total_s: How long the end of everything may take.
        on_change: Called from the thread of a process whenever its state changes.

    """

    def __init__(
        self,
        run: RunFolder,
        *,
        settings: Mapping[str, Any] | None = None,
        on_change: OnChange | None = None,
        stop_total_s: float = STOP_TOTAL_S,
    ) -> None:
        self.run = run
        self.stop_total_s = stop_total_s
        self._settings = dict(settings or {})
        self._on_change = on_change
        self._lock: IO[str] | None = None
        self._group: ProcessGroup | None = None
        self._changing = threading.RLock()
        self._processes: dict[str, SupervisedProcess] = {}
        self._held_ports: list[socket.socket] = []
        self._closing = False

    def open(self) -> None:
        """Take the project and get ready to start processes."""
        check_disk(self.run.data_dir)
        self._lock = self.run.acquire()
        self._wait_for_leftovers()
        self._group = ProcessGroup()
        self.socket_path = self.run.new_socket_path()
        self.run.write_state(
            group=self._group.id, socket_path=self.socket_path, settings=self._settings
        )

    def start(self, specs: Iterable[ProcessSpec]) -> None:
        """Start specs in their order; return when every required one is ready, or raise."""
        ordered = sorted(specs, key=lambda spec: spec.start_order)
        self._held_ports += hold_ports(ordered)
        for _, same in itertools.groupby(ordered, key=lambda spec: spec.start_order):
            for process in [self._add(spec) for spec in same]:
                if process.spec.required:
                    process.wait_ready()

    def get(self, name: str) -> SupervisedProcess:
        """Return a process by its name."""
        with self._changing:
            if name not in self._processes:
                raise UnknownProcessError(name, sorted(self._processes))
            return self._processes[name]

    def statuses(self) -> list[ProcessStatus]:
        """Return every process as it is now, in starting order."""
        with self._changing:
            return [process.status() for process in self._processes.values()]

    def add_app(self, app: AppSpec) -> ProcessStatus:
        """Start an app and remember it for the next run; a stopped one of that name is replaced."""
        with self._changing:
            known = self._processes.get(app.name)
            if known and (known.status().pid or known.spec.required):
                raise ConflictError(
                    f"A process named '{app.name}' is already running.",
                    fix="Choose another name, or stop it first.",
                )
            self._processes.pop(app.name, None)
            others = [other for other in read_apps(self.run.apps) if other.name != app.name]
            write_apps(self.run.apps, [*others, app])
            return self._add(app.to_process_spec()).status()

    def remove_app(self, name: str) -> None:
        """Stop an app and forget it."""
        process = self.get(name)
        if process.spec.required:
            raise ConflictError(
                f"Process '{name}' is a part of the platform.",
                fix="Stop the platform with: orion down",
            )
        process.stop(grace_s=self.stop_total_s)
        with self._changing:
            self._processes.pop(name, None)
            left = [other for other in read_apps(self.run.apps) if other.name != name]
            write_apps(self.run.apps, left)

    def close_processes(self) -> None:
        """Stop everything in reverse order within ten seconds; nothing can be started after."""
        deadline = time.monotonic() + self.stop_total_s - _GROUP_GRACE_S
        with self._changing:
            self._closing = True
            by_order = sorted(self._processes.values(), key=lambda p: -p.spec.order)
        levels = [list(same) for _, same in itertools.groupby(by_order, key=lambda p: p.spec.order)]
        for index, processes in enumerate(levels):
            # Each level may use its share of what is left, so that the last ones get time too.
            share_s = max(deadline - time.monotonic(), 0.0) / (len(levels) - index)
            _stop_together(processes, max(share_s, 0.5))

    def close(self) -> None:
        """Stop what still runs and free the project."""
        self.close_processes()
        if self._group:
            self._group.close(grace_s=_GROUP_GRACE_S)
        for held in self._held_ports:
            held.close()
        if self._lock:
            self.run.clear_state()
            self._lock.close()

    def _add(self, spec: ProcessSpec) -> SupervisedProcess:
        with self._changing:
            if self._group is None or self._closing:
                raise UnavailableError(
                    f"Process '{spec.name}' cannot be started: the supervisor is stopping.",
                    fix="Start the platform again with: orion up",
                )
            process = SupervisedProcess(
                spec, self._group, logs=self.run.logs, on_change=self._on_change
            )
            self._processes[spec.name] = process
            process.start()
        return process

    def _wait_for_leftovers(self) -> None:
        """Wait while the watchdog of a killed supervisor ends its processes."""
        group = self.run.last_group()
        deadline = time.monotonic() + _LEFTOVER_WAIT_S
        while group and group_is_alive(group) and time.monotonic() < deadline:
            time.sleep(0.05)


def _stop_together(processes: list[SupervisedProcess], grace_s: float) -> None:
    stoppers = [
        threading.Thread(target=process.stop, kwargs={"grace_s": grace_s}) for process in processes
    ]
    for stopper in stoppers:
        stopper.start()
    for stopper in stoppers:
        stopper.join()
