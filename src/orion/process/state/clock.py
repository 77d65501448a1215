"""How far time has come, judged by the slowest of the inputs that have spoken."""

from typing import Any

from orion.process.state.store import StateStore

_KEY = "$clock"


class Clock:
    """The event time of one partition of keys.

    Each input partition has come as far as its latest record; the clock shows the least of them,
    so that an old topic read from its beginning gives the same windows as a live one.
    """

    def __init__(self, state: StateStore) -> None:
        self._state = state
        kept: dict[str, Any] = state.get(_KEY) or {"latest": {}, "late": 0}
        self._latest: dict[str, int] = dict(kept["latest"])
        self.late_records = int(kept["late"])
        self.now_ms = min(self._latest.values(), default=-1)

    def advance(self, origin: str, time_ms: int) -> int:
        """Take a record's time and return what the clock shows then."""
        known = self._latest.get(origin)
        if known is None or time_ms > known:
            self._latest[origin] = time_ms
            self.now_ms = time_ms if len(self._latest) == 1 else min(self._latest.values())
        return self.now_ms

    def drop(self) -> None:
        """Count a record that came too late."""
        self.late_records += 1

    def keep(self) -> None:
        """Make the time part of the state."""
        self._state.put(_KEY, {"latest": self._latest, "late": self.late_records})
