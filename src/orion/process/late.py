"""Records that came too late for a query, on their way to a topic in the batch's transaction."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from orion.log import (
    Connection,
    LateRecord,
    Outgoing,
    Record,
    encode_late_records,
    read_places,
)
from orion.process.definition import Keeper
from orion.state import LateRow


@dataclass(frozen=True)
class LateRoute:
    """Finds the late records of a batch that has run; they are the same whenever it is repeated."""

    query: str
    connection: Connection
    state: Keeper

    def outgoing(self, batch: int) -> list[Outgoing]:
        """Return each late record of a batch once, as its source has it."""
        rows: defaultdict[tuple[str, int, int], list[LateRow]] = defaultdict(list)
        for row in self.state.late_rows(batch):
            rows[row.place].append(row)
        if not rows:
            return []
        # Only their places are kept: carrying their bytes along would cost every record.
        records = read_places(self.connection, rows)
        letters = [
            self._letter(records.get(place) or _gone(own[0]), own) for place, own in rows.items()
        ]
        return [encode_late_records(letters, self.state.late_topic)]

    def _letter(self, record: Record, rows: Sequence[LateRow]) -> LateRecord:
        last = max(rows, key=lambda row: row.closed_ms)
        return LateRecord(
            record, self.query, last.time_ms, last.closed_ms, last.watermark_ms, len(rows)
        )


def _gone(row: LateRow) -> Record:
    """Return what is left of a record that its topic has dropped since it was read."""
    topic, partition, offset = row.place
    return Record(value=None, topic=topic, partition=partition, offset=offset)
