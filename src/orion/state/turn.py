"""The turns of records: their times, but none before that of a record ahead in its partition."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from orion.state.columns.fact import place_column

_NEVER = -(1 << 63)


class Turns:
    """Gives the records of one partition their turns, batch by batch as they lie in it."""

    def __init__(self) -> None:
        self._latest = _NEVER

    def take(self, times: pa.Array) -> pa.Array:
        """Return the turn of each record; one without a time takes that of the record ahead."""
        if len(times) == 0:
            return times
        own = pc.fill_null(times, _NEVER).to_numpy()
        turns = np.maximum(np.maximum.accumulate(own), self._latest)
        self._latest = int(turns[-1])
        return pa.array(turns)

    def take_places(self, places: pa.ListArray) -> pa.ListArray:
        """Return places that begin with the record's time as places that begin with its turn."""
        if len(places) == 0:
            return places
        flat = places.flatten().to_numpy().reshape(len(places), -1).copy()
        flat[:, 0] = self.take(pa.array(flat[:, 0]))
        return place_column(flat)


def turns_of_task() -> Callable[[pa.Array], pa.Array]:
    """Return the function from times to turns, for a task that reads one partition."""
    # Each task unpacks a copy of its own.
    turns = Turns()

    def take(times: pa.Array) -> pa.Array:
        return turns.take(times)

    return take
