"""Runs what the command log says: starts, stops, pauses and replaces persistent queries."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from pyspark.sql import DataFrame

from orion.command import Command, Commands
from orion.log import RequestLog
from orion.model import OrionError, State, UnavailableError
from orion.process.planning import Planning
from orion.process.runtime import Runtime
from orion.process.sql.live import LiveSql
from orion.process.sql.push import PushQueries
from orion.process.sql.succession import Phase, Succession
from orion.process.strike import pass_point
from orion.sql import Change, Dropped, Paused, Started, Terminated

logger = logging.getLogger(__name__)

_STEP_S = 0.5
# How long a query that could not even be started waits for what it needs.
_AGAIN_S = 5.0


class SqlEngine:
    """The queries of the catalogue on one Spark application.

    Changes are taken from the log's thread and carried out, in order, by one of its own.
    """

    def __init__(self, runtime: Runtime, live: LiveSql) -> None:
        self._runtime = runtime
        self._live = live
        self._changes: queue.Queue[tuple[Command, Change]] = queue.Queue()
        # Queries that run beside those they will replace.
        self._successions: dict[str, Succession] = {}
        # Queries whose start found something out of reach, and when it is tried again.
        self._waiting: dict[str, tuple[float, Callable[[], None]]] = {}
        self._is_running = False
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []

    def take(self, command: Command, change: Change) -> None:
        """Note a change of the catalogue; those before `begin` are part of the state it finds."""
        if self._is_running:
            self._changes.put((command, change))

    def begin(self, commands: Commands, requests: RequestLog) -> None:
        """Start every query there is, then follow the log; and follow the requests of clients.

        Returns at once: many queries take minutes to start, and clients need not wait for them.
        """
        self._is_running = True
        paused = commands.catalogue.paused
        found = [started for name, started in commands.queries.items() if name not in paused]
        push = PushQueries(self._runtime, self._live, commands)
        self._threads = [
            threading.Thread(target=self._follow, args=(commands, found), daemon=True),
            threading.Thread(target=requests.follow, args=(push.take, self._stopped), daemon=True),
            threading.Thread(target=push.look_after, args=(self._stopped,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop following; the runtime stops the queries."""
        self._stopped.set()

    def _follow(self, commands: Commands, found: Sequence[Started]) -> None:
        for started in found:
            if self._is_over:
                return
            _attempt(f"query {started.query}", partial(self._start, started))
        while not self._is_over:
            try:
                command, change = self._changes.get(timeout=_STEP_S)
            except queue.Empty:
                self._try_again()
                self._look_after_successions()
                continue
            carry_out = partial(self._carry_out, command, change, commands)
            _attempt(f"command {command.number}", carry_out)

    @property
    def _is_over(self) -> bool:
        return self._stopped.is_set() or self._runtime.has_ended

    def _carry_out(self, command: Command, change: Change, commands: Commands) -> None:
        match change:
            case Started():
                if change.replaces:
                    self._runtime.remove(change.query)
                self._start(change)
            case Dropped(_, str(name)):
                self._end(name)
            case Terminated(names):
                for name in names:
                    self._end(name)
            case Paused(names, is_paused):
                self._pause(names, commands, is_paused=is_paused)

    def _end(self, name: str) -> None:
        """Stop a query for good; nothing of it is left but what it wrote."""
        self._waiting.pop(name, None)
        self._runtime.remove(name, forget=True)
        self._live.forget(name)
        succession = self._successions.pop(name, None)
        if succession is not None:
            succession.drop_topic()
            self._end(succession.old.query)

    def _stop(self, name: str) -> None:
        """Stop a query for a while, and the one that still serves in its place."""
        self._waiting.pop(name, None)
        self._runtime.remove(name)
        succession = self._successions.pop(name, None)
        if succession is not None:
            self._stop(succession.old.query)

    def _pause(self, names: tuple[str, ...], commands: Commands, *, is_paused: bool) -> None:
        for name in names:
            self._stop(name)
            started = commands.queries.get(name)
            if not is_paused and started is not None:
                self._start(started)

    def _start(self, started: Started) -> None:
        """Start a query; one that replaces another runs beside it first."""
        if self._runs(started.query):
            return
        succession = self._live.succession(started)
        if succession is None or succession.phase is Phase.DONE:
            self._run(started, started.sink.topic, started.late_topic)
            if succession is not None:
                self._clear(succession)
            return
        self._successions[started.query] = succession
        if succession.phase is Phase.BESIDE:
            self._start(succession.old)
            succession.create_topic()
            # Late records were told by the old query.
            self._run(started, succession.topic, late_topic="")

    def _clear(self, succession: Succession) -> None:
        """Remove what is left of a query that was replaced, and of the time beside it."""
        self._end(succession.old.query)
        succession.drop_topic()

    def _runs(self, name: str) -> bool:
        return any(s.name == name and s.state.is_active for s in self._runtime.statuses())

    def _look_after_successions(self) -> None:
        for succession in list(self._successions.values()):
            if succession.old.query in self._successions:
                # What it replaces has not yet taken its own place.
                continue
            try:
                self._advance(succession)
            except OrionError as error:
                logger.warning("query %s waits: %s", succession.new.query, error)
            except Exception:
                logger.exception("query %s", succession.new.query)

    def _advance(self, succession: Succession) -> None:
        new, old = succession.new, succession.old
        if succession.phase is Phase.BESIDE:
            if not succession.has_caught_up(self._live.topics(new)):
                return
            self._runtime.remove(new.query)
            self._runtime.remove(old.query)
            # From here on the old one never runs again: the table's rows are the new one's.
            succession.note(Phase.TAKING)
        count = succession.write_differences()
        pass_point("after_differences")
        logger.info("query %s takes the place of %s: %d rows", new.query, old.query, count)
        succession.note(Phase.DONE)
        del self._successions[new.query]
        self._run(new, new.sink.topic, new.late_topic)
        self._clear(succession)

    def _run(self, started: Started, topic: str, late_topic: str) -> None:
        def rows(planning: Planning) -> DataFrame:
            return self._live.rows(started, planning, start=started.start)

        self._waiting.pop(started.query, None)
        try:
            self._runtime.write_records(
                rows,
                topic,
                name=started.query,
                sources=self._live.sources(started),
                state=self._live.state(started.query, late_topic),
            )
        except UnavailableError as error:
            logger.warning("query %s waits: %s", started.query, error)
            self._runtime.refuse(started.query, error, state=State.RESTARTING)
            again = partial(self._run, started, topic, late_topic)
            self._waiting[started.query] = time.monotonic() + _AGAIN_S, again
        except OrionError as error:
            logger.error("query %s: %s", started.query, error)
            self._runtime.refuse(started.query, error)

    def _try_again(self) -> None:
        """Start what waits, if it is time."""
        for name, (when, start) in list(self._waiting.items()):
            if time.monotonic() >= when:
                _attempt(f"query {name}", start)


def _attempt(name: str, action: Callable[[], None]) -> None:
    """Do something that concerns one query; its failure is not that of the others."""
    try:
        action()
    except OrionError as error:
        logger.error("%s: %s", name, error)
    except Exception:
        logger.exception("%s", name)
