"""Keyed state of one operator in one partition, safe against a batch that is run again.

A batch first makes the changes of the batch before it part of the base, computes from there, and
leaves its own changes pending; all in one transaction, with its number. Run again, it finds its
number, drops what it had pending, and computes from the same base.
"""

import json
import pickle
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

from orion.model import ConflictError
from orion.state.late import LateRow

_READ_AT_ONCE = 500
_WRITE_AT_ONCE = 50_000
# Told apart from files of another making, whose values would be misread.
_FORMAT = 1
# Of one partition while its task runs; the state itself may be far larger.
CACHE_KIB = 32 * 1024
# An entry may have a moment at which it is over: `due`.
_SCHEMA = f"""
    CREATE TABLE base (k PRIMARY KEY, v BLOB, due INTEGER) WITHOUT ROWID;
    CREATE INDEX dues ON base (due) WHERE due IS NOT NULL;
    CREATE TABLE pending (body BLOB);
    CREATE TABLE batch (number INTEGER, entries INTEGER, late INTEGER, watermark INTEGER);
    PRAGMA user_version = {_FORMAT};
"""
# What stays due when it was must not cost a change of the index.
_UPSERT = "INSERT INTO base VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET v = excluded.v"
_UPSERT_DUE = f"{_UPSERT}, due = excluded.due"
_FAR = 1 << 62
Key = str | int | bytes
_REBUILD = "Put the newest state back, or make it anew from the topics: orion queries rebuild NAME"


class StateMismatchError(ConflictError):
    """Raised when an operator's state does not belong to the batch that is to run."""

    def __init__(self, path: str, found: int, batch: int) -> None:
        self.path, self.found, self.batch = path, found, batch
        super().__init__(
            f"The state at {path} is {_words(found)}, but batch {batch} is to run: it was removed,"
            " restored or damaged.",
            fix=_REBUILD,
        )


class StateDamagedError(ConflictError):
    """Raised when the file of a state cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"The state at {path} cannot be read: {reason}.", fix=_REBUILD)


def name_damage(error: BaseException, path: str) -> None:
    """Raise an error that names the file, if another one tells of a damaged file."""
    # A full disk or a lock is the machine's trouble, and may pass.
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        raise StateDamagedError(path, str(error)) from error


class StateStore:
    """Values by key; used by one task at a time.

    Args:
        path: The file; None keeps the state in memory, for a run without a checkpoint.
        notes_late: Whether rows that come too late are noted, besides being counted.
    """

    def __init__(self, path: Path | None, batch: int, *, notes_late: bool = False) -> None:
        self.path = str(path or ":memory:")
        # Tells a state that was lost from one that never was.
        self._mark = None if path is None else path.with_suffix(".mark")
        self._was_there = self._mark is not None and self._mark.exists()
        if path is not None and not self._was_there:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._known: dict[Key, Any] = {}
        self._changed: dict[Key, Any] = {}
        self._dues: dict[Key, int] = {}
        self._known_dues: dict[Key, int] = {}
        self._over: set[Key] = set()
        self._entries = self._late = 0
        self.notes_late = notes_late
        self._late_rows: list[LateRow] = []
        self._watermark: int | None = None
        # What this batch has put, by moment; and how far the base has been looked through.
        self._queue: list[tuple[int, tuple[int, Any]]] = []
        self._looked_until, self._next_due = -1, -1
        self._connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            self._open(journal="OFF" if path is None else "WAL")
            self._begin(batch)
        except BaseException as error:
            self._connection.close()
            name_damage(error, self.path)
            raise

    def _open(self, journal: str) -> None:
        # A killed process loses nothing that the kernel has; only a crash of the machine could.
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        (found,) = self._connection.execute("PRAGMA user_version").fetchone()
        if found == 0:
            self._connection.execute(f"PRAGMA journal_mode={journal}")
            self._connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        elif found != _FORMAT:
            reason = f"it has format {found}, and this version of orion writes {_FORMAT}"
            raise StateDamagedError(self.path, reason)

    def _begin(self, batch: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        row = self._connection.execute("SELECT number, entries FROM batch").fetchone()
        last, self._entries = (-1, 0) if row is None else row
        # A task without rows is not run, so batches may be missing in between; none may be ahead.
        if last > batch or (last < 0 and self._was_there):
            raise StateMismatchError(self.path, last, batch)
        pending = self._connection.execute("SELECT body FROM pending").fetchall()
        changes = [change for (body,) in pending for change in pickle.loads(body)]
        if last != batch:
            self._settle(changes)
        else:
            self._entries -= sum(change[4] for change in changes)
        self._connection.execute("DELETE FROM pending")
        if self.notes_late:
            self._connection.execute("CREATE TABLE IF NOT EXISTS late (body BLOB)")
            self._connection.execute("DELETE FROM late")
        self._batch = batch

    def _settle(self, changes: list[tuple[Key, bytes | None, int | None, bool, int]]) -> None:
        """Make the changes of the batch before part of the base."""
        # In the order of the tree: neighbours lie on the same page.
        _sort(changes, lambda change: _place(change[0]))
        kept = (change[:3] for change in changes if change[1] is not None and not change[3])
        moved = (change[:3] for change in changes if change[1] is not None and change[3])
        gone = ((change[0],) for change in changes if change[1] is None)
        self._connection.executemany(_UPSERT, kept)
        self._connection.executemany(_UPSERT_DUE, moved)
        self._connection.executemany("DELETE FROM base WHERE k = ?", gone)

    def load(self, keys: Iterable[Key]) -> None:
        """Read the values of keys that will be asked for, many at a time."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self._known]
        _sort(wanted, _place)
        self._known.update(dict.fromkeys(wanted))
        for start in range(0, len(wanted), _READ_AT_ONCE):
            part = wanted[start : start + _READ_AT_ONCE]
            marks = ",".join("?" * len(part))
            query = f"SELECT k, v, due FROM base WHERE k IN ({marks})"
            for key, value, due in self._connection.execute(query, part):
                self._known[key] = pickle.loads(value)
                if due is not None:
                    self._known_dues[key] = due

    def get(self, key: Key) -> Any:
        """Return the value of a key; None: there is none."""
        if key in self._changed:
            return self._changed[key]
        if key not in self._known:
            self.load([key])
        return self._known[key]

    def get_all(self, keys: Sequence[Key]) -> list[Any]:
        """Return the values of many keys."""
        self.load(keys)
        changed, known = self._changed, self._known
        if not changed:
            return [known[key] for key in keys]
        return [changed[key] if key in changed else known[key] for key in keys]

    def put(self, key: Key, value: Any, due: int | None = None) -> None:
        """Keep a value, or forget the key where it is None.

        Args:
            due: When `due_keys` shall give the key; an earlier moment that it has stays.
        """
        self._changed[key] = value
        if due is None or value is None:
            self._dues.pop(key, None)
            return
        if key not in self._known:
            self.load([key])
        if self._is_moved(key, due):
            heappush(self._queue, (self._dues[key], _place(key)))

    def _is_moved(self, key: Key, due: int) -> bool:
        """Note when a key is due; tell whether that differs from what is known of it."""
        kept = self._known_dues.get(key)
        if kept is not None and self._looked_until < kept <= due:
            # The base will tell of it when its moment comes.
            self._dues[key] = kept
            return False
        before = self._dues.get(key)
        if before is not None and before <= due:
            return False
        self._dues[key] = due
        return True

    def put_all(
        self, keys: Sequence[Key], values: Sequence[Any], dues: Sequence[int] | None = None
    ) -> None:
        """Keep the values of many keys."""
        self._changed.update(zip(keys, values, strict=True))
        if dues is None:
            return
        self.load(keys)
        both = zip(keys, dues, strict=True)
        self._queue += [(due, _place(key)) for key, due in both if self._is_moved(key, due)]
        heapify(self._queue)

    def changes(self) -> Mapping[Key, Any]:
        """Return what this batch has changed so far."""
        return self._changed

    def due_keys(self, now: int) -> list[Key]:
        """Return the keys whose moment has come, the earliest first; they have none any more."""
        over: list[tuple[int, tuple[int, Any]]] = []
        while self._queue and self._queue[0][0] <= now:
            due, place = heappop(self._queue)
            # One that has been put again since is there twice.
            if self._dues.get(place[1]) == due:
                over.append((due, place))
                del self._dues[place[1]]
        if now >= self._next_due:
            over += self._due_in_base(now)
        keys = [key for _, (_, key) in sorted(over)]
        self.load(keys)
        for key in keys:
            self._dues.pop(key, None)
            self._known_dues.pop(key, None)
        self._over.update(keys)
        return keys

    def _due_in_base(self, now: int) -> list[tuple[int, tuple[int, Any]]]:
        """Return what has come due in the base since it was looked at, but for what has changed."""
        since = self._looked_until
        found = self._connection.execute(
            "SELECT due, k FROM base WHERE due > ? AND due <= ?", (since, now)
        ).fetchall()
        row = self._connection.execute("SELECT min(due) FROM base WHERE due > ?", (now,)).fetchone()
        self._looked_until, self._next_due = now, _FAR if row[0] is None else int(row[0])
        return [
            (due, _place(key))
            for due, key in found
            if key not in self._changed or self._dues.get(key) == due
        ]

    def note(self, late_records: int, watermark_ms: int) -> None:
        """Tell whoever looks from outside how far time has come, and how many came too late."""
        self._late, self._watermark = late_records, watermark_ms

    def note_late(self, rows: Iterable[LateRow]) -> None:
        """Note rows that came too late in this batch, for `read_late_rows`."""
        self._late_rows.extend(rows)

    def commit(self) -> None:
        """Leave the changes pending, with the batch's number, and close."""
        dues, known = self._dues, self._known_dues
        self.load(self._changed)
        rows = []
        for key, value in self._changed.items():
            body = None if value is None else pickle.dumps(value, protocol=5)
            due = dues.get(key)
            more = (value is not None) - (self._known[key] is not None)
            is_moved = due != known.get(key) or key in self._over
            rows.append((key, body, due, is_moved, more))
            self._entries += more
        # Many in one value cost a fraction of a row for each.
        parts = (rows[at : at + _WRITE_AT_ONCE] for at in range(0, len(rows), _WRITE_AT_ONCE))
        bodies = ((pickle.dumps(part, protocol=5),) for part in parts)
        self._connection.executemany("INSERT INTO pending VALUES (?)", bodies)
        if self._late_rows:
            body = pickle.dumps(self._late_rows, protocol=5)
            self._connection.execute("INSERT INTO late VALUES (?)", (body,))
        self._connection.execute("DELETE FROM batch")
        facts = (self._batch, self._entries, self._late, self._watermark)
        self._connection.execute("INSERT INTO batch VALUES (?, ?, ?, ?)", facts)
        self._connection.execute("COMMIT")
        self._connection.close()
        if self._mark is not None and not self._was_there:
            self._mark.touch()

    def abandon(self) -> None:
        """Close without keeping anything."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.close()


def _sort(items: list[Any], key: Callable[[Any], Any]) -> None:
    """Sort in place by a key, which is needed only where kinds are mixed."""
    try:
        items.sort()
    except TypeError:
        items.sort(key=key)


def _place(key: Key) -> tuple[int, Any]:
    """Return what keys are sorted by: numbers, then texts, then bytes, as SQLite does."""
    if isinstance(key, str):
        return 1, key
    return (0, key) if isinstance(key, int) else (2, key)


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
