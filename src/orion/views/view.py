"""The rows of tables as their topics give them; followed from the first question on."""

import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from orion.command import key_spec, value_spec
from orion.formats import Codec, FormatSpec, SchemaSource, codec_of, from_arrow
from orion.log import Connection, Record, Tail
from orion.model import UnavailableError
from orion.sql import Source, evaluate_or_null, tree
from orion.views.pull import PullPlan

logger = logging.getLogger(__name__)

_STEP_S = 0.05
_CATCH_UP_S = 30.0
_BOUND_BYTES = 8
Row = Mapping[str, Any]
Key = tuple[Any, ...]


class ViewBehindError(UnavailableError):
    """Raised when a table's topic cannot be read to its end in time."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"The rows of '{name}' are not all read yet.", fix="Ask again in a moment."
        )


class Views:
    """Every table that was asked about; threads may share it."""

    def __init__(self, connection: Connection, schemas: SchemaSource | None) -> None:
        self._connection = connection
        self._schemas = schemas
        self._views: dict[tuple[str, int], _View] = {}
        self._lock = threading.Lock()

    def answer(self, pull: PullPlan, *, fresh: bool = False) -> list[list[Any]]:
        """Return the rows of an answer, as plain values.

        Args:
            fresh: Wait for everything that is in the topic now; otherwise what was read so far
                counts, which is some milliseconds behind.
        """
        view = self._view(pull.source)
        view.wait(fresh=fresh or not pull.source.is_table)
        found: list[list[Any]] = []
        for row in view.rows(pull.keys):
            if pull.limit is not None and len(found) >= pull.limit:
                break
            if pull.where is not None and evaluate_or_null(pull.where, row) is not True:
                continue
            found.append([evaluate_or_null(n.expression, row) for n in pull.plan.value])
        return found

    def _view(self, source: Source) -> "_View":
        name = (source.name, source.number)
        with self._lock:
            if name not in self._views:
                for other in [key for key in self._views if key[0] == source.name]:
                    self._views.pop(other).close()
                self._views[name] = _View(source, self._connection, self._schemas)
            return self._views[name]

    def close(self) -> None:
        """Stop following."""
        with self._lock:
            for view in self._views.values():
                view.close()
            self._views.clear()


class _View:
    """One table, kept by a thread that follows its topic."""

    def __init__(
        self, source: Source, connection: Connection, schemas: SchemaSource | None
    ) -> None:
        self._source = source
        self._reader = _Reader(source, schemas)
        self._rows: dict[Key, dict[Key, Row]] = {}
        self._lock = threading.Lock()
        self._tail = Tail(connection, source.topic, from_beginning=True)
        self._began = self._tail.ends()
        self._caught_up = threading.Event()
        self._asked: list[tuple[Mapping[int, int], threading.Event]] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._follow, name=f"view {source.name}", daemon=True
        )
        self._thread.start()

    def wait(self, *, fresh: bool) -> None:
        """Wait until the rows that were there at the first question are read, or all of now."""
        if not self._caught_up.wait(_CATCH_UP_S):
            raise ViewBehindError(self._source.name)
        if not fresh:
            return
        reached = threading.Event()
        with self._lock:
            self._asked.append((self._tail.ends(), reached))
        if not reached.wait(_CATCH_UP_S):
            raise ViewBehindError(self._source.name)

    def rows(self, keys: Iterable[Key] | None) -> Iterator[Row]:
        """Yield the rows of these keys, every window of them, or all rows."""
        with self._lock:
            if keys is None:
                groups = list(self._rows.values())
            else:
                asked = [hashable(key) for key in keys]
                groups = [self._rows[key] for key in asked if key in self._rows]
            found = [row for group in groups for row in group.values()]
        return iter(found)

    def close(self) -> None:
        self._stopped.set()
        self._thread.join(timeout=5.0)
        self._tail.close()

    def _follow(self) -> None:
        while not self._stopped.is_set():
            try:
                records = self._tail.read(_STEP_S)
                if records:
                    self._take(records)
                self._tell()
            except Exception:
                logger.exception("view of %s", self._source.name)
                time.sleep(_STEP_S)

    def _tell(self) -> None:
        """Wake who waits for what has been read by now."""
        if not self._caught_up.is_set() and self._tail.has_reached(self._began):
            self._caught_up.set()
        with self._lock:
            for ends, reached in list(self._asked):
                if self._tail.has_reached(ends):
                    reached.set()
                    self._asked.remove((ends, reached))

    def _take(self, records: list[Record]) -> None:
        changes = list(self._reader.read(records))
        with self._lock:
            for key, window, row in changes:
                if row is None:
                    self._rows.get(key, {}).pop(window, None)
                    if not self._rows.get(key, {1: 1}):
                        del self._rows[key]
                else:
                    self._rows.setdefault(key, {})[window] = row


def hashable(value: Any) -> Any:
    """Return a value that can be looked up: lists and maps as tuples."""
    if isinstance(value, Mapping):
        return tuple((name, hashable(item)) for name, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return tuple(hashable(item) for item in value)
    return value


class _Reader:
    """Records to rows by key and window; those that cannot be read are left out."""

    def __init__(self, source: Source, schemas: SchemaSource | None) -> None:
        self._source = source
        self._key_spec, self._value_spec = key_spec(source), value_spec(source)
        self._key = codec_of(self._key_spec, schemas) if source.key else None
        self._value = codec_of(self._value_spec, schemas)
        self._number = 0

    def read(self, records: list[Record]) -> Iterator[tuple[Key, Key, Row | None]]:
        keys, windows = self._keys(records)
        values = _decode(self._value, [r.value for r in records], self._value_spec)
        for record, key, window, value in zip(records, keys, windows, values, strict=True):
            if self._source.is_table:
                at = hashable(tuple((key or {}).get(c.name) for c in self._source.key))
                if key is None:
                    continue
            else:
                # Every event of a stream counts: its number tells it apart.
                at, window = (self._number,), ()
                self._number += 1
            if record.value is None and self._source.is_table:
                yield at, window, None
            elif value is not None:
                yield at, window, self._row(record, key or {}, value, window)

    def _row(self, record: Record, key: Row, value: Row, window: Key) -> Row:
        bounds = dict(zip(("WINDOWSTART", "WINDOWEND"), window, strict=False))
        facts = {
            "ROWTIME": record.timestamp_ms,
            "ROWPARTITION": record.partition,
            "ROWOFFSET": record.offset,
        }
        return {**key, **value, **bounds, **facts}

    def _keys(self, records: list[Record]) -> tuple[list[Row | None], list[Key]]:
        bodies, windows = [], []
        for record in records:
            body, window = self._split(record.key)
            bodies.append(body)
            windows.append(window)
        if self._key is None:
            return [None] * len(records), windows
        return _decode(self._key, bodies, self._key_spec), windows

    def _split(self, key: bytes | None) -> tuple[bytes | None, Key]:
        windowed = self._source.windowed
        if key is None or windowed is None:
            return key, ()
        start = int.from_bytes(key[-_BOUND_BYTES:], "big", signed=True)
        if windowed.kind is tree.WindowKind.SESSION:
            end = int.from_bytes(key[-2 * _BOUND_BYTES : -_BOUND_BYTES], "big", signed=True)
            return key[: -2 * _BOUND_BYTES], (start, end)
        return key[:-_BOUND_BYTES], (start, start + (windowed.size_ms or 0))


def _decode(codec: Codec, bodies: list[bytes | None], spec: FormatSpec) -> list[Row | None]:
    rows = codec.decode(pa.array(bodies, pa.binary())).rows.to_pylist()
    return [
        None if row is None else {f.name: from_arrow(row[f.name], f.type) for f in spec.columns}
        for row in rows
    ]
