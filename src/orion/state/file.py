"""The file of a store: values by key, and the changes of its last batch beside them.

A batch first makes the changes of the batch before it final, computes from there, and leaves its
own changes pending; all in one transaction, with its number. Run again, it finds its number, drops
what it had pending, and computes from the same values.
"""

import os
import pickle
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from orion.model import ConflictError

Key = str | int | bytes
_READ_AT_ONCE = 500
_WRITE_AT_ONCE = 50_000
# Told apart from files of another making, whose values would be misread.
_FORMAT = 3
# Of one partition while its task runs; the state itself may be far larger.
CACHE_KIB = 32 * 1024
# An entry may have a moment at which it is over: `due`.
_SCHEMA = f"""
    CREATE TABLE base (k PRIMARY KEY, v BLOB, due INTEGER) WITHOUT ROWID;
    CREATE INDEX dues ON base (due) WHERE due IS NOT NULL;
    CREATE TABLE recent (body BLOB);
    CREATE TABLE pending (body BLOB);
    CREATE TABLE batch (
        number INTEGER, entries INTEGER, more INTEGER, late INTEGER, watermark INTEGER
    );
    PRAGMA user_version = {_FORMAT};
"""
# What stays due when it was must not cost a change of the index.
_UPSERT = "INSERT INTO base VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET v = excluded.v"
_UPSERT_DUE = f"{_UPSERT}, due = excluded.due"
# Recent changes are kept together while at least four of five were changed by the last batch.
_RENEWED = 0.8


def restore_fix(query: str) -> str:
    """Return what to do about state that is not as it was left."""
    return (
        f"Put the newest state back, or make it anew from the topics: orion queries rebuild {query}"
    )


def _query_of(path: str) -> str:
    """Return whose file it is: a partition's, in an operator's folder, in its query's folder."""
    return Path(path).parent.parent.name


class StateMismatchError(ConflictError):
    """Raised when an operator's state does not belong to the batch that is to run.

    Args:
        query: Whose it is, where it is not the file of one partition.
    """

    def __init__(self, path: str, found: int, batch: int, *, query: str | None = None) -> None:
        self.path, self.found, self.batch = path, found, batch
        self.query = query or _query_of(path)
        super().__init__(
            f"The state at {path} is {_words(found)}, but batch {batch} is to run: it was removed,"
            " restored or damaged.",
            fix=restore_fix(self.query),
        )


class StateDamagedError(ConflictError):
    """Raised when the file of a state cannot be read.

    Args:
        query: Whose it is, where it is not the file of one partition.
    """

    def __init__(self, path: str, reason: str, *, query: str | None = None) -> None:
        self.path, self.reason = path, reason
        self.query = query or _query_of(path)
        super().__init__(
            f"The state at {path} cannot be read: {reason}.", fix=restore_fix(self.query)
        )


def name_damage(error: BaseException, path: str) -> None:
    """Raise an error that names the file, if another one tells of a damaged file."""
    # A full disk or a lock is the machine's trouble, and may pass.
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        raise StateDamagedError(path, str(error)) from error


@dataclass
class Changes:
    """Changed values by key, None where a key is gone.

    Args:
        dues: When those are over that ever are.
        moved: Those that are due at another moment than before.
    """

    values: dict[Key, Any] = field(default_factory=dict)
    dues: dict[Key, int] = field(default_factory=dict)
    moved: set[Key] = field(default_factory=set)

    def update(self, other: "Changes") -> None:
        """Put later changes over these."""
        self.values.update(other.values)
        self.dues.update(other.dues)
        self.moved.update(other.moved)

    def take_moved(self) -> "Changes":
        """Return those that are due at another moment, which are no longer among these."""
        if len(self.moved) == len(self.values):
            taken = Changes(self.values, self.dues, self.moved)
            self.values, self.dues, self.moved = {}, {}, set()
            return taken
        taken = Changes()
        for key in self.moved:
            taken.values[key] = self.values.pop(key)
            if key in self.dues:
                taken.dues[key] = self.dues.pop(key)
        taken.moved, self.moved = self.moved, set()
        return taken

    def parts(self) -> Iterator["Changes"]:
        """Yield these in parts that can be written one by one."""
        if 0 < len(self.values) <= _WRITE_AT_ONCE:
            yield self
            return
        keys = iter(self.values)
        while part := dict.fromkeys(islice(keys, _WRITE_AT_ONCE)):
            yield Changes(
                {key: self.values[key] for key in part},
                {key: self.dues[key] for key in part if key in self.dues} if self.dues else {},
                self.moved & part.keys() if self.moved else set(),
            )


class StateFile:
    """A file while a batch is running; used by one task at a time.

    Args:
        path: None keeps the state in memory, for a run without a checkpoint.

    Attributes:
        recent: Final changes that are not part of the base: those of keys that change with every
            batch, which are dear to put there each time.
        entries: How many keys there were before this batch.
    """

    def __init__(self, path: Path | None, batch: int, *, notes_late: bool) -> None:
        self.path = str(path or ":memory:")
        # Tells a state that was lost, or put back as it once was, from the one that was left.
        self._mark = None if path is None else path.with_suffix(".mark")
        self._left_at = -1 if self._mark is None else read_number(self._mark)
        if path is not None and self._left_at < 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        self._batch = batch
        self.recent = Changes()
        self.entries = 0
        self._connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            self._open(journal="OFF" if path is None else "WAL")
            self._begin(notes_late)
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

    def _begin(self, notes_late: bool) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        row = self._connection.execute("SELECT number, entries, more FROM batch").fetchone()
        last, entries, more = (-1, 0, 0) if row is None else row
        # A task without rows is not run, so batches may be missing in between; none may be ahead.
        if last > self._batch or last < self._left_at:
            raise StateMismatchError(self.path, last, self._batch)
        self.recent = self._changes_in("recent")
        if last == self._batch:
            self.entries = entries - more
        else:
            self.entries = entries
            self._settle(self._changes_in("pending"))
        self._connection.execute("DELETE FROM pending")
        if notes_late:
            self._connection.execute("CREATE TABLE IF NOT EXISTS late (body BLOB)")
            self._connection.execute("DELETE FROM late")

    def _changes_in(self, table: str) -> Changes:
        found = Changes()
        for (body,) in self._connection.execute(f"SELECT body FROM {table}"):
            found.update(Changes(*pickle.loads(body)))
        return found

    def _settle(self, changes: Changes) -> None:
        """Make the changes of the batch before final."""
        if not changes.values:
            return
        moved = changes.take_moved()
        self._put_into_base(moved, _UPSERT_DUE)
        for key in moved.values.keys() & self.recent.values.keys():
            del self.recent.values[key]
            self.recent.dues.pop(key, None)
        self.recent.update(changes)
        if len(changes.values) < _RENEWED * len(self.recent.values):
            self._put_into_base(self.recent, _UPSERT)
            self.recent = Changes()
        self._connection.execute("DELETE FROM recent")
        self._write("recent", self.recent)

    def _put_into_base(self, changes: Changes, upsert: str) -> None:
        # In the order of the tree: neighbours lie on the same page.
        items = list(changes.values.items())
        _sort(items, lambda item: place_of(item[0]))
        dues = changes.dues
        kept = ((k, _dump(value), dues.get(k)) for k, value in items if value is not None)
        self._connection.executemany(upsert, kept)
        gone = ((key,) for key, value in items if value is None)
        self._connection.executemany("DELETE FROM base WHERE k = ?", gone)

    def _write(self, table: str, changes: Changes) -> None:
        # Many in one value cost a fraction of a row for each.
        bodies = ((_dump((p.values, p.dues, p.moved)),) for p in changes.parts())
        self._connection.executemany(f"INSERT INTO {table} VALUES (?)", bodies)

    def read(self, keys: list[Key]) -> Iterator[tuple[Key, Any, int | None]]:
        """Yield what the base has of keys that are not recent: value, and when it is due."""
        _sort(keys, place_of)
        for start in range(0, len(keys), _READ_AT_ONCE):
            part = keys[start : start + _READ_AT_ONCE]
            marks = ",".join("?" * len(part))
            query = f"SELECT k, v, due FROM base WHERE k IN ({marks})"
            for key, value, due in self._connection.execute(query, part):
                yield key, pickle.loads(value), due

    def due_between(self, since: int, now: int) -> Sequence[tuple[int, Key]]:
        """Return what comes due after one moment and not after another, with its own."""
        query = "SELECT due, k FROM base WHERE due > ? AND due <= ?"
        return self._connection.execute(query, (since, now)).fetchall()

    def next_due(self, now: int) -> int | None:
        """Return the first moment after this one at which something is due."""
        query = "SELECT min(due) FROM base WHERE due > ?"
        found: int | None = self._connection.execute(query, (now,)).fetchone()[0]
        return found

    def write_late(self, rows: Iterable[object]) -> None:
        """Note rows that came too late."""
        if found := list(rows):
            self._connection.execute("INSERT INTO late VALUES (?)", (_dump(found),))

    def commit(self, changes: Changes, more: int, *, late: int, watermark: int | None) -> None:
        """Leave changes pending, with the batch's number, and close.

        Args:
            more: How many keys there are besides those that were there before.
        """
        self._write("pending", changes)
        self._connection.execute("DELETE FROM batch")
        facts = (self._batch, self.entries + more, more, late, watermark)
        self._connection.execute("INSERT INTO batch VALUES (?, ?, ?, ?, ?)", facts)
        self._connection.execute("COMMIT")
        self._connection.close()
        if self._mark is not None:
            write_number(self._mark, self._batch)

    def abandon(self) -> None:
        """Close without keeping anything."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.close()


def _dump(value: object) -> bytes:
    return pickle.dumps(value, protocol=5)


def _sort(items: list[Any], key: Callable[[Any], Any]) -> None:
    """Sort in place by a key, which is needed only where kinds are mixed."""
    try:
        items.sort()
    except TypeError:
        items.sort(key=key)


def place_of(key: Key) -> tuple[int, Any]:
    """Return what keys are sorted by: numbers, then texts, then bytes, as SQLite does."""
    if isinstance(key, str):
        return 1, key
    return (0, key) if isinstance(key, int) else (2, key)


def read_number(path: Path, *, query: str | None = None) -> int:
    """Return the number of the batch that a file was left at; -1: there is none.

    Args:
        query: Whose it is, where it is not the file of one partition.
    """
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return -1
    if not found.isdigit():
        raise StateDamagedError(str(path), "it holds no number of a batch", query=query)
    return int(found)


def write_number(path: Path, batch: int) -> None:
    """Leave the number of a batch in a file; a kill leaves it or the one before."""
    # One write of one length: never cut, and cheaper than a file that takes the place of another.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.write(handle, b"%020d" % batch)
    finally:
        os.close(handle)


def _words(batch: int) -> str:
    return "empty" if batch < 0 else f"of batch {batch}"
