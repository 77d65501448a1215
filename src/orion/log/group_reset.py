"""Where a group is moved to: the plan is made here, from offsets alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from orion.log.offset import Bounds, PartitionKey
from orion.model import InvalidInputError


@dataclass(frozen=True)
class ResetTarget:
    """Where to move; the number is an offset, a distance in records or epoch milliseconds."""

    kind: Literal["earliest", "latest", "offset", "shift", "datetime"]
    number: int = 0


@dataclass(frozen=True)
class Move:
    """A new committed offset of one partition; clamped where the log does not reach the target."""

    topic: str
    partition: int
    current: int | None
    new: int
    clamped: bool = False

    @property
    def difference(self) -> int | None:
        """Records skipped (above 0) or read again (below 0)."""
        return None if self.current is None else self.new - self.current


class UncommittedShiftError(InvalidInputError):
    """Raised when a group is to be shifted where it has no offset."""

    def __init__(self, topic: str, partition: int) -> None:
        self.topic, self.partition = topic, partition
        super().__init__(
            f"The group has no offset in partition {partition} of topic '{topic}' to shift from.",
            fix="Use --to-earliest, --to-latest, --to-offset or --to-datetime.",
        )


def plan_moves(
    target: ResetTarget,
    bounds: Mapping[PartitionKey, Bounds],
    committed: Mapping[PartitionKey, int | None],
    instants: Mapping[PartitionKey, int],
) -> list[Move]:
    """Return one move a partition, kept inside the log.

    Args:
        target: Where to move.
        bounds: First offset and the one after the last, of the partitions to move.
        committed: Current offsets; a partition may be missing.
        instants: For a datetime, the first offset not before it; missing: after the last record.

    """
    moves = []
    for key, (first, last) in sorted(bounds.items()):
        current = committed.get(key)
        wished = _wish(target, key, (first, last), (current, instants.get(key, last)))
        new = min(max(wished, first), last)
        moves.append(Move(*key, current, new, clamped=new != wished))
    return moves


def _wish(
    target: ResetTarget, key: PartitionKey, bounds: Bounds, known: tuple[int | None, int]
) -> int:
    current, at_instant = known
    if target.kind == "shift":
        if current is None:
            raise UncommittedShiftError(*key)
        return current + target.number
    wishes = {"earliest": bounds[0], "latest": bounds[1], "offset": target.number}
    return wishes.get(target.kind, at_instant)
