"""Run a supervisor in this process until a signal or a command ends it."""

import signal
import threading
from collections.abc import Callable, Iterable
from types import FrameType

from orion.model import OrionError
from orion.supervise.preflight import disk_error
from orion.supervise.server import ControlServer
from orion.supervise.spec import ProcessSpec
from orion.supervise.supervisor import Supervisor

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Foreground:
    """Start everything, wait for the end, stop everything; used from the main thread.

    Args:
        make_specs: Called once the project is locked, so it may prepare storage.
        on_ready: Called when every required process is ready.
        on_stop: Called when the end was asked for, before the processes stop.

    """

    def __init__(
        self,
        supervisor: Supervisor,
        make_specs: Callable[[], Iterable[ProcessSpec]],
        *,
        on_ready: Callable[[], None] = lambda: None,
        on_stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._supervisor, self._make_specs = supervisor, make_specs
        self._on_ready, self._on_stop = on_ready, on_stop
        self._over = threading.Event()
        self._problem: OrionError | None = None

    def run(self) -> None:
        """Return after an orderly end; raise what kept the processes from starting."""
        previous = {number: signal.signal(number, self._signalled) for number in _ENDING}
        try:
            self._run()
        finally:
            for number, action in previous.items():
                signal.signal(number, action)
        if self._problem:
            raise self._problem

    def end(self) -> None:
        """Ask for the end; returns at once, from any thread."""
        self._over.set()

    def _run(self) -> None:
        self._supervisor.open()
        try:
            control = ControlServer(self._supervisor, on_shutdown=self.end)
            starter = threading.Thread(target=self._start, args=(control,))
            starter.start()
            self._over.wait()
            if not self._problem:
                self._on_stop()
            # Answers until the end: `orion down` watches the processes go.
            self._supervisor.close_processes()
            starter.join()
            control.close()
        finally:
            self._supervisor.close()

    def _start(self, control: ControlServer) -> None:
        try:
            self._supervisor.start(self._make_specs())
            control.ready = True
            self._on_ready()
        except OSError as error:
            self._problem = disk_error(self._supervisor.run.data_dir, error)
        except OrionError as error:
            # A process that ended because the end was asked for is no problem.
            if not self._over.is_set():
                self._problem = error
        finally:
            if not control.ready:
                self.end()

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        self.end()
