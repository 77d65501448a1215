"""Records that came too late, noted in the state until their batch is delivered."""

import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from orion.state.fact import OFFSET


@dataclass(frozen=True)
class LateRow:
    """A row that came too late, by the record that caused it.

    Args:
        time_ms: Its event time.
        closed_ms: The end of the window that it missed; of a join, the oldest time still kept.
        watermark_ms: The time that its partition of keys had come to.
    """

    topic: str
    partition: int
    offset: int
    time_ms: int
    closed_ms: int
    watermark_ms: int

    @property
    def place(self) -> tuple[str, int, int]:
        """Where the record lies."""
        return self.topic, self.partition, self.offset


def late_row(
    origin: str, sequence: list[int], time_ms: int, closed_ms: int, watermark_ms: int
) -> LateRow:
    """Return a late row by the facts that travel with it."""
    topic, _, partition = origin.rpartition("/")
    return LateRow(topic, int(partition), sequence[OFFSET], time_ms, closed_ms, watermark_ms)


def read_late_rows(folder: str, batch: int) -> list[LateRow]:
    """Return the rows that came too late in a batch, in the order of their records.

    Args:
        folder: Of a query's state; its batch has run.
    """
    paths = sorted(Path(folder).glob("*/*.db"))
    found = [row for path in paths for row in _rows(path, batch)]
    return sorted(found, key=lambda row: (*row.place, row.closed_ms))


def _rows(path: Path, batch: int) -> Iterator[LateRow]:
    address = f"file:{quote(str(path))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'late'").fetchone()
        if known is None:
            return
        query = "SELECT body FROM late, batch WHERE batch.number = ?"
        for (body,) in connection.execute(query, (batch,)):
            yield from pickle.loads(body)
