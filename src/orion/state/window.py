"""The windows that a moment falls into, and when they close."""

from collections.abc import Iterator
from dataclasses import dataclass

# How long a window waits for late records when a statement does not say; ksqlDB's rule.
DEFAULT_GRACE_MS = 86_400_000


@dataclass(frozen=True)
class TimeWindows:
    """Windows of one size that begin every `advance_ms`; the same as the size: they tumble."""

    size_ms: int
    advance_ms: int
    grace_ms: int = DEFAULT_GRACE_MS

    def starts(self, time_ms: int) -> Iterator[int]:
        """Yield the beginnings of the windows of a moment, the earliest first.

        >>> list(TimeWindows(30, 15).starts(40)), list(TimeWindows(30, 15).starts(5))
        ([15, 30], [0])
        """
        first = max(0, time_ms - self.size_ms + self.advance_ms) // self.advance_ms
        start = first * self.advance_ms
        while start <= time_ms:
            yield start
            start += self.advance_ms

    def due(self, start: int) -> int:
        """Return the moment from which a window takes no more records."""
        return start + self.size_ms + self.grace_ms


@dataclass(frozen=True)
class SessionWindows:
    """Windows that last while records come no further apart than the gap."""

    gap_ms: int
    grace_ms: int = DEFAULT_GRACE_MS

    def due(self, end: int) -> int:
        """Return the moment from which no record can reach a session any more."""
        return end + self.gap_ms + self.grace_ms + 1
