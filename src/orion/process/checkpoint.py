"""The checkpoint of a query: where it is, and that one driver at a time uses it."""

import fcntl
import os
import shutil
from pathlib import Path
from typing import IO

from orion.model import ConflictError


class CheckpointHeldError(ConflictError):
    """Raised when another process runs a query on the same checkpoint."""

    def __init__(self, query: str, path: str, holder: str) -> None:
        self.query, self.path, self.holder = query, path, holder
        super().__init__(
            f"Query '{query}' is already running: process {holder} holds its checkpoint at {path}.",
            fix=f"Stop it with: orion queries stop {query}",
        )


class Checkpoint:
    """A checkpoint folder, held by a lock that the kernel lets go when its holder dies.

    Spark's rename on a local disk is not atomic between two drivers, so two must never share one.
    A checkpoint on remote storage has no such lock; there Kafka's fencing stands alone.
    """

    def __init__(self, query: str, path: str) -> None:
        self.path = path
        self._query = query
        self._lock: IO[str] | None = None

    def hold(self) -> None:
        """Take the checkpoint, or say who has it."""
        if "://" in self.path:
            return
        folder = Path(self.path)
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "orion.lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise CheckpointHeldError(self._query, self.path, holder) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock

    def folder(self, name: str) -> Path | None:
        """Return a folder beside Spark's own, which tasks see as the driver does; None: remote."""
        return None if "://" in self.path else Path(self.path) / name

    def has_open_batch(self) -> bool:
        """Tell whether a run has left a batch that it had begun; not known of a remote one."""
        return last_number(self.path, "offsets") > last_number(self.path, "commits")

    def release(self) -> None:
        """Let another process use it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def last_number(path: str, log: str) -> int:
    """Return the last batch in one of the logs of a checkpoint; -1: none, or it is remote."""
    names = (found.name for found in Path(path, log).glob("*"))
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def remove_checkpoint(path: str) -> None:
    """Remove the progress of a query that will not come back; remote ones are left."""
    if "://" not in path:
        shutil.rmtree(path, ignore_errors=True)
