"""One process group for all children, led by the watchdog, so that none outlives the supervisor."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from orion.supervise import watchdog


class ProcessGroup:
    """Start processes inside the watchdog's group."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchdog = _start_watchdog(0)
        self.id = self._watchdog.pid

    def start(
        self, argv: tuple[str, ...], *, env: Mapping[str, str], cwd: Path | None, output: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start a process that joins the group between fork and exec."""
        with self._lock:
            if self._watchdog.poll() is not None:
                self._replace_watchdog()
            return subprocess.Popen(
                argv,
                env={**os.environ, **env},
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                process_group=self.id,
            )

    def close(self, *, grace_s: float) -> None:
        """Let the watchdog end what is left, grandchildren included; kill after the grace."""
        if self._watchdog.stdin:
            self._watchdog.stdin.close()
        self._watchdog.wait()
        deadline = time.monotonic() + grace_s
        try:
            while time.monotonic() < deadline:
                os.killpg(self.id, 0)
                time.sleep(0.02)
            os.killpg(self.id, signal.SIGKILL)
        except ProcessLookupError:
            return

    def _replace_watchdog(self) -> None:
        """Put a new watchdog into the group, or into a new one when the group is empty."""
        if self._watchdog.stdin:
            self._watchdog.stdin.close()
        try:
            os.killpg(self.id, 0)
            self._watchdog = _start_watchdog(self.id)
        except ProcessLookupError:
            self._watchdog = _start_watchdog(0)
            self.id = self._watchdog.pid


def group_is_alive(group: int) -> bool:
    """Tell whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # The number now belongs to someone else's processes.
        return False
    return True


def _start_watchdog(group: int) -> subprocess.Popen[bytes]:
    # Without site packages and PYTHON* variables it starts in milliseconds and stays small.
    return subprocess.Popen(
        [sys.executable, "-S", "-E", watchdog.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        process_group=group,
    )
