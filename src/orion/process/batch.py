"""One micro-batch: what Spark says of it, and its delivery with its offsets in one transaction."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

from pyspark.sql import DataFrame

from orion.log import (
    DeadLetter,
    Offsets,
    Outgoing,
    Position,
    Record,
    TransactionalWriter,
    encode_processing_log,
)
from orion.log import encode_dead_letters as encode_letters
from orion.model import ConflictError, FailedExpression
from orion.process.failure import FAILURES, read_failures, take_failures
from orion.process.source import DEAD_LETTERS
from orion.process.strike import pass_point


class CheckpointMismatchError(ConflictError):
    """Raised when a checkpoint is behind what its query has already written."""

    def __init__(self, query: str, batch: int, committed: int) -> None:
        self.query, self.batch, self.committed = query, batch, committed
        super().__init__(
            f"Query '{query}' is at batch {batch}, but batch {committed} was already committed with"
            " other offsets: its checkpoint was restored or edited.",
            fix="Put the newest checkpoint back, or start the query under a new name.",
        )


class OffsetsChangedError(ConflictError):
    """Raised when something else than the query has moved its consumer group."""

    def __init__(self, query: str, batch: int) -> None:
        self.query, self.batch = query, batch
        super().__init__(
            f"The offsets of consumer group '{query}' were changed by another tool, so it cannot be"
            f" told whether batch {batch} was written.",
            fix="A query reads where its checkpoint says: start it under a new name=… instead.",
        )


class Batch:
    """What Spark knows of the batch being run; the dead letters are known once it has run.

    Args:
        may_repeat: Whether an earlier run may have written parts of it: the first of a run.
    """

    def __init__(self, number: int, execution: Any, query: str, *, may_repeat: bool) -> None:
        self.number = number
        self.may_repeat = may_repeat
        self._execution = execution
        self._query = query

    @cached_property
    def checkpoint(self) -> str:
        """The identity that Spark wrote into the checkpoint when it was made."""
        return str(self._execution.id().toString())

    @cached_property
    def ends(self) -> Offsets:
        """Where the batch ends in each Kafka partition it reads, from Spark's offset log."""
        ends: dict[str, dict[int, int]] = {}
        offsets = self._execution.offsetLog().get(self.number).get().offsets()
        for position in range(offsets.length()):
            offset = offsets.apply(position)
            for topic, partitions in _kafka_offsets(offset).items():
                ends[topic] = {int(number): end for number, end in partitions.items()}
        return ends

    def dead_letters(self) -> list[DeadLetter]:
        """Return the records of this batch that could not be read, each once.

        A task that ran twice has observed its records twice; where they lie tells them apart.
        """
        letters: dict[tuple[str, int, int], DeadLetter] = {}
        for observed in self._observed_as(DEAD_LETTERS):
            for row in observed["letters"]:
                letter = _letter(row, self._query)
                letters[letter.place] = letter
        return [letters[place] for place in sorted(letters)]

    def failures(self) -> list[FailedExpression]:
        """Return the expressions that could not be computed on rows of this batch."""
        seen = [read_failures(observed) for observed in self._observed_as(FAILURES)]
        return [*take_failures(self._query), *(failed for each in seen for failed in each)]

    def give_up(self) -> None:
        """Forget what a try of this batch has noted: the next one notes it again."""
        take_failures(self._query)

    def _observed_as(self, prefix: str) -> Iterator[dict[str, Any]]:
        return (found for name, found in self._observed.items() if name.startswith(prefix))

    @cached_property
    def _observed(self) -> dict[str, dict[str, Any]]:
        """What the run has observed, by name; read once, since each step asks the JVM."""
        metrics = self._execution.lastExecution().observedMetrics()
        found, names = {}, metrics.keySet().iterator()
        while names.hasNext():
            name = names.next()
            found[name] = json.loads(metrics.apply(name).json())
        return found


def _kafka_offsets(offset: Any) -> dict[str, dict[str, int]]:
    """Read one source's offset; sources other than Kafka have no topics."""
    if offset.isEmpty():
        return {}
    found = json.loads(offset.get().json())
    if not isinstance(found, dict) or not all(isinstance(part, dict) for part in found.values()):
        return {}
    return found


def _letter(row: dict[str, Any], query: str) -> DeadLetter:
    headers = tuple((h["key"], _bytes(h["value"])) for h in row.get("headers") or ())
    record = Record(
        value=_bytes(row.get("value")),
        key=_bytes(row.get("key")),
        headers=headers,
        timestamp_ms=row["timestamp_ms"],
        topic=row["topic"],
        partition=row["partition"],
        offset=row["offset"],
    )
    return DeadLetter(record, query, row["reason"])


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


class Sink(Protocol):
    """Where the rows of a query go."""

    def prepare(self, rows: DataFrame, batch: Batch) -> Iterable[Outgoing]:
        """Run the batch; return the records that belong in its transaction, to be read once.

        What is written elsewhere must be the same after a second call for the same batch, and
        each call must run the plan: the dead letters are gathered by its tasks.
        """


@dataclass(frozen=True)
class Delivered:
    """What one delivery did."""

    dead_letters: int
    skipped: bool = False


class Delivery:
    """Delivers the batches of one query, in order, each exactly once.

    Called by Spark's thread of that query; one batch at a time.

    Args:
        late: Gives, for a batch that has run, the records that came too late for it.
    """

    def __init__(
        self,
        query: str,
        writer: TransactionalWriter,
        sink: Sink,
        *,
        dead_letter_topic: str,
        late: Callable[[int], Sequence[Outgoing]] | None = None,
    ) -> None:
        self._query = query
        self._writer = writer
        self._sink = sink
        self._dead_letter_topic = dead_letter_topic
        self._late = late
        self._last: Position | None = None
        self._asked = False

    def deliver(self, rows: DataFrame, batch: Batch) -> Delivered:
        """Write a batch, or recognise that it was written before this process started."""
        pass_point("after_offset_log")
        if self._is_committed(batch):
            # The plan runs all the same: its stateful operators must reach this batch too.
            rows.write.format("noop").mode("overwrite").save()
            return Delivered(0, skipped=True)
        outgoing = self._sink.prepare(rows, batch)
        late = () if self._late is None else self._late(batch.number)
        letters = batch.dead_letters()
        failed = batch.failures()
        with self._writer.transaction() as transaction:
            for part in chain(outgoing, late):
                transaction.write(part)
            if letters:
                transaction.write(encode_letters(letters, self._dead_letter_topic))
            if letters or failed:
                transaction.write(encode_processing_log(self._query, letters, failed))
            transaction.commit_offsets(batch.ends, checkpoint=batch.checkpoint, batch=batch.number)
            pass_point("in_transaction")
        pass_point("after_transaction")
        return Delivered(len(letters))

    def _is_committed(self, batch: Batch) -> bool:
        if not self._asked:
            self._last, self._asked = self._writer.position(batch.ends), True
        last = self._last
        if last is not None and not last.checkpoint and batch.number > 0:
            raise OffsetsChangedError(self._query, batch.number)
        if last is None or last.checkpoint != batch.checkpoint or batch.number > last.batch:
            return False
        if any(end > last.offsets.get(t, {}).get(p, end) for t, p, end in _flat(batch.ends)):
            raise CheckpointMismatchError(self._query, batch.number, last.batch)
        return True


def _flat(offsets: Offsets) -> Iterator[tuple[str, int, int]]:
    for topic, partitions in offsets.items():
        for partition, offset in partitions.items():
            yield topic, partition, offset
