"""The rows of tables as their topics give them; followed from the first question on."""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice

from orion.formats import SchemaSource
from orion.log import Connection, Tail
from orion.model import UnavailableError
from orion.sql import Catalogue, Source, typed
from orion.views.follow import Follower
from orion.views.projection import Values
from orion.views.pull import PullPlan, QuestionPlan, keys_of
from orion.views.question import answer_question
from orion.views.reader import Key, Row, RowChange, RowReader, hashable
from orion.views.retention import Retention

_STEP_S = 0.05
_CATCH_UP_S = 30.0


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

    def answer(self, pull: PullPlan | QuestionPlan, *, fresh: bool = False) -> list[Values]:
        """Return the rows of an answer, as plain values; waits until its table is read.

        Args:
            fresh: Wait for everything that is in the topic now; otherwise what was read so far
                counts, which is some milliseconds behind.
        """
        if isinstance(pull, QuestionPlan):
            return self._answer_question(pull, fresh=fresh)
        rows = self.rows(pull.source, pull.keys, fresh=fresh)
        return list(islice(pull.projection.over(rows), pull.limit))

    def _answer_question(self, pull: QuestionPlan, *, fresh: bool) -> list[Values]:
        waited: set[str] = set()

        def rows(source: Source, where: typed.Typed | None) -> Iterator[Row]:
            # A table may be asked for row after row; it needs to be fresh once.
            waits = fresh and source.name not in waited
            waited.add(source.name)
            return self.rows(source, keys_of(source, where), fresh=waits)

        return answer_question(pull.plan, rows)

    def look_up(self, pull: PullPlan, keys: Iterable[Key]) -> list[Values] | None:
        """Return the rows of keys, instead of those that the plan names, if nothing has to wait."""
        view = self._views.get((pull.source.name, pull.source.number))
        if view is None or not view.is_caught_up:
            return None
        return list(islice(pull.projection.over(view.rows(keys)), pull.limit))

    def rows(
        self, source: Source, keys: Iterable[Key] | None = None, *, fresh: bool = False
    ) -> Iterator[Row]:
        """Yield a table's rows, those of some keys only, or a stream's events up to now."""
        if not source.is_table:
            return self._events(source)
        view = self._view(source)
        view.wait(fresh=fresh)
        return view.rows(keys)

    def keep_only(self, catalogue: Catalogue) -> None:
        """Close the views of tables that were dropped or replaced."""
        known = {(source.name, source.number) for source in catalogue.sources.values()}
        with self._lock:
            for name in self._views.keys() - known:
                self._views.pop(name).close()

    def close(self) -> None:
        """Stop following."""
        with self._lock:
            for view in self._views.values():
                view.close()
            self._views.clear()

    def _view(self, source: Source) -> "_View":
        name = (source.name, source.number)
        with self._lock:
            if name not in self._views:
                self._views[name] = _View(source, self._connection, self._schemas)
            return self._views[name]

    def _events(self, source: Source) -> Iterator[Row]:
        """Yield what a stream's topic holds now; it is read anew for each question."""
        reader = RowReader(source, self._schemas)
        with closing(Tail(self._connection, source.topic, from_beginning=True)) as tail:
            ends, heard = tail.ends(), time.monotonic()
            while not tail.has_reached(ends):
                records = tail.read(_STEP_S)
                if records:
                    heard = time.monotonic()
                elif time.monotonic() - heard > _CATCH_UP_S:
                    raise ViewBehindError(source.name)
                for change in reader.read(records):
                    if change.row is not None:
                        yield change.row


class _View:
    """One table, kept by a thread that follows its topic."""

    def __init__(
        self, source: Source, connection: Connection, schemas: SchemaSource | None
    ) -> None:
        self._name = source.name
        self._rows: dict[Key, dict[Key, Row]] = {}
        self._retention = Retention(source.windowed)
        self._lock = threading.Lock()
        self._follower = Follower(
            source, connection, schemas, self._take, after=self._tell, from_beginning=True
        )
        self._began = self._follower.tail.ends()
        self._caught_up = threading.Event()
        self._asked: list[tuple[Mapping[int, int], threading.Event]] = []
        self._follower.start()

    @property
    def is_caught_up(self) -> bool:
        """Whether the rows that were there at the first question are read."""
        return self._caught_up.is_set()

    def wait(self, *, fresh: bool) -> None:
        """Wait until the rows that were there at the first question are read, or all of now."""
        if not self._caught_up.wait(_CATCH_UP_S):
            raise ViewBehindError(self._name)
        if not fresh:
            return
        reached = threading.Event()
        with self._lock:
            self._asked.append((self._follower.tail.ends(), reached))
        if not reached.wait(_CATCH_UP_S):
            raise ViewBehindError(self._name)

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
        self._follower.close()

    def _tell(self) -> None:
        """Wake who waits for what has been read by now."""
        tail = self._follower.tail
        if not self._caught_up.is_set() and tail.has_reached(self._began):
            self._caught_up.set()
        with self._lock:
            for ends, reached in list(self._asked):
                if tail.has_reached(ends):
                    reached.set()
                    self._asked.remove((ends, reached))

    def _take(self, changes: list[RowChange]) -> None:
        with self._lock:
            for change in changes:
                if change.row is None:
                    self._drop(change.key, change.window)
                    continue
                windows = self._rows.setdefault(change.key, {})
                if change.window not in windows:
                    self._retention.add(change.key, change.window)
                windows[change.window] = change.row
            for key, window in self._retention.take_over():
                self._drop(key, window)

    def _drop(self, key: Key, window: Key) -> None:
        windows = self._rows.get(key, {})
        windows.pop(window, None)
        if not windows:
            self._rows.pop(key, None)
