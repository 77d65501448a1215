"""The aggregates of a group, taken together row by row."""

from collections.abc import Sequence
from typing import Any

from orion.sql import Aggregation, step


class Aggregates:
    """The aggregates of a group, as one state."""

    def __init__(self, calls: Sequence[step.AggregateCall]) -> None:
        self._parts: list[Aggregation] = [call.aggregation() for call in calls]

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

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        """Return the state of two groups together."""
        zipped = zip(self._parts, one, other, strict=True)
        return [part.merge(left, right) for part, left, right in zipped]

    def results(self, states: list[Any]) -> list[Any]:
        """Return the values of a state."""
        return [part.result(state) for part, state in zip(self._parts, states, strict=True)]
