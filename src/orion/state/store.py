"""Keyed state of one operator in one partition, safe against a batch that is run again.

A batch first makes the changes of the batch before it part of the base, computes from there, and
leaves its own changes pending; all in one transaction, with its number. Run again, it finds its
number, drops what it had pending, and computes from the same base.
"""

import json
import pickle
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from orion.model import ConflictError

_READ_AT_ONCE = 500
_SCHEMA = """
    CREATE TABLE IF NOT EXISTS base (k PRIMARY KEY, v BLOB) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS pending (k PRIMARY KEY, v BLOB) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS batch (number INTEGER);
"""
Key = str | int | bytes


class StateMismatchError(ConflictError):
    """Raised when an operator's state does not belong to the batch that is to run."""

    def __init__(self, path: str, found: int, batch: int) -> None:
        self.path, self.found, self.batch = path, found, batch
        super().__init__(
            f"The state at {path} is {_words(found)}, but batch {batch} is to run: it was removed,"
            " restored or damaged.",
            fix="Put the newest state back, or let the query read its topics anew.",
        )


class StateStore:
    """Values by key; used by one task at a time.

    Args:
        path: The file; None keeps the state in memory, for a run without a checkpoint.
    """

    def __init__(self, path: Path | None, batch: int) -> None:
        self._path = str(path or ":memory:")
        self._was_there = False
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Tells a state that was lost from one that never was.
            mark = path.with_suffix(".mark")
            self._was_there = mark.exists()
            self._mark: Path | None = mark
        else:
            self._mark = None
        # A killed process loses nothing that the kernel has; only a crash of the machine could.
        self._connection = sqlite3.connect(self._path, isolation_level=None)
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute("PRAGMA journal_mode=WAL" if path else "PRAGMA journal_mode=OFF")
        self._connection.executescript(_SCHEMA)
        self._known: dict[Key, Any] = {}
        self._changed: dict[Key, Any] = {}
        self._begin(batch)

    def _begin(self, batch: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        row = self._connection.execute("SELECT number FROM batch").fetchone()
        last = -1 if row is None else int(row[0])
        # A task without rows is not run, so batches may be missing in between; none may be ahead.
        if last > batch or (last < 0 and self._was_there):
            self._connection.execute("ROLLBACK")
            self._connection.close()
            raise StateMismatchError(self._path, last, batch)
        if last != batch:
            self._connection.execute(
                "INSERT OR REPLACE INTO base SELECT k, v FROM pending WHERE v IS NOT NULL"
            )
            self._connection.execute(
                "DELETE FROM base WHERE k IN (SELECT k FROM pending WHERE v IS NULL)"
            )
        self._connection.execute("DELETE FROM pending")
        self._connection.execute("DELETE FROM batch")
        self._connection.execute("INSERT INTO batch VALUES (?)", (batch,))

    def load(self, keys: Iterable[Key]) -> None:
        """Read the values of keys that will be asked for, many at a time."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self._known]
        for start in range(0, len(wanted), _READ_AT_ONCE):
            part = wanted[start : start + _READ_AT_ONCE]
            marks = ",".join("?" * len(part))
            query = f"SELECT k, v FROM base WHERE k IN ({marks})"
            for key, value in self._connection.execute(query, part):
                self._known[key] = pickle.loads(value)
            for key in part:
                self._known.setdefault(key, None)

    def get(self, key: Key) -> Any:
        """Return the value of a key; None: there is none."""
        if key in self._changed:
            return self._changed[key]
        if key not in self._known:
            self.load([key])
        return self._known[key]

    def put(self, key: Key, value: Any) -> None:
        """Keep a value, or forget the key where it is None."""
        self._changed[key] = value

    def changes(self) -> Mapping[Key, Any]:
        """Return what this batch has changed so far."""
        return self._changed

    def scan(self, prefix: str) -> Iterable[Key]:
        """Yield the text keys that begin so, of the base and of this batch."""
        end = prefix + "\U0010ffff"
        found = self._connection.execute("SELECT k FROM base WHERE k >= ? AND k < ?", (prefix, end))
        known = {key for (key,) in found}
        known |= {k for k in self._changed if isinstance(k, str) and k.startswith(prefix)}
        return sorted(known)

    def commit(self) -> None:
        """Leave the changes pending, with the batch's number, and close."""
        rows = [
            (key, None if value is None else pickle.dumps(value, protocol=5))
            for key, value in self._changed.items()
        ]
        self._connection.executemany("INSERT INTO pending VALUES (?, ?)", rows)
        self._connection.execute("COMMIT")
        self._connection.close()
        if self._mark is not None and not self._was_there:
            self._mark.touch()

    def abandon(self) -> None:
        """Close without keeping anything."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.close()


def _words(batch: int) -> str:
    return "empty" if batch < 0 else f"of batch {batch}"


def store_key(parts: tuple[Any, ...]) -> Key:
    """Return values as a key: the same bytes for the same values, in every process.

    >>> store_key((5,)), store_key(("a", 1))
    (5, '["a",1]')
    """
    if len(parts) == 1 and type(parts[0]) in (str, int, bytes):
        found: Key = parts[0]
        return found
    return _ENCODER.encode(parts)


def _spell(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


# Made once: making an encoder costs more than a key.
_ENCODER = json.JSONEncoder(
    separators=(",", ":"), default=_spell, sort_keys=True, ensure_ascii=False
)
