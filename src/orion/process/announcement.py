"""Says in the log how the queries of an application are: what changed, and that the rest lives."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from orion.log import HEARTBEAT_S, Connection, StatusLog
from orion.model import Mode, QueryStatus, State
from orion.process.query import Query, first_line


class Announcements:
    """What was last said of each query. Methods are called by one thread at a time."""

    def __init__(self, connection: Connection, *, app: str) -> None:
        self._log = StatusLog(connection)
        self._app = app
        self._said: dict[str, QueryStatus] = {}
        self._plans: dict[str, str] = {}

    def say(self, statuses: Mapping[str, QueryStatus], *, force: bool = False) -> None:
        """Publish those that have changed, or of which nothing was heard for a while."""
        now_ms = _now_ms()
        for name, status in statuses.items():
            last = self._said.get(name)
            if last is None or force or _is_news(last, status, now_ms):
                said = replace(status, updated_ms=now_ms)
                self._log.publish(said)
                self._said[name] = said

    def say_plans(self, queries: Iterable[Query]) -> None:
        """Publish how queries are carried out, once for each plan."""
        for query in queries:
            name = query.definition.name
            if query.plan and self._plans.get(name) != query.plan:
                self._log.publish_plan(name, query.plan)
                self._plans[name] = query.plan

    def refuse(self, name: str, error: Exception, *, state: State) -> None:
        """Publish why a query could not even be started."""
        status = QueryStatus(name, self._app, state, Mode.EXACTLY_ONCE, error=first_line(error))
        now_ms = _now_ms()
        self._log.publish(replace(status, started_ms=now_ms, updated_ms=now_ms))

    def end(self, name: str, last: QueryStatus | None) -> None:
        """Publish the last word of a query that is not looked after any more, if it has one."""
        self._said.pop(name, None)
        self._plans.pop(name, None)
        if last is not None:
            self._log.publish(last)

    def forget(self, name: str) -> None:
        """Take back all that was said of a query."""
        self.end(name, None)
        self._log.forget(name)

    def flush(self) -> None:
        """Wait until what was said is stored."""
        self._log.flush()


def _now_ms() -> int:
    return int(time.time() * 1000)


def _is_news(last: QueryStatus, status: QueryStatus, now_ms: int) -> bool:
    silent_ms = now_ms - last.updated_ms
    changed = _news(last) != _news(status)
    moved = status.batch != last.batch and silent_ms > 1000
    alive = status.state.is_active and silent_ms > HEARTBEAT_S * 1000
    return changed or moved or alive


def _news(status: QueryStatus) -> tuple[object, ...]:
    return status.state, status.error, status.restarts, status.started_ms
