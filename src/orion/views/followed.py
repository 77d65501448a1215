"""Queries that go on and look at each record by itself: they need no engine, only a reader."""

from dataclasses import dataclass

from orion.sql import QueryPlan, Source, step, typed
from orion.views.projection import Projection, Values
from orion.views.reader import Key, RowChange


@dataclass(frozen=True)
class ChangedRow:
    """A row that goes to a client; of a row that is gone, what of it is known by its key."""

    values: Values
    is_tombstone: bool = False


def followed_source(plan: QueryPlan) -> Source | None:
    """Return the stream or table of a query that looks at each record by itself."""
    project = plan.step
    if project.having is not None or project.is_keyed_anew:
        return None
    node = project.input
    if isinstance(node, step.Filter):
        node = node.input
    return node.source if isinstance(node, step.Read) else None


class FollowedQuery:
    """Turns changes of a source into rows of a query; used by one thread at a time."""

    def __init__(self, plan: QueryPlan) -> None:
        node = plan.step.input
        where = node.condition if isinstance(node, step.Filter) else None
        (read,) = step.reads_of(plan.step)
        self._is_table = read.source.is_table
        self._projection = Projection(plan.value, where)
        self._names = [
            n.expression.name if isinstance(n.expression, typed.Input) else None for n in plan.value
        ]
        # Rows that a client has seen, where a condition decides which: they must be taken back.
        self._shown: set[tuple[Key, Key]] | None = (
            set() if where is not None and self._is_table else None
        )

    def rows(self, changes: list[RowChange]) -> list[ChangedRow]:
        """Return what the changes mean to who follows."""
        found = (self._row(change) for change in changes)
        return [row for row in found if row is not None]

    def _row(self, change: RowChange) -> ChangedRow | None:
        at = (change.key, change.window)
        if change.row is not None and self._projection.accepts(change.row):
            if self._shown is not None:
                self._shown.add(at)
            return ChangedRow(self._projection.values(change.row))
        if not self._is_table:
            return None
        if self._shown is not None:
            if at not in self._shown:
                return None
            self._shown.discard(at)
        known = tuple([change.key_columns.get(str(name)) for name in self._names])
        return ChangedRow(known, is_tombstone=True)
