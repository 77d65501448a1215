"""The command log: statements are accepted one after the other, and add up to the catalogue."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from orion.command.record import Command, RecordingFormats
from orion.model import OrionError
from orion.sql import (
    Catalogue,
    Change,
    Dropped,
    Formats,
    Functions,
    Planner,
    Started,
    Terminated,
    Unchanged,
    parse_statements,
    tree,
)

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Pair = tuple[bytes | None, bytes | None]
Listener = Callable[[Command, Change], None]


class CommandLog(Protocol):
    """A log that one process at a time writes; see `orion.log.StateLog`."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held while records are applied."""

    def decide(self, make: Callable[[], tuple[Sequence[Pair], Result]]) -> Result:
        """Store what `make` gives, read it back, and return its answer."""


@dataclass(frozen=True)
class Accepted:
    """A statement and what it has changed; `command` is None when nothing had to change."""

    command: Command | None
    change: Change


class Commands:
    """What all accepted statements add up to; threads may share it.

    Args:
        make_log: Opens the log with the function that takes its records.
        prepare: Makes what a change needs before it counts, such as topics; called again when
            another process was faster, so it must not mind doing things twice.
    """

    def __init__(
        self,
        make_log: Callable[[Callable[[bytes | None, bytes | None], None]], CommandLog],
        functions: Functions,
        formats: Formats,
        *,
        prepare: Callable[[Change], None] = lambda _: None,
        listener: Listener | None = None,
    ) -> None:
        self._functions = functions
        self._formats = formats
        self._prepare = prepare
        self._listener = listener
        self._catalogue = Catalogue()
        self._started: dict[str, Started] = {}
        self._next = 0
        self._log = make_log(self._take)

    @property
    def catalogue(self) -> Catalogue:
        """Everything that is declared now."""
        return self._catalogue

    @property
    def functions(self) -> Functions:
        """The functions that statements may call."""
        return self._functions

    @property
    def queries(self) -> Mapping[str, Started]:
        """The persistent queries by their ids, paused ones included."""
        with self._log.lock:
            return dict(self._started)

    def accept(self, statement: tree.Statement, properties: Mapping[str, str]) -> Accepted:
        """Check a statement and, if it can be carried out, write it to the log.

        It counts once this returns; a statement that conflicts with one that another process
        wrote first is refused.
        """

        def make() -> tuple[Sequence[Pair], Accepted]:
            formats = RecordingFormats(self._formats)
            planner = Planner(self._functions, formats, properties)
            change = planner.plan(statement, self._catalogue, number=self._next)
            if isinstance(change, Unchanged):
                return [], Accepted(None, change)
            self._prepare(change)
            command = Command(
                self._next,
                statement.text,
                dict(properties),
                formats.told,
                int(time.time() * 1000),
            )
            return [command.encode()], Accepted(command, change)

        return self._log.decide(make)

    def check(self, statement: tree.Statement, properties: Mapping[str, str]) -> Change:
        """Return what a statement would change; nothing is written."""
        planner = Planner(self._functions, self._formats, properties)
        return planner.plan(statement, self._catalogue, number=self._next)

    def _take(self, key: bytes | None, value: bytes | None) -> None:
        if key is None or value is None:
            return
        try:
            command = Command.decode(key, value)
            change = self._replay(command)
        except (OrionError, ValueError, KeyError) as error:
            logger.error("command %s cannot be replayed: %s", key, error)
            self._next = max(self._next, int(key) + 1) if key.isdigit() else self._next
            return
        self._next = command.number + 1
        self._apply(change)
        if self._listener is not None:
            self._listener(command, change)

    def _replay(self, command: Command) -> Change:
        (statement,) = parse_statements(command.statement)
        formats = RecordingFormats(self._formats, command.inferred)
        planner = Planner(self._functions, formats, command.properties)
        return planner.plan(statement, self._catalogue, number=command.number)

    def _apply(self, change: Change) -> None:
        self._catalogue = change.apply(self._catalogue)
        match change:
            case Started(query):
                if change.predecessor is not None:
                    self._started.pop(change.predecessor.query, None)
                self._started[query] = change
            case Dropped(_, str(query)):
                self._started.pop(query, None)
            case Terminated(queries):
                for query in queries:
                    self._started.pop(query, None)
