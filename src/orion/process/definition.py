"""A query as it was asked for, before it runs; and what its path promises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from orion.lake import TableWrite
from orion.log import Offsets, ReadTime
from orion.model import InvalidInputError, Mode
from orion.process.encode import TopicWrite
from orion.process.planning import BuildRows
from orion.state import LateRow, StateSummary

# The names of queries are consumer groups, topics and folders; all three allow these.
_NAME = "letters, digits, '.', '_' and '-'"


class Keeper(Protocol):
    """The state that a query keeps beside its checkpoint."""

    @property
    def late_topic(self) -> str:
        """Where records that come too late go; empty: they are only counted."""

    def late_rows(self, batch: int) -> Sequence[LateRow]:
        """Return what came too late in a batch that has run, but for what was told before."""

    def note(self, batch: int) -> None:
        """Remember that a batch has run: called before Spark does."""

    def summary(self) -> StateSummary:
        """Return how much there is, and how far it has come."""

    def begin_anew(self, done: Offsets) -> None:
        """Drop the state; the next start reads all again and writes only what was not done."""


@dataclass(frozen=True)
class Definition:
    """A query: rows, where they go, how.

    Args:
        rows: Called again at each restart.
        once: Read what is there now, then stop.
        state: What it keeps beside its checkpoint; None: Spark keeps all of it.
        event_times: What reads the times that topics are read in step by, where these are not the
            log's own.
    """

    name: str
    rows: BuildRows
    sink: TopicWrite | TableWrite
    mode: Mode
    sink_name: str
    output_mode: str = "append"
    once: bool = False
    trigger_ms: int = 0
    state: Keeper | None = None
    event_times: Mapping[str, ReadTime] = field(default_factory=dict)

    @property
    def guarantee(self) -> str:
        """What holds from the log to the sink, with the weakest link named."""
        if isinstance(self.sink, TableWrite):
            return "exactly once: the batch's number is in the table's commit"
        if self.mode is Mode.EXACTLY_ONCE:
            return "exactly once, for read_committed readers: output and offsets in one transaction"
        if self.mode is Mode.AT_LEAST_ONCE:
            return "at least once: Spark's Kafka sink writes a repeated batch again"
        return "at least once: real-time mode repeats what followed its last checkpoint"


def check_name(name: str) -> str:
    """Return a query's name, or refuse it."""
    if (
        not name
        or not all(c.isascii() and (c.isalnum() or c in "._-") for c in name)
        or len(name) > 200
    ):
        raise InvalidInputError(
            f"Query name '{name}' is not usable.", fix=f"Use at most 200 {_NAME}."
        )
    return name
