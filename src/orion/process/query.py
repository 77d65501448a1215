"""The life of a query: started, watched, restarted with back-off, FAILED after too many."""

import logging
import os
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from orion.config import EngineSettings
from orion.log import GroupCommit
from orion.model import (
    ConflictError,
    InvalidInputError,
    Mode,
    NotFoundError,
    OrionError,
    QueryStatus,
    State,
    parse_duration_ms,
)
from orion.process.definition import Definition
from orion.process.format import unplanned_schema_id
from orion.process.lost import Gap, RecordsLostError, find_gaps, tells_of_loss
from orion.process.planning import Planning
from orion.process.running import Place, RunningQuery
from orion.process.stranger import end_offsets
from orion.state import StateDamagedError, StateMismatchError

logger = logging.getLogger(__name__)

_LONGEST_BACKOFF_S = 60.0
# Progress is a JSON text of Spark's: not read more often than people look.
_LOOK_EVERY_S = 1.0
# Of what a status tells: our own errors end with what to do, Spark's may quote whole plans.
_LONGEST_ERROR = 1500
# Trying again cannot help against these.
_FINAL = (ConflictError, InvalidInputError, NotFoundError)
# As Spark tells of them when they were raised in a task.
_FINAL_IN_TASKS = re.compile(rf"\b(?:{StateMismatchError.__name__}|{StateDamagedError.__name__}): ")


@dataclass(frozen=True)
class RestartPolicy:
    """How often and how soon a failing query is started again."""

    max_restarts: int
    backoff_s: float
    stable_after_s: float

    @classmethod
    def from_settings(cls, settings: EngineSettings) -> "RestartPolicy":
        """Read the policy from the settings."""
        return cls(
            settings.max_restarts,
            parse_duration_ms(settings.backoff) / 1000,
            parse_duration_ms(settings.stable_after) / 1000,
        )

    def wait_s(self, restarts: int) -> float:
        """Return how long to wait before the next start."""
        return min(self.backoff_s * (1 << restarts), _LONGEST_BACKOFF_S)


class Query:
    """A query and its runs. Methods may be called from any thread; one works at a time."""

    def __init__(
        self,
        definition: Definition,
        place: Place,
        policy: RestartPolicy,
        *,
        app: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.definition = definition
        self._place = place
        self._policy = policy
        self._clock = clock
        self._lock = threading.RLock()
        self._run: RunningQuery | None = None
        self._next_start_s = 0.0
        self._running_since_s = 0.0
        self._looked_s = 0.0
        self._dead_letters_before = 0
        self._planning = Planning()
        self._groups = GroupCommit(place.connection)
        # Spark's words for what it does, once a batch has been planned.
        self.plan = ""
        self.status = QueryStatus(
            name=definition.name,
            app=app,
            state=State.STARTING,
            mode=definition.mode,
            sink=definition.sink_name,
            guarantee=definition.guarantee,
            checkpoint=place.checkpoint,
            pid=os.getpid(),
            late_topic="" if definition.state is None else definition.state.late_topic,
        )

    def start(self, sources: tuple[str, ...]) -> None:
        """Start for the first time, or again after a stop; a refusal is raised to the caller."""
        with self._lock:
            # From here on, so that one that is refused is seen to have been tried.
            now_ms = int(self._clock() * 1000)
            self._change(
                state=State.STARTING, restarts=0, error="", sources=sources, started_ms=now_ms
            )
            self._begin()

    def attempt(self, sources: tuple[str, ...]) -> None:
        """Start; a refusal is taken as the failure of a run: tried again if it may pass."""
        with self._lock:
            try:
                self.start(sources)
            except Exception as error:  # noqa: BLE001 - any failure of a start is a failed run
                self._failed(error)

    def restart(self, *, skips_lost: bool = False) -> None:
        """Start again with a clean count of restarts.

        Args:
            skips_lost: Go on behind records that the topics no longer hold.
        """
        with self._lock:
            self._planning = replace(self._planning, skips_lost=skips_lost)
            self.attempt(self.status.sources)

    def step(self) -> None:
        """Look after the query: notice failures, restart when it is time, read progress."""
        with self._lock:
            if self.status.state is State.RESTARTING and self._clock() >= self._next_start_s:
                try:
                    self._begin()
                except Exception as error:  # noqa: BLE001 - any failure of a start is a failed run
                    self._failed(error)
            elif self.status.state in (State.STARTING, State.RUNNING):
                self._watch()

    def stop(self) -> None:
        """Stop after the current batch; the query may be started again."""
        with self._lock:
            if self._run is not None:
                self._run.stop()
                self._read_progress()
                self._run = None
            if self.status.state is not State.FAILED:
                self._change(state=State.STOPPED, records_per_second=0.0)

    def _begin(self) -> None:
        if self._planning.skips_lost:
            for gap in self._gaps():
                logger.warning("query %s goes on without %s", self.definition.name, gap)
        self._run = RunningQuery(self.definition, self._place, self._planning)
        self.plan = ""
        self._run.start()
        self._running_since_s = self._clock()
        self._change(state=State.RUNNING, started_ms=int(self._clock() * 1000))

    def _watch(self) -> None:
        assert self._run is not None
        if self._clock() - self._looked_s > _LOOK_EVERY_S:
            self._looked_s = self._clock()
            self._read_progress()
            if self._has_passed():
                self._run.stop()
                self._planning = replace(self._planning, skips_lost=False)
                self._begin()
                return
        if self._run.is_active:
            if self._clock() - self._running_since_s > self._policy.stable_after_s:
                self._change(restarts=0)
            return
        failure = self._run.failure
        self._read_progress()
        self._run.close()
        self._dead_letters_before = self.status.dead_letters
        self._run = None
        if failure is None:
            self._change(state=State.STOPPED, records_per_second=0.0)
        else:
            self._failed(failure)

    def _failed(self, error: BaseException) -> None:
        schema_id = unplanned_schema_id(error)
        if schema_id is not None and schema_id not in self._planning.schema_ids:
            self._plan_anew(schema_id)
            return
        error = self._lost(error) or error
        text = first_line(error)
        restarts = self.status.restarts
        if is_final(error) or restarts >= self._policy.max_restarts:
            logger.error("query %s FAILED: %s", self.definition.name, text)
            self._change(state=State.FAILED, error=text, records_per_second=0.0)
            return
        wait_s = self._policy.wait_s(restarts)
        self._next_start_s = self._clock() + wait_s
        logger.warning("query %s failed, restart in %.0f s: %s", self.definition.name, wait_s, text)
        self._change(state=State.RESTARTING, error=text, restarts=restarts + 1)

    def _plan_anew(self, schema_id: int) -> None:
        """Start again at once, with a plan for schemas that came up since the last one."""
        known = self._planning.schema_ids
        self._planning = replace(self._planning, schema_ids=known | {schema_id})
        logger.info("query %s is planned anew for schema id %d", self.definition.name, schema_id)
        self._next_start_s = self._clock()
        self._change(state=State.RESTARTING)

    def _lost(self, error: BaseException) -> RecordsLostError | None:
        """Return what an error means if records are gone that the query was to read."""
        if not tells_of_loss(error):
            return None
        try:
            gaps = self._gaps()
        except OrionError as unknown:
            logger.warning("query %s: what is lost is not known: %s", self.definition.name, unknown)
            return None
        by_order = self.definition.state is not None
        return RecordsLostError(self.definition.name, gaps, by_order=by_order) if gaps else None

    def _gaps(self) -> list[Gap]:
        return find_gaps(self._place.connection, self.definition.name, self._place.checkpoint)

    def _has_passed(self) -> bool:
        """Tell whether a run that skips what is lost has come past it; from there on none may."""
        assert self._run is not None
        return self._planning.skips_lost and self._run.batch >= 0 and not self._gaps()

    def _read_progress(self) -> None:
        assert self._run is not None
        progress = self._run.progress
        batch = max(self._run.batch, int(progress.get("batchId", -1)))
        if self.definition.mode is Mode.REALTIME:
            self._groups.commit(self.definition.name, end_offsets(progress))
        if not self.plan and batch >= 0:
            self.plan = self._run.plan
        if batch == self.status.batch and not progress.get("numInputRows"):
            self._change(records_per_second=0.0)
            return
        self._read_state()
        self._change(
            batch=batch,
            records_per_second=float(progress.get("processedRowsPerSecond") or 0.0),
            dead_letters=self._dead_letters_before + self._run.dead_letters,
        )

    def _read_state(self) -> None:
        """Look at what the query keeps beside its checkpoint."""
        if self.definition.state is None:
            return
        found = self.definition.state.summary()
        self._change(
            state_entries=found.entries,
            state_bytes=found.size_bytes,
            late_records=found.late_records,
            watermark_ms=found.watermark_ms,
        )

    def _change(self, **values: object) -> None:
        self.status = replace(self.status, **values)  # type: ignore[arg-type]


def is_final(error: BaseException) -> bool:
    """Tell whether trying again cannot help."""
    return isinstance(error, _FINAL) or _FINAL_IN_TASKS.search(str(error)) is not None


# From what says most to what says least: a Python error in a task, the innermost Java cause,
# what follows an announced Python worker's end, the error behind a call's number.
_CAUSES = (
    r"^(?:[\w.]+\.)?\w+Error: (.+)$",
    r"^Caused by: [\w.$]+: (.+)$",
    r"^Error from python worker:\n\s*(.+)$",
    r"^: [\w.$]+(?:Exception|Error): (.+)$",
)


def first_line(error: BaseException) -> str:
    """Return the line of an error that says most; Spark wraps the cause in pages of trace."""
    text = str(error).strip()
    if len(text) > 300 or text.startswith("An error occurred while calling"):
        for pattern in _CAUSES:
            found = [line for line in re.findall(pattern, text, flags=re.MULTILINE) if line.strip()]
            if found:
                return str(found[-1])[:_LONGEST_ERROR]
    lines = [line for line in text.splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:_LONGEST_ERROR]
