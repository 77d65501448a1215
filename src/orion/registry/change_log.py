"""Where changes go and come back from: the contract of the registry's log, and one in memory."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
Pair = tuple[bytes | None, bytes | None]


class ChangeLog(Protocol):
    """An ordered log that every server reads whole and one at a time writes."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held while the state is looked at, so that no change comes in between."""

    def open(self) -> None:
        """Read the log to its end; called once, before anything else."""

    def close(self) -> None:
        """Stop reading."""

    def decide(self, make: Callable[[], tuple[Sequence[Pair], Result]]) -> Result:
        """Return what `make` answers, once the records it gives are stored and read back.

        `make` sees the newest state and may be called more than once.
        """


class MemoryLog:
    """A log that lives as long as its process; for tests of schemas without a broker."""

    def __init__(self, apply: Callable[[bytes | None, bytes | None], None]) -> None:
        self._apply = apply
        self.lock = threading.RLock()
        self.pairs: list[Pair] = []

    def open(self) -> None:
        """Begin with nothing."""

    def close(self) -> None:
        """End with nothing."""

    def decide(self, make: Callable[[], tuple[Sequence[Pair], Result]]) -> Result:
        """Keep the records and apply them at once."""
        with self.lock:
            pairs, result = make()
            for key, value in pairs:
                self.pairs.append((key, value))
                self._apply(key, value)
            return result
