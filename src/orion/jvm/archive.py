"""Classes as a first run has left them: later JVMs map them instead of reading them from jars."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from orion.jvm.java import Java

# Those of Kafka (50 MB) and of Spark (170 MB) for the two environments that were used last.
_MOST_KEPT = 4
# A JVM's own words go to its standard output otherwise, which is the user's.
_QUIET = "-Xlog:disable"
_SHORT_LIVED = "-XX:TieredStopAtLevel=1"
_WARNINGS = "-Xlog:all=warning:stderr"


class ClassArchive:
    """The archive of one class path and one java, in a folder that projects share.

    A JVM that finds it does not fit, a jar having changed, starts without it.
    """

    def __init__(self, folder: Path, java: Java, class_path: Sequence[Path]) -> None:
        self._folder = folder
        self.path = folder / f"{_digest(java, class_path)}.jsa"

    def is_there(self) -> bool:
        """Tell whether a first run has left it."""
        return self.path.is_file()

    def options(self) -> tuple[str, ...]:
        """Return what tells a JVM to use it; nothing if it is not there."""
        if not self.is_there():
            return ()
        # The ones that were used last are kept.
        with suppress(OSError):
            os.utime(self.path)
        return (f"-XX:SharedArchiveFile={self.path}", _QUIET, _WARNINGS)

    @contextmanager
    def making(self) -> Iterator[tuple[str, ...]]:
        """Give what tells a JVM to leave the archive at its end, which must be behind the block."""
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(f".{os.getpid()}")
        try:
            yield (f"-XX:ArchiveClassesAtExit={fresh}", _QUIET, _SHORT_LIVED)
            if fresh.is_file():
                os.replace(fresh, self.path)
                self._remove_others()
        finally:
            fresh.unlink(missing_ok=True)

    def _remove_others(self) -> None:
        found = sorted(self._folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime)
        for path in found[:-_MOST_KEPT]:
            path.unlink(missing_ok=True)


def _digest(java: Java, class_path: Sequence[Path]) -> str:
    found = hashlib.sha256(f"{os.path.realpath(java.path)} {java.version}\n".encode())
    for path in class_path:
        # A jar that has not been fetched yet leaves an archive that nobody has.
        facts = path.stat() if path.exists() else None
        seen = "" if facts is None else f"{facts.st_size} {facts.st_mtime_ns}"
        found.update(f"{path} {seen}\n".encode())
    return found.hexdigest()[:24]
