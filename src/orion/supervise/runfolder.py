"""The run folder of a project: who supervises it, where to talk to it, with which settings."""

import contextlib
import fcntl
import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from orion.supervise.errors import AlreadyRunningError, NotRunningError
from orion.supervise.preflight import disk_error

# The address of a unix socket holds 108 bytes on Linux and 104 on macOS, its end mark included.
_LONGEST_SOCKET_PATH = 100
_LOCK_TRIES = 10


@dataclass(frozen=True)
class RunFolder:
    """The files of one project's supervisor."""

    data_dir: Path

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.data_dir / "run"

    @property
    def logs(self) -> Path:
        """The folder of the logs, a file a process."""
        return self.data_dir / "logs"

    @property
    def apps(self) -> Path:
        """The file of the apps that are started with the platform."""
        return self.data_dir / "apps.json"

    def acquire(self) -> IO[str]:
        """Take the project until the returned file is closed or the process ends."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = self._lock.open("a+")
        except OSError as error:
            raise disk_error(self.path, error) from error
        # `is_running` of another command holds the lock for an instant, hence the tries.
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
            else:
                return file
        file.close()
        raise AlreadyRunningError(self.supervisor_pid())

    def is_running(self) -> bool:
        """Tell whether a living supervisor holds the project; stale files count for nothing."""
        if not self._lock.is_file():
            return False
        with self._lock.open("r") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def write_state(self, *, group: int, socket_path: Path, settings: Mapping[str, Any]) -> None:
        """Record the supervisor for clients and for the next supervisor."""
        body = {
            "pid": os.getpid(),
            "group": group,
            "socket": str(socket_path),
            "settings": dict(settings),
        }
        scratch = self._state.with_suffix(".new")
        scratch.write_text(json.dumps(body))
        scratch.replace(self._state)

    def supervisor_pid(self) -> int | None:
        """Return the pid of the last supervisor, running or not."""
        return self._read().get("pid")

    def last_group(self) -> int | None:
        """Return the process group of the last supervisor's children."""
        return self._read().get("group")

    def settings(self) -> dict[str, Any]:
        """Return the settings in force while a supervisor runs; nothing otherwise."""
        return dict(self._read().get("settings", {})) if self.is_running() else {}

    def socket_path(self) -> Path:
        """Return the socket of the running supervisor."""
        path = self._read().get("socket")
        if not path or not self.is_running():
            raise NotRunningError(self.data_dir.parent)
        return Path(path)

    def new_socket_path(self) -> Path:
        """Return where a new socket fits: the run folder, or a private temporary one."""
        self._remove_socket()
        path = self.path / "control.sock"
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
            return path
        return Path(tempfile.mkdtemp(prefix="orion-")) / "control.sock"

    def clear_state(self) -> None:
        """Forget the supervisor at its orderly end."""
        self._remove_socket()
        self._state.unlink(missing_ok=True)

    def _remove_socket(self) -> None:
        """Remove the last supervisor's socket, and its folder if that was a temporary one."""
        last = self._read().get("socket")
        if not last:
            return
        Path(last).unlink(missing_ok=True)
        if Path(last).parent != self.path:
            with contextlib.suppress(OSError):
                Path(last).parent.rmdir()

    @property
    def _lock(self) -> Path:
        return self.path / "supervisor.lock"

    @property
    def _state(self) -> Path:
        return self.path / "supervisor.json"

    def _read(self) -> dict[str, Any]:
        try:
            body = json.loads(self._state.read_text())
        except (OSError, ValueError):
            return {}
        return body if isinstance(body, dict) else {}
