"""A query that replaces another: beside it until it has caught up, then in its place.

Beside, it writes into a topic of its own. To take the place, both stop, the table's topic gets what
differs in one transaction, and the new query goes on there from where it stopped.
"""

import enum
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from orion.log import (
    Connection,
    GroupNotFoundError,
    Groups,
    Outgoing,
    Tail,
    TopicExistsError,
    Topics,
    TransactionalWriter,
)
from orion.sql import Started

_READ_S = 0.2
_WRITE_AT_ONCE = 10_000
# The last value of each key, on disk: a table may be larger than memory.
_TABLES = """
    CREATE TABLE new (k BLOB PRIMARY KEY, v BLOB, t INTEGER) WITHOUT ROWID;
    CREATE TABLE old (k BLOB PRIMARY KEY, v BLOB, t INTEGER) WITHOUT ROWID;
"""
_DIFFERENCES = """
    SELECT new.k, new.v, new.t FROM new LEFT JOIN old USING (k)
    WHERE new.v IS NOT NULL AND old.v IS NOT new.v
    UNION ALL
    SELECT old.k, NULL, old.t FROM old LEFT JOIN new USING (k)
    WHERE old.v IS NOT NULL AND new.v IS NULL
"""


class Phase(enum.Enum):
    """How far a succession is; written down before what it names is begun."""

    BESIDE = "beside"
    TAKING = "taking"
    DONE = "done"


@dataclass(frozen=True)
class Succession:
    """One query in place of another.

    Args:
        new: Names the one that it replaces.
        folder: Of the new query's state.
    """

    new: Started
    folder: Path
    connection: Connection

    @property
    def old(self) -> Started:
        """The query that is replaced."""
        assert self.new.predecessor is not None
        return self.new.predecessor

    @property
    def topic(self) -> str:
        """Where the new query writes while the old one serves."""
        return f"{self.new.sink.topic}.{self.new.query}.beside"

    @property
    def phase(self) -> Phase:
        """How far it is, after any kill."""
        path = self._note
        return Phase(path.read_text()) if path.exists() else Phase.BESIDE

    @property
    def _note(self) -> Path:
        return self.folder / "succession"

    def note(self, phase: Phase) -> None:
        """Remember how far it is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fresh = self._note.with_suffix(".new")
        fresh.write_text(phase.value)
        os.replace(fresh, self._note)

    def create_topic(self) -> None:
        """Make the new query's own topic, which keeps the last value of each key."""
        topics = Topics(self.connection)
        partitions = len(topics.get(self.new.sink.topic).partitions)
        try:
            configs = {"cleanup.policy": "compact"}
            topics.create(self.topic, partitions=partitions, configs=configs, is_open=True)
        except TopicExistsError:
            return

    def drop_topic(self) -> None:
        """Remove the new query's own topic."""
        topics = Topics(self.connection)
        if topics.exists(self.topic):
            topics.delete(self.topic)

    def has_caught_up(self, sources: tuple[str, ...]) -> bool:
        """Tell whether the new query is no further behind than the old one."""
        own = self._lag(self.new.query)
        if own is None:
            topics = Topics(self.connection)
            return all(topics.get(source).records == 0 for source in sources)
        return own <= (self._lag(self.old.query) or 0)

    def _lag(self, query: str) -> int | None:
        try:
            return Groups(self.connection).get(query).lag_records
        except GroupNotFoundError:
            return None

    def write_differences(self) -> int:
        """Make the table's topic hold the new query's rows, in one transaction; both are stopped.

        Done again, it finds nothing to do: what differs is looked for anew.
        """
        count = 0
        writer = TransactionalWriter(self.connection, f"{self.new.query}.succession")
        with _scratch() as rows:
            self._load(rows, "new", self.topic)
            self._load(rows, "old", self.new.sink.topic)
            writer.open()
            try:
                with writer.transaction() as transaction:
                    for part in self._differences(rows):
                        transaction.write(part)
                        count += len(part.values)
            finally:
                writer.close()
        return count

    def _load(self, rows: sqlite3.Connection, table: str, topic: str) -> None:
        upsert = f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)"
        with Tail(self.connection, topic, from_beginning=True) as tail:
            ends = tail.ends()
            while not tail.has_reached(ends):
                found = tail.read(_READ_S)
                rows.executemany(upsert, ((r.key, r.value, r.timestamp_ms) for r in found))

    def _differences(self, rows: sqlite3.Connection) -> Iterator[Outgoing]:
        cursor = rows.execute(_DIFFERENCES)
        while part := cursor.fetchmany(_WRITE_AT_ONCE):
            keys, values, times = (list(column) for column in zip(*part, strict=True))
            yield Outgoing(self.new.sink.topic, values=values, keys=keys, timestamps_ms=times)


@contextmanager
def _scratch() -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory() as folder:
        rows = sqlite3.connect(Path(folder) / "rows.db")
        with closing(rows):
            rows.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {_TABLES}")
            yield rows
