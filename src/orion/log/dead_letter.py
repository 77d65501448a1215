"""Dead letters: records a query could not read, kept whole with the reason, and sent back.

A dead letter is the original record (key, value, headers) with headers of Orion's own after them,
so that a redriven record is the original to the byte.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from orion.log.connection import Connection
from orion.log.consumer import Selection, consume
from orion.log.errors import PartitionNotFoundError, TopicNotFoundError
from orion.log.record import Record
from orion.log.topic import Topics
from orion.log.transaction import Offsets, Outgoing, TransactionalWriter

_NAMES = (
    "orion.topic",
    "orion.partition",
    "orion.offset",
    "orion.timestamp",
    "orion.query",
    "orion.reason",
)
# The partition of a row that its topic could not hold: no record, so it lies in none.
NO_PARTITION = -1
# What a transaction of a redrive holds at most, so that large records fit in memory.
_AT_ONCE, _AT_ONCE_BYTES = 500, 64 << 20


@dataclass(frozen=True)
class DeadLetter:
    """The original record, where it lay, which query could not read it, and why."""

    record: Record
    query: str
    reason: str
    redriven: bool = False

    @property
    def place(self) -> tuple[str, int, int]:
        """The topic, partition and offset of the original."""
        return self.record.topic, self.record.partition or 0, self.record.offset or 0

    @property
    def is_row(self) -> bool:
        """Whether it is a row that could not be written, as JSON, and no record of a topic."""
        return self.record.partition == NO_PARTITION


def encode_dead_letters(letters: Sequence[DeadLetter], topic: str) -> Outgoing:
    """Return dead letters as records for their topic."""
    return Outgoing(
        topic,
        values=[letter.record.value for letter in letters],
        keys=[letter.record.key for letter in letters],
        headers=[[*letter.record.headers, *_own_headers(letter)] for letter in letters],
    )


def decode_dead_letter(record: Record) -> DeadLetter | None:
    """Read a record of a dead-letter topic; None when it is not one of Orion's."""
    original, own = record.headers[: -len(_NAMES)], record.headers[-len(_NAMES) :]
    if tuple(name for name, _ in own) != _NAMES:
        return None
    topic, partition, offset, timestamp, query, reason = (
        (value or b"").decode(errors="replace") for _, value in own
    )
    found = replace(
        record,
        headers=original,
        topic=topic,
        partition=int(partition),
        offset=int(offset),
        timestamp_ms=int(timestamp),
    )
    return DeadLetter(found, query, reason)


def _own_headers(letter: DeadLetter) -> list[tuple[str, bytes]]:
    topic, partition, offset = letter.place
    values = (
        topic,
        partition,
        offset,
        letter.record.timestamp_ms or 0,
        letter.query,
        letter.reason,
    )
    return [(name, str(value).encode()) for name, value in zip(_NAMES, values, strict=True)]


@dataclass(frozen=True)
class DeadLetterSummary:
    """The dead letters of one query, counted. The times are those of the original records."""

    query: str
    total: int
    waiting: int
    oldest_ms: int | None
    newest_ms: int | None
    reasons: Mapping[str, int]


class DeadLetters:
    """The dead-letter topics of a project."""

    def __init__(self, connection: Connection, suffix: str) -> None:
        self._connection = connection
        self._suffix = suffix

    def topic(self, query: str) -> str:
        """Return the dead-letter topic of a query."""
        return f"{query}{self._suffix}"

    def queries(self) -> list[str]:
        """Return the queries that have a dead-letter topic."""
        names = Topics(self._connection).names()
        return [name.removesuffix(self._suffix) for name in names if name.endswith(self._suffix)]

    def read(self, query: str, *, limit: int | None = None) -> Iterator[DeadLetter]:
        """Yield the dead letters of a query, oldest first."""
        done = self._redriven(query)
        found = ((record, decode_dead_letter(record)) for record in self._records(query))
        letters = (
            replace(letter, redriven=_is_before(record, done))
            for record, letter in found
            if letter is not None
        )
        return islice(letters, limit)

    def counts(self, query: str) -> tuple[int, int]:
        """Return how many dead letters there are, and how many were not redriven yet."""
        summary = self.summarize(query)
        return summary.total, summary.waiting

    def summarize(self, query: str) -> DeadLetterSummary:
        """Count the dead letters of a query by state and reason; reads all of them."""
        total = waiting = 0
        reasons: Counter[str] = Counter()
        oldest_ms: int | None = None
        newest_ms: int | None = None
        for letter in self.read(query):
            total += 1
            waiting += not letter.redriven
            reasons[letter.reason] += 1
            time_ms = letter.record.timestamp_ms or 0
            oldest_ms = time_ms if oldest_ms is None else min(oldest_ms, time_ms)
            newest_ms = time_ms if newest_ms is None else max(newest_ms, time_ms)
        found = dict(reasons.most_common())
        return DeadLetterSummary(query, total, waiting, oldest_ms, newest_ms, found)

    def redrive(self, query: str, *, limit: int | None = None) -> int:
        """Write waiting dead letters back to where they came from, each exactly once.

        The records and how far the redrive has come are one transaction; a crash repeats nothing,
        and a second redrive at the same time fences the first before it looks how far that came.
        """
        records = self._records(query)
        writer = TransactionalWriter(self._connection, self._group(query))
        writer.open()
        count = 0
        try:
            position = writer.position([self.topic(query)])
            done: Offsets = {} if position is None else position.offsets
            waiting = (record for record in records if not _is_before(record, done))
            for batch in _batches(islice(waiting, limit)):
                self._require_places(batch)
                count += _write_back(writer, batch)
        finally:
            writer.close()
        return count

    def _require_places(self, batch: Sequence[Record]) -> None:
        """Refuse before the transaction what has no partition to go back to."""
        topics = Topics(self._connection)
        letters = [letter for letter in map(_redrivable, batch) if letter is not None]
        for name, partition in sorted({letter.place[:2] for letter in letters}):
            if not topics.exists(name):
                raise TopicNotFoundError(name, topics.names())
            count = len(topics.get(name).partitions)
            if partition >= count:
                raise PartitionNotFoundError(name, partition, count)

    def _records(self, query: str) -> Iterator[Record]:
        return consume(self._connection, Selection(self.topic(query)))

    def _redriven(self, query: str) -> Offsets:
        writer = TransactionalWriter(self._connection, self._group(query))
        position = writer.position([self.topic(query)])
        return {} if position is None else position.offsets

    def _group(self, query: str) -> str:
        return f"{self.topic(query)}.redrive"


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    size = 0
    for record in records:
        batch.append(record)
        size += len(record.value or b"")
        if len(batch) == _AT_ONCE or size >= _AT_ONCE_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _is_before(record: Record, ends: Offsets) -> bool:
    return (record.offset or 0) < ends.get(record.topic, {}).get(record.partition or 0, 0)


def _write_back(writer: TransactionalWriter, batch: list[Record]) -> int:
    written, ends = 0, dict[str, dict[int, int]]()
    with writer.transaction() as transaction:
        for record in batch:
            ends.setdefault(record.topic, {})[record.partition or 0] = (record.offset or 0) + 1
            letter = _redrivable(record)
            if letter is not None:
                transaction.write(_original(letter.record))
                written += 1
        transaction.commit_offsets(ends, checkpoint="redrive", batch=0)
    return written


def _redrivable(record: Record) -> DeadLetter | None:
    """Return a letter that may go back; a row never lay where it could go back to."""
    letter = decode_dead_letter(record)
    return None if letter is None or letter.is_row else letter


def _original(record: Record) -> Outgoing:
    return Outgoing(
        record.topic,
        values=[record.value],
        keys=[record.key],
        headers=[record.headers],
        timestamps_ms=[record.timestamp_ms or 0],
        partitions=[-1 if record.partition is None else record.partition],
    )
