"""A query's state seen from outside: how much there is, how far time has come, what was late."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote


@dataclass(frozen=True)
class StateSummary:
    """The state of all operators of a query.

    Args:
        entries: Keys, and where there are windows, windows of keys.
        late_records: How many came after their window had closed, since the state was begun.
        watermark_ms: The time that the slowest partition of keys has come to; None: none is kept.
    """

    entries: int = 0
    size_bytes: int = 0
    late_records: int = 0
    watermark_ms: int | None = None


def summarize_state(folder: str) -> StateSummary:
    """Return what the files below a folder say of themselves; one that cannot be read says nothing.

    Tasks may write them meanwhile.
    """
    paths = sorted(Path(folder).glob("*/*.db"))
    # What was last written lies beside the file until it is put into it.
    logs = [path.with_name(f"{path.name}-wal") for path in paths]
    facts = [fact for path in paths for fact in _facts(path)]
    times = [fact[2] for fact in facts if fact[2] is not None]
    return StateSummary(
        entries=sum(fact[0] for fact in facts),
        size_bytes=sum(path.stat().st_size for path in (*paths, *logs) if path.exists()),
        late_records=sum(fact[1] for fact in facts),
        watermark_ms=min(times, default=None),
    )


def _facts(path: Path) -> Iterator[tuple[int, int, int | None]]:
    address = f"file:{quote(str(path))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=0.1)) as connection:
            yield from connection.execute("SELECT entries, late, watermark FROM batch")
    except sqlite3.DatabaseError:
        return
