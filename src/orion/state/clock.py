"""How far time has come, judged by the slowest partition of a topic."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from orion.state.fact import Facts
from orion.state.late import late_row
from orion.state.store import StateStore

_KEY = "$clock"
_NEVER = -(1 << 62)


class Clock:
    """The event time of one partition of keys.

    Each input partition has come as far as its latest record, a topic as far as the slowest of its
    partitions: so an old topic read from its beginning gives the same windows as a live one. Where
    two topics meet, the one that is ahead shows the time.
    """

    def __init__(self, state: StateStore) -> None:
        self._state = state
        kept: dict[str, Any] = state.get(_KEY) or {"latest": {}, "late": 0}
        self._latest: dict[str, int] = dict(kept["latest"])
        self.late_records = int(kept["late"])
        self.now_ms = self._now()

    def advance(self, origin: str, time_ms: int) -> int:
        """Take a record's time and return what the clock shows then."""
        known = self._latest.get(origin)
        if known is None or time_ms > known:
            self._latest[origin] = time_ms
            self.now_ms = time_ms if len(self._latest) == 1 else self._now()
        return self.now_ms

    def advance_all(self, origins: pa.Array, times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Take the times of many records and return what the clock shows behind each."""
        encoded = origins.dictionary_encode()
        codes = encoded.indices.to_numpy()
        own = {name: code for code, name in enumerate(encoded.dictionary.to_pylist())}
        topics: dict[str, npt.NDArray[np.int64]] = {}
        for origin in {**self._latest, **own}:
            known = self._latest.get(origin, _NEVER)
            shown = np.where(codes == own.get(origin, -1), times, _NEVER)
            reached = np.maximum(np.maximum.accumulate(shown), known)
            if reached[-1] > _NEVER:
                self._latest[origin] = int(reached[-1])
            topic = origin.rpartition("/")[0]
            # A partition that has shown nothing yet holds nothing up.
            reached = np.where(reached == _NEVER, -_NEVER, reached)
            topics[topic] = np.minimum(topics.get(topic, reached), reached)
        found = np.full(len(times), -1)
        for reached in topics.values():
            found = np.maximum(found, np.where(reached == -_NEVER, -1, reached))
        self.now_ms = int(found[-1])
        return found

    def _now(self) -> int:
        topics: dict[str, int] = {}
        for origin, latest in self._latest.items():
            topic = origin.rpartition("/")[0]
            topics[topic] = min(latest, topics.get(topic, latest))
        return max(topics.values(), default=-1)

    def drop(self, row: Facts, closed_ms: int, now_ms: int, rows: int = 1) -> None:
        """Count a row that came too late, and note it where that is asked for.

        Args:
            closed_ms: The end of the window that it missed.
            now_ms: What the clock showed behind it.
            rows: How many it stands for.
        """
        self.late_records += rows
        if self._state.notes_late:
            late = late_row(row.origin, row.sequence, row.time_ms, closed_ms, now_ms)
            self._state.note_late([late])

    def drop_all(
        self,
        origins: pa.Array,
        sequences: pa.Array,
        times: npt.NDArray[np.int64],
        closed: npt.NDArray[np.int64],
        now: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Count rows that came too late, as `drop` does; columns of only those rows."""
        self.late_records += len(times) if rows is None else int(rows.sum())
        if self._state.notes_late:
            plain = (origins.to_pylist(), sequences.to_pylist())
            found = zip(*plain, times.tolist(), closed.tolist(), now.tolist(), strict=True)
            self._state.note_late(late_row(*row) for row in found)

    def keep(self) -> None:
        """Make the time part of the state."""
        self._state.put(_KEY, {"latest": self._latest, "late": self.late_records})
        # Of a partition without records nothing is known, and it must not hold the others up.
        self._state.note(self.late_records, self.now_ms if self._latest else None)
