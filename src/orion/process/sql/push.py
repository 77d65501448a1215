"""Push queries: transient queries that write to a topic of their own and end with their client."""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from orion.command import Commands
from orion.model import Scalar
from orion.process.runtime import Runtime
from orion.process.sql.group import identity_of
from orion.process.sql.live import LiveSql
from orion.sql import (
    Column,
    Format,
    QueryPlan,
    Role,
    Source,
    Started,
    parse_statements,
    plan_query,
    step,
    tree,
    typed,
)

logger = logging.getLogger(__name__)

PUSH_PREFIX = "_orion_push_"
# A client that is silent for so long is gone, and its query ends.
SILENCE_S = 30.0
_LOOK_S = 2.0
_LETTERS = "_orion_push_dead_letters"


class PushQueries:
    """The push queries of all clients; requests come from one thread."""

    def __init__(self, runtime: Runtime, live: LiveSql, commands: Commands) -> None:
        self._runtime = runtime
        self._live = live
        self._commands = commands
        self._heard: dict[str, float] = {}
        self._lock = threading.Lock()

    def take(self, request: Mapping[str, Any]) -> None:
        """Start or stop a query, or note that its client still listens."""
        name = str(request.get("id", ""))
        verb = request.get("verb")
        with self._lock:
            if verb == "start":
                self._heard[name] = time.monotonic()
                try:
                    self._start(name, request)
                except Exception as error:  # noqa: BLE001 - its client waits for a word of any failure
                    logger.warning("push query %s: %s", name, error)
                    self._runtime.refuse(name, error)
            elif verb == "stop":
                self._stop(name)
            elif verb == "alive" and name in self._heard:
                self._heard[name] = time.monotonic()

    def look_after(self, stopped: threading.Event) -> None:
        """End the queries of clients that are gone; blocks until stopped."""
        while not stopped.wait(_LOOK_S):
            now = time.monotonic()
            with self._lock:
                for name, heard in list(self._heard.items()):
                    if now - heard > SILENCE_S:
                        logger.info("push query %s: its client is gone", name)
                        self._stop(name)

    def _start(self, name: str, request: Mapping[str, Any]) -> None:
        (statement,) = parse_statements(str(request["sql"]))
        assert isinstance(statement, tree.SelectStatement)
        plan = _keyed(
            plan_query(statement.query, self._commands.catalogue, self._commands.functions)
        )
        started = Started(name, plan, push_sink(name, plan), creates=False)
        start = str(request.get("start", "latest"))
        self._runtime.write_records(
            lambda planning: self._live.rows(started, planning, start=start),
            started.sink.topic,
            name=name,
            sources=self._live.sources(started),
            letters=_LETTERS,
        )

    def _stop(self, name: str) -> None:
        if self._heard.pop(name, None) is not None:
            self._runtime.remove(name, forget=True)
            self._live.forget(name)


def push_sink(name: str, plan: QueryPlan) -> Source:
    """Return the topic that a push query's rows go to, as JSON by their columns' names."""
    key = [Column(named.name, named.type, Role.KEY) for named in plan.key if named.type]
    value = [Column(named.name, named.type, Role.VALUE) for named in plan.value if named.type]
    return Source(
        name=name,
        kind=tree.SourceKind.STREAM,
        columns=(*key, *value),
        topic=f"{PUSH_PREFIX}{name}",
        key_format=Format("JSON", wrap=_wrapped(key)) if key else Format("NONE"),
        value_format=Format("JSON", wrap=_wrapped(value)),
    )


def _wrapped(columns: Sequence[Column]) -> bool | None:
    return True if len(columns) == 1 else None


def _keyed(plan: QueryPlan) -> QueryPlan:
    """Return a plan whose rows have what tells them apart as a key too: all that is left of one."""
    if not plan.is_table:
        return plan
    identity = _identity(plan.step.input)
    keys = [
        step.Named(named.name, found)
        for named in plan.value
        for expression, found in identity
        if named.expression == expression
    ]
    return replace(plan, step=replace(plan.step, key=tuple(keys)))


def _identity(node: step.Step) -> list[tuple[typed.Typed, typed.Typed]]:
    """Return what tells rows apart, by the expressions that may be selected for it."""
    found = identity_of(node)
    if isinstance(node, step.JoinStep) and not node.is_foreign_key:
        return [(side, found[0]) for side in (node.match.left, node.match.right)]
    same: list[typed.Typed] = []
    if isinstance(node, step.Aggregate) and node.window is not None:
        same = [typed.Input(Scalar.BIGINT, name) for name in ("WINDOWSTART", "WINDOWEND")]
    selected = identity_of(node.left) if isinstance(node, step.JoinStep) else found
    return [*zip(selected, found, strict=True), *zip(same, same, strict=True)]
