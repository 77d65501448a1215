"""The state of one SQL query on disk: there or lost, made anew from the log, told of."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.log import Offsets
from orion.model import ConflictError
from orion.process.checkpoint import last_number
from orion.sql import step, tree
from orion.state import (
    LateRow,
    StateMismatchError,
    StateSummary,
    read_late_rows,
    read_number,
    restore_fix,
    summarize_state,
    write_number,
)

_ANEW = "anew.json"
# The last batch that all operators have run.
_REACHED = "reached"


class StateLostError(ConflictError):
    """Raised when a query has come some way and its state is not there."""

    def __init__(self, query: str, path: str) -> None:
        self.query, self.path = query, path
        super().__init__(
            f"Query '{query}' has delivered batches, but its state is not at {path}.",
            fix=restore_fix(query),
        )


@dataclass(frozen=True)
class KeptState:
    """The folder of a query's state.

    Args:
        checkpoint: Where Spark notes what the query has done; empty: it is not looked at.
        late_topic: Where records that come too late go; empty: they are only counted.
    """

    query: str
    folder: Path
    checkpoint: str
    late_topic: str = ""

    def place(self, operator: int) -> str:
        """Return the folder of one operator."""
        return str(self.folder / str(operator))

    def require(self, operators: int) -> None:
        """Make the folders of a query that begins, and notice when those of another are gone."""
        # The last batch that Spark knows to be done.
        delivered = last_number(self.checkpoint, "commits") if self.checkpoint else -1
        for number in range(operators):
            path = Path(self.place(number))
            if delivered >= 0 and not path.is_dir():
                raise StateLostError(self.query, str(path))
            path.mkdir(parents=True, exist_ok=True)
        reached = read_number(self.folder / _REACHED, query=self.query)
        if operators and reached < delivered:
            raise StateMismatchError(str(self.folder), reached, delivered + 1, query=self.query)

    def note(self, batch: int) -> None:
        """Remember that a batch has run, before Spark does: state put back from a copy is older."""
        if self.folder.is_dir():
            write_number(self.folder / _REACHED, batch)

    def summary(self) -> StateSummary:
        """Return how much there is, and how far it has come."""
        return summarize_state(str(self.folder))

    def late_rows(self, batch: int) -> list[LateRow]:
        """Return what came too late in a batch that has run, but for what was told before."""
        done = self.done_before()
        rows = read_late_rows(str(self.folder), batch)
        return [r for r in rows if r.offset >= done.get(r.topic, {}).get(r.partition, 0)]

    def begin_anew(self, done: Offsets) -> None:
        """Drop the state; what was done before will be read again, and not written again.

        Args:
            done: How far the query has come in its topics.
        """
        # One that is made anew a second time had come further than it has now.
        known = self.done_before()
        for topic, partitions in done.items():
            own = known.setdefault(topic, {})
            for partition, offset in partitions.items():
                own[partition] = max(offset, own.get(partition, 0))
        self.folder.mkdir(parents=True, exist_ok=True)
        fresh = self.folder / f"{_ANEW}.new"
        fresh.write_text(json.dumps(known))
        # Remembered before anything is dropped: a kill in between loses nothing.
        os.replace(fresh, self.folder / _ANEW)
        (self.folder / _REACHED).unlink(missing_ok=True)
        for path in self.folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path)

    def done_before(self) -> dict[str, dict[int, int]]:
        """Return how far the query had come when its state was last dropped."""
        path = self.folder / _ANEW
        if not path.exists():
            return {}
        found = json.loads(path.read_text())
        return {t: {int(p): o for p, o in parts.items()} for t, parts in found.items()}


def is_news(done: Offsets, place: Column) -> Column:
    """Tell whether a record lies behind what was done before.

    Args:
        place: As sources give it: time, topic, partition, offset.
    """
    found = F.lit(True)
    for topic, partitions in done.items():
        for partition, offset in partitions.items():
            own = (place[1] == F.xxhash64(F.lit(topic))) & (place[2] == partition)
            found = found & ~(own & (place[3] < offset))
    return found


def waits(node: step.Step) -> bool:
    """Tell whether results wait for time to pass, so that no single record causes them."""
    match node:
        case step.Read():
            return False
        case step.JoinStep():
            own = node.interval is not None and node.interval.grace_ms is not None
            return own or waits(node.left)
        case step.Aggregate():
            return node.emit is tree.Emit.FINAL or waits(node.input)
    return waits(node.input)
