"""How far the queries are: lag and batch of each, the songs in front, what went wrong."""

import re
from dataclasses import dataclass
from typing import Any

from orion.app import ENGINE, App
from orion.demo.project import APP_NAME
from orion.lake import TableNotFoundError
from orion.model import OrionError, QueryStatus, State, UnavailableError

# The queries by what they read, in the order of the data: once those of a level have read all, all
# that the next level will read is there.
LEVELS = (
    ("bronze.plays", "plays_seen"),
    ("enriched_plays",),
    ("silver.plays", "top_songs", "sessions"),
    ("gold.top_songs", "gold.sessions"),
)
QUERIES = tuple(name for level in LEVELS for name in level)
# A query of SQL is named by its statement's kind, its result and its number in the command log.
_SQL_QUERY = re.compile(r"C[ST]AS_(\w+)_\d+")
_TOP_SQL = """
    SELECT title, artist, sum(plays)::BIGINT AS plays FROM songs
    GROUP BY ALL ORDER BY plays DESC, title LIMIT 5
"""


class PipelineFailedError(UnavailableError):
    """Raised when the demo's queries cannot go on."""

    def __init__(self, reason: str, folder: str) -> None:
        self.reason = reason
        super().__init__(
            f"The demo's queries have stopped: {reason}.",
            fix=f"{ENGINE}.log and {APP_NAME}.log say more, in {folder}/.orion/logs",
        )


def short_name(query: str) -> str:
    """Return what a query writes, by its full name."""
    found = _SQL_QUERY.fullmatch(query)
    return found[1].lower() if found else query.removeprefix(f"{APP_NAME}-")


@dataclass(frozen=True)
class QueryProgress:
    """One query now; None: not known yet."""

    name: str
    state: str = "-"
    lag_records: int | None = None
    batch: int | None = None
    records_per_second: float = 0.0
    dead_letters: int = 0


@dataclass(frozen=True)
class Progress:
    """All queries at one moment.

    Args:
        restarts: How often the engine was started again.
    """

    queries: tuple[QueryProgress, ...] = tuple(QueryProgress(name) for name in QUERIES)
    top_songs: tuple[tuple[str, str, int], ...] = ()
    restarts: int = 0

    def lag(self, query: str) -> int | None:
        """Return the lag of one query."""
        return next((q.lag_records for q in self.queries if q.name == query), None)


class ProgressReader:
    """Reads progress from the log and the lake; a part that does not answer is left out."""

    def __init__(self, app: App) -> None:
        self._app = app

    def lags(self) -> dict[str, int]:
        """Return the lag of each query that has committed, by its short name."""
        groups = self._app.groups.list()
        found = {short_name(group.name): group.lag_records for group in groups}
        return {name: lag for name in QUERIES if (lag := found.get(name)) is not None}

    def read(self) -> Progress:
        """Return everything the view shows, or raise when the queries cannot go on."""
        lags, statuses = self.lags(), dict[str, QueryStatus]()
        for name, status in self._app.statuses.read().items():
            if status.state is State.FAILED:
                self._fail(f"query '{name}' is FAILED, {status.error}")
            statuses[short_name(name)] = status
        queries = tuple(_progress(name, statuses.get(name), lags.get(name)) for name in QUERIES)
        return Progress(queries, self._top_songs(), self._restarts())

    def _restarts(self) -> int:
        found = {process.name: process for process in self._app.supervisor.statuses()}
        for name in (ENGINE, APP_NAME):
            if name in found and found[name].state == "failed":
                self._fail(f"process '{name}' ended with {found[name].last_exit}")
        return found[ENGINE].restarts if ENGINE in found else 0

    def _fail(self, reason: str) -> None:
        raise PipelineFailedError(reason, str(self._app.settings.project))

    def _top_songs(self) -> tuple[tuple[str, str, int], ...]:
        try:
            rows: list[dict[str, Any]] = self._app.lake.query(
                _TOP_SQL, songs="gold/top_songs"
            ).to_pylist()
        except (TableNotFoundError, OrionError):
            return ()
        return tuple((row["title"], row["artist"], row["plays"]) for row in rows)


def _progress(name: str, status: QueryStatus | None, lag: int | None) -> QueryProgress:
    if status is None:
        return QueryProgress(name, lag_records=lag)
    return QueryProgress(
        name,
        state=status.state,
        lag_records=lag,
        batch=max(status.batch, 0),
        records_per_second=status.records_per_second,
        dead_letters=status.dead_letters,
    )
