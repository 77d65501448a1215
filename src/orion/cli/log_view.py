"""The logs of processes on the terminal: their ends, and what is added to them."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from orion.supervise import log_path, read_tail

_POLL_S = 0.2


class LogView:
    """Print the logs of some processes, each line with its process when there are several."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self._paths = {name: log_path(folder, name) for name in names}
        self._width = max((len(name) for name in names), default=0)
        self._positions = {name: _size(path) for name, path in self._paths.items()}
        self._inodes = {name: _inode(path) for name, path in self._paths.items()}

    def print_tail(self, lines: int) -> None:
        """Print the last lines of each log."""
        for name, path in self._paths.items():
            self._print(name, read_tail(path, lines))

    def follow(self) -> None:
        """Print new lines as they come, until interrupted; a log turned over is read on."""
        while True:
            for name, path in self._paths.items():
                self._print_new(name, path)
            time.sleep(_POLL_S)

    def _print_new(self, name: str, path: Path) -> None:
        inode, size = _inode(path), _size(path)
        if inode != self._inodes[name]:
            self._inodes[name], self._positions[name] = inode, 0
        if size <= self._positions[name]:
            return
        with path.open("rb") as file:
            file.seek(self._positions[name])
            content = file.read()
        # A line that is still being written is left for the next look.
        whole = content[: content.rfind(b"\n") + 1]
        self._positions[name] += len(whole)
        self._print(name, whole.decode(errors="replace").splitlines())

    def _print(self, name: str, lines: Sequence[str]) -> None:
        head = f"{name:<{self._width}} | " if len(self._paths) > 1 else ""
        sys.stdout.writelines(f"{head}{line}\n" for line in lines)
        sys.stdout.flush()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _inode(path: Path) -> int:
    return path.stat().st_ino if path.is_file() else 0
