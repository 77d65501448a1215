"""The log file of each process: opened for appending, turned over when large, read from its end."""

import os
from pathlib import Path
from typing import IO

LARGEST_BYTES = 16 << 20
_BLOCK = 64 << 10


def open_log(folder: Path, name: str) -> IO[bytes]:
    """Open a process's log for appending; one that grew large becomes `<name>.log.1` first."""
    folder.mkdir(parents=True, exist_ok=True)
    path = log_path(folder, name)
    if path.exists() and path.stat().st_size > LARGEST_BYTES:
        path.replace(path.with_name(path.name + ".1"))
    return path.open("ab")


def log_path(folder: Path, name: str) -> Path:
    """Return where a process's log is kept."""
    return folder / f"{name}.log"


def read_tail(path: Path, lines: int) -> list[str]:
    """Return the last lines of a log, reading no more of it than needed."""
    if not path.is_file() or lines <= 0:
        return []
    content = b""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        while position and content.count(b"\n") <= lines:
            step = min(_BLOCK, position)
            position = file.seek(position - step)
            content = file.read(step) + content
    return content.decode(errors="replace").splitlines()[-lines:]
