"""Records that a query was to read and its topics no longer hold: found, and named."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orion.log import Connection, GroupNotFoundError, Groups, Offsets, TopicNotFoundError, Topics
from orion.model import ConflictError, format_count

# As Spark's source and Kafka's consumer tell of it.
_LOSS = re.compile(r"KAFKA_DATA_LOSS|data may have been lost|is out of range for partition")
_MOST_NAMED = 5


@dataclass(frozen=True)
class Gap:
    """Records of a partition that are gone.

    Args:
        first: The offset that the query would have read next.
        start: The first that is still there; before `first` where the topic was made anew.
    """

    topic: str
    partition: int
    first: int
    start: int

    @property
    def records(self) -> int:
        """How many offsets are gone; 0 where the topic was made anew."""
        return max(0, self.start - self.first)

    def __str__(self) -> str:
        """Return the place in words.

        >>> str(Gap("plays", 0, 5, 7)), str(Gap("plays", 1, 5, 6)), str(Gap("plays", 2, 9, 0))
        ('plays/0 offsets 5 to 6', 'plays/1 offset 5', 'plays/2, which ends before offset 9')
        """
        place = f"{self.topic}/{self.partition}"
        match self.records:
            case 0:
                return f"{place}, which ends before offset {self.first}"
            case 1:
                return f"{place} offset {self.first}"
            case _:
                return f"{place} offsets {self.first} to {self.start - 1}"


class RecordsLostError(ConflictError):
    """Raised when a query cannot go on without leaving records out."""

    def __init__(self, query: str, gaps: Sequence[Gap], *, by_order: bool) -> None:
        self.query, self.gaps = query, gaps
        places = ", ".join(map(str, gaps[:_MOST_NAMED]))
        if len(gaps) > _MOST_NAMED:
            places += f" and {len(gaps) - _MOST_NAMED} more partitions"
        if any(not gap.records for gap in gaps):
            what = f"A topic was deleted and made anew while query '{query}' read it: {places}."
            fix = f"Read it from its beginning with: orion queries rebuild {query}"
            if not by_order:
                fix = "Give the query another name=… in the app: it reads its topics anew."
        else:
            count = format_count(sum(gap.records for gap in gaps))
            what = f"Query '{query}' was to read records that are gone: {places}; {count} in all."
            fix = f"Go on without them with: orion queries restart {query} --skip-lost"
            if not by_order:
                fix = "Go on without them with options={'failOnDataLoss': 'false'} in orion.stream."
        super().__init__(what, fix=fix)


def tells_of_loss(error: BaseException) -> bool:
    """Tell whether Spark has failed for want of records."""
    return _LOSS.search(str(error)) is not None


def find_gaps(connection: Connection, query: str, checkpoint: str) -> list[Gap]:
    """Return what a query has not read and its topics no longer hold."""
    noted, done = _noted_offsets(checkpoint), committed_offsets(connection, query)
    topics, gaps = Topics(connection), []
    for topic in sorted({*noted, *done}):
        offsets = {**noted.get(topic, {}), **done.get(topic, {})}
        try:
            partitions = topics.get(topic).partitions
        except TopicNotFoundError:
            continue
        for part in partitions:
            first = offsets.get(part.number)
            if first is None or part.start_offset is None or part.end_offset is None:
                continue
            if not part.start_offset <= first <= part.end_offset:
                gaps.append(Gap(topic, part.number, first, part.start_offset))
    return gaps


def committed_offsets(connection: Connection, query: str) -> Offsets:
    """Return how far a query has come in its topics."""
    try:
        group = Groups(connection).get(query)
    except GroupNotFoundError:
        return {}
    found: dict[str, dict[int, int]] = {}
    for part in group.partitions:
        if part.committed is not None:
            found.setdefault(part.topic, {})[part.partition] = part.committed
    return found


def _noted_offsets(checkpoint: str) -> Offsets:
    """Return where Spark's last batch ended, or its sources began; unknown if that is remote.

    Kafka forgets a group's offsets when a topic is deleted; a checkpoint does not.
    """
    found: dict[str, dict[int, int]] = {}
    if "://" in checkpoint:
        return found
    done = [path.name for path in Path(checkpoint, "commits").glob("*") if path.name.isdecimal()]
    first = sorted(Path(checkpoint, "sources").glob("*/0"))
    last = [Path(checkpoint, "offsets", max(done, key=int))] if done else []
    for path in (*first, *last):
        # A version comes first, and in the batch's file what Spark notes beside the offsets.
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            for topic, offsets in json.loads(line).items():
                if isinstance(offsets, dict) and all(map(str.isdecimal, offsets)):
                    found[topic] = {int(number): int(value) for number, value in offsets.items()}
    return found
