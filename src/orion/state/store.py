"""Keyed state of one operator in one partition, as its task sees it while a batch is running."""

import json
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from orion.state.file import Changes, Key, StateFile, place_of
from orion.state.late import LateRow

_FAR = 1 << 62
# What the names of other keys than a plain text begin with.
_MARKS = ("$", "[")


class StateStore:
    """Values by key; used by one task at a time. A batch that is run again finds what it found.

    Args:
        path: The file; None keeps the state in memory, for a run without a checkpoint.
        notes_late: Whether rows that come too late are noted, besides being counted.
    """

    def __init__(self, path: Path | None, batch: int, *, notes_late: bool = False) -> None:
        self._file = StateFile(path, batch, notes_late=notes_late)
        self.path = self._file.path
        self._known: dict[Key, Any] = self._file.recent.values
        self._known_dues: dict[Key, int] = self._file.recent.dues
        self._changed: dict[Key, Any] = {}
        self._dues: dict[Key, int] = {}
        self._over: set[Key] = set()
        self._late = 0
        self.notes_late = notes_late
        self._late_rows: list[LateRow] = []
        self._watermark: int | None = None
        # What this batch has put, by moment; and how far the base has been looked through.
        self._queue: list[tuple[int, tuple[int, Any]]] = []
        # Most of many that are put together are not due in their batch, and need no order.
        self._unqueued: list[tuple[int, Key]] = []
        self._first_unqueued = _FAR
        self._looked_until, self._next_due = -1, -1

    def load(self, keys: Iterable[Key]) -> None:
        """Read the values of keys that will be asked for, many at a time."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self._known]
        self._known.update(dict.fromkeys(wanted))
        for key, value, due in self._file.read(wanted):
            self._known[key] = value
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
        if key not in self._known:
            self.load([key])
        if due is None or value is None:
            self._dues.pop(key, None)
            if self._known_dues.pop(key, None) is not None:
                self._over.add(key)
        elif self._is_moved(key, due):
            heappush(self._queue, (self._dues[key], place_of(key)))

    def _is_moved(self, key: Key, due: int) -> bool:
        """Note when a key is due; tell whether that differs from what is known of it."""
        before = self._dues.get(key)
        if before is not None and before <= due:
            return False
        kept = self._known_dues.get(key)
        if kept is not None and self._looked_until < kept <= due:
            # The base will tell of it when its moment comes.
            self._dues[key] = kept
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
        moved = [(due, key) for key, due in both if self._is_moved(key, due)]
        if moved:
            self._unqueued += moved
            self._first_unqueued = min(self._first_unqueued, min(due for due, _ in moved))

    def changes(self) -> Mapping[Key, Any]:
        """Return what this batch has changed so far."""
        return self._changed

    def due_keys(self, now: int) -> list[Key]:
        """Return the keys whose moment has come, the earliest first; they have none any more."""
        if now >= self._first_unqueued:
            self._queue += [(due, place_of(key)) for due, key in self._unqueued]
            heapify(self._queue)
            self._unqueued, self._first_unqueued = [], _FAR
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
        found = self._file.due_between(self._looked_until, now)
        upcoming = self._file.next_due(now)
        self._looked_until, self._next_due = now, _FAR if upcoming is None else upcoming
        return [
            (due, place_of(key))
            for due, key in found
            if key not in self._changed or self._dues.get(key) == due
        ]

    def note(self, late_records: int, watermark_ms: int | None) -> None:
        """Tell whoever looks from outside how far time has come, and how many came too late."""
        self._late, self._watermark = late_records, watermark_ms

    def note_late(self, rows: Iterable[LateRow]) -> None:
        """Note rows that came too late in this batch, for `read_late_rows`."""
        self._late_rows.extend(rows)

    def commit(self) -> None:
        """Leave the changes pending, with the batch's number, and close."""
        dues, known_dues, changed = self._dues, self._known_dues, self._changed
        self.load(changed)
        moved: set[Key] = set()
        if dues or known_dues or self._over:
            moved = {k for k in changed if dues.get(k) != known_dues.get(k) or k in self._over}
        known = self._known
        had = len(changed) - sum(known[key] is None for key in changed)
        has = len(changed) - sum(value is None for value in changed.values())
        own_dues = {key: due for key, due in dues.items() if key in changed}
        self._file.write_late(self._late_rows)
        self._file.commit(
            Changes(changed, own_dues, moved),
            has - had,
            late=self._late,
            watermark=self._watermark,
        )

    def abandon(self) -> None:
        """Close without keeping anything."""
        self._file.abandon()


def store_key(parts: tuple[Any, ...]) -> Key:
    """Return values as a key: the same bytes for the same values, in every process.

    A text that looks like another key, or like what operators keep of their own, is written so
    that it does not.

    >>> store_key((5,)), store_key(("a",)), store_key(("a", 1)), store_key(("$clock",))
    (5, 'a', '["a",1]', '["$clock"]')
    """
    if len(parts) == 1:
        (found,) = parts
        kind = type(found)
        if kind is int or kind is bytes or (kind is str and found[:1] not in _MARKS):
            plain: Key = found
            return plain
    spelled = []
    for part in parts:
        kind = type(part)
        # As the encoder spells them, at a fraction of its price.
        if kind is int:
            spelled.append(repr(part))
        elif kind is str:
            spelled.append(encode_basestring(part))
        else:
            return _ENCODER.encode(parts)
    return f"[{','.join(spelled)}]"


def _spell(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


# Made once: making an encoder costs more than a key.
_ENCODER = json.JSONEncoder(
    separators=(",", ":"), default=_spell, sort_keys=True, ensure_ascii=False
)
