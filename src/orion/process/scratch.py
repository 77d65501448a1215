"""The folders of temporary files, one for each Spark application."""

import os
import shutil
import tempfile
from pathlib import Path

from orion.supervise import process_exists

_LONGEST_SOCKET_PATH = 100  # the kernel's limit is 108
_SOCKET_NAME = "/.01234567-0123-0123-0123-0123456789ab.sock"


def own_scratch(parent: Path) -> Path:
    """Make this process's folder, and remove those that killed processes have left."""
    parent.mkdir(parents=True, exist_ok=True)
    for folder in parent.iterdir():
        if folder.name.isdecimal() and not process_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
    own = parent / str(os.getpid())
    own.mkdir(exist_ok=True)
    return own


def socket_folder(scratch: Path) -> Path:
    """Return where sockets go: a path that is too long cannot be bound."""
    fits = len(f"{scratch}{_SOCKET_NAME}") <= _LONGEST_SOCKET_PATH
    return scratch if fits else Path(tempfile.gettempdir())
