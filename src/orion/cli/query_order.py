"""Orders to queries: sent through the log, then waited for until the status shows the effect."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from orion.model import (
    ConflictError,
    NotFoundError,
    QueryStatus,
    State,
    UnavailableError,
    nearest,
)

if TYPE_CHECKING:
    from orion.app import App

_POLL_S = 0.25
_BEGUN = (State.RUNNING, State.FAILED, State.RESTARTING)


class QueryNotFoundError(NotFoundError):
    """Raised when no query of that name has ever spoken."""

    def __init__(self, name: str, known: list[str]) -> None:
        self.name = name
        every = "List the queries with: orion queries list"
        super().__init__(
            f"Query '{name}' does not exist.", fix=f"{nearest(name, known)} {every}".strip()
        )


class QueryGoneError(ConflictError):
    """Raised when nobody runs a query and so nobody can carry out the order."""

    def __init__(self, status: QueryStatus, *, supervised: bool) -> None:
        self.name, self.app, self.supervised = status.name, status.app, supervised
        here = "" if supervised else ", and is not supervised here"
        again = (
            f"orion queries restart {status.name}" if supervised else f"orion run {status.app}.py"
        )
        super().__init__(
            f"Query '{status.name}' is {status.state}: its app '{status.app}' does not run{here}.",
            fix=f"Start the app again with: {again}",
        )


class NoOwnStateError(ConflictError):
    """Raised when a query's state cannot be made anew apart from its checkpoint."""

    def __init__(self, status: QueryStatus) -> None:
        self.name, self.app = status.name, status.app
        super().__init__(
            f"Query '{status.name}' belongs to app '{status.app}', and Spark keeps its state in"
            " its checkpoint: only queries of SQL can be rebuilt. Nothing was changed.",
            fix="Give the query another name=… in the app: it reads its topics anew.",
        )


class LostInAppError(ConflictError):
    """Raised when lost records are to be passed over by a query whose source is a user's own."""

    def __init__(self, status: QueryStatus) -> None:
        self.name, self.app = status.name, status.app
        super().__init__(
            f"Query '{status.name}' belongs to app '{status.app}', which says itself how its topics"
            " are read: only queries of SQL skip what is lost by order. Nothing was changed.",
            fix="Give orion.stream options={'failOnDataLoss': 'false'} in the app.",
        )


class QueryActiveError(ConflictError):
    """Raised when a query that still runs would be forgotten."""

    def __init__(self, name: str, state: State) -> None:
        self.name, self.state = name, state
        super().__init__(
            f"Query '{name}' is {state}. Nothing was changed.",
            fix=f"Stop it first with: orion queries stop {name}",
        )


class QueryRefusedError(ConflictError):
    """Raised when a query was started again and did not stay up."""

    def __init__(self, status: QueryStatus) -> None:
        self.name, self.error = status.name, status.error
        super().__init__(
            f"Query '{status.name}' was started and is {status.state}: {status.error}.",
            fix=f"Look at its log with: orion logs {status.app}",
        )


class OrderTimeoutError(UnavailableError):
    """Raised when no process has carried out an order in time."""

    def __init__(self, verb: str, status: QueryStatus, timeout_s: float) -> None:
        self.verb, self.name, self.timeout_s = verb, status.name, timeout_s
        super().__init__(
            f"Query '{status.name}' has not carried out '{verb}' in {timeout_s:g} s: app "
            f"'{status.app}' is busy with a batch or does not run. It is {status.state}.",
            fix=f"Wait longer with --timeout, or see whether the app runs: orion logs {status.app}",
        )


class QueryOrders:
    """Stop, start again and forget queries, wherever they run."""

    def __init__(self, app: "App", *, timeout_s: float) -> None:
        self._app = app
        self._timeout_s = timeout_s

    def get(self, name: str) -> QueryStatus:
        """Return how a query is now."""
        return find_query(self._app.statuses.read(), name)

    def stop(self, name: str) -> QueryStatus:
        """Stop a query after its current batch; one that does not run is left as it is."""
        status, supervised = self._settle("stop", self.get(name))
        if status.state in (State.STOPPED, State.FAILED):
            return status
        if not self._hears(status, supervised):
            raise QueryGoneError(status, supervised=supervised is not None)
        self._app.orders.send("stop", name)
        return self._wait("stop", status, lambda now: not now.state.is_active)

    def restart(self, name: str) -> QueryStatus:
        """Start a query again where it was; its whole app, where that does not run."""
        before = self.get(name)
        status, supervised = self._settle("restart", before)
        if status.pid == before.pid:
            if self._hears(status, supervised):
                self._app.orders.send("restart", name)
            elif supervised is not None:
                self._app.supervisor.restart(status.app)
            else:
                raise QueryGoneError(status, supervised=False)
        return self._begun("restart", status, since_ms=before.started_ms)

    def rebuild(self, name: str) -> QueryStatus:
        """Drop a query's state and let it read its topics again."""
        return self._order_sql("rebuild", name, NoOwnStateError)

    def skip_lost(self, name: str) -> QueryStatus:
        """Start a query again behind records that its topics no longer hold."""
        return self._order_sql("skip", name, LostInAppError)

    def _order_sql(
        self, verb: str, name: str, refusal: Callable[[QueryStatus], ConflictError]
    ) -> QueryStatus:
        """Give an order that only the engine's queries know, and wait until they have begun."""
        from orion.app import ENGINE

        before = self.get(name)
        if before.app != ENGINE:
            raise refusal(before)
        status, supervised = self._settle(verb, before)
        if not self._hears(status, supervised):
            raise QueryGoneError(status, supervised=supervised is not None)
        self._app.orders.send(verb, name)
        return self._begun(verb, status, since_ms=status.started_ms)

    def _begun(self, verb: str, status: QueryStatus, *, since_ms: int) -> QueryStatus:
        """Wait until a query has begun another time than the one it is known by."""
        begun = self._wait(
            verb, status, lambda now: now.started_ms != since_ms and now.state in _BEGUN
        )
        if begun.state is not State.RUNNING:
            raise QueryRefusedError(begun)
        return begun

    def forget(self, name: str) -> QueryStatus:
        """Remove a query that does not run from the list; its data stays."""
        status = self.get(name)
        if status.state.is_active:
            raise QueryActiveError(name, status.state)
        self._app.statuses.forget(name)
        return status

    def forget_app(self, app: str) -> list[str]:
        """End a supervised app for good and forget its queries; return their names."""
        statuses = self._app.statuses.read()
        names = [status.name for status in statuses.values() if status.app == app]
        supervised = self.is_supervised(app)
        if not names and not supervised:
            raise NotFoundError(
                f"There is no app '{app}'.",
                fix=nearest(app, {status.app for status in statuses.values()})
                or "See the apps with: orion queries list, orion status",
            )
        if not supervised:
            return [self.forget(name).name for name in names]
        # Its process is gone after this, whatever it last said of its queries.
        self._app.supervisor.remove(app)
        for name in names:
            self._app.statuses.forget(name)
        return names

    def is_supervised(self, app: str) -> bool:
        """Tell whether the project's supervisor keeps an app of this name."""
        return self._process(app) is not None

    def _settle(self, verb: str, status: QueryStatus) -> tuple[QueryStatus, int | None]:
        """Return the status once it is that of the app's present process, and the process.

        An app that has just been started speaks for the first time when its Spark is up.
        """
        pid = self._process(status.app)
        if not pid or pid == status.pid:
            return status, pid
        return self._wait(verb, status, lambda now: now.pid == pid), pid

    def _hears(self, status: QueryStatus, supervised: int | None) -> bool:
        """Tell whether a process may hear an order; one on another machine is believed to."""
        from orion.supervise import process_exists

        if status.state is State.LOST or supervised == 0:
            return False
        local = self._app.settings.kafka.is_local
        return supervised is not None or not local or process_exists(status.pid)

    def _process(self, app: str) -> int | None:
        """Return the pid of a supervised app, 0 while it has none, None when it is not one."""
        from orion.supervise import NotRunningError

        try:
            found = self._app.supervisor.statuses()
        except NotRunningError:
            return None
        return next((p.pid or 0 for p in found if p.name == app and not p.required), None)

    def _wait(
        self, verb: str, before: QueryStatus, done: Callable[[QueryStatus], bool]
    ) -> QueryStatus:
        deadline = time.monotonic() + self._timeout_s
        while True:
            now = self._app.statuses.read().get(before.name, before)
            if done(now):
                return now
            if time.monotonic() > deadline:
                raise OrderTimeoutError(verb, now, self._timeout_s)
            time.sleep(_POLL_S)


def find_query(statuses: dict[str, QueryStatus], name: str) -> QueryStatus:
    """Return a query's status, or say which one may have been meant."""
    if name not in statuses:
        raise QueryNotFoundError(name, sorted(statuses))
    return statuses[name]
