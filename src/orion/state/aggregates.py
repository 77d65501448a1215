"""The aggregates of a group, taken together row by row."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from orion.model import Array, Map, Struct
from orion.sql import Aggregation, step

# What these give depends on which row came first, not on which happened first.
_BY_ARRIVAL = ("EARLIEST_BY_OFFSET", "LATEST_BY_OFFSET")
_CHANGEABLE = (Array, Map, Struct)


class Aggregates:
    """The aggregates of a group, as one state."""

    def __init__(self, calls: Sequence[step.AggregateCall]) -> None:
        self._parts: list[Aggregation] = [call.aggregation() for call in calls]
        # A user's own may give its state as it is, and change it with the next row.
        self._copied = [
            at
            for at, call in enumerate(calls)
            if not call.function.function.is_built_in
            and isinstance(call.function.returns, _CHANGEABLE)
        ]
        self._by_arrival = [call.function.name in _BY_ARRIVAL for call in calls]

    def initial(self) -> list[Any]:
        """Return the state of a group without rows."""
        return [part.initial() for part in self._parts]

    def add(self, states: list[Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Return the state with a row added."""
        zipped = zip(self._parts, states, arguments, strict=True)
        return [part.add(state, *given) for part, state, given in zipped]

    def undo(self, states: list[Any], arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Return the state with a row taken out."""
        zipped = zip(self._parts, states, arguments, strict=True)
        return [part.undo(state, *given) if part.undo else state for part, state, given in zipped]

    def merge(self, by_arrival: Sequence[list[Any]], by_time: Sequence[list[Any]]) -> list[Any]:
        """Return the state of several groups together, which are given in two orders."""
        merged = self.initial()
        for at, (part, arrived) in enumerate(zip(self._parts, self._by_arrival, strict=True)):
            for states in by_arrival if arrived else by_time:
                merged[at] = part.merge(merged[at], states[at])
        return merged

    def results(self, states: list[Any]) -> list[Any]:
        """Return the values of a state."""
        found = [part.result(state) for part, state in zip(self._parts, states, strict=True)]
        for at in self._copied:
            found[at] = deepcopy(found[at])
        return found
