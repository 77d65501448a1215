"""A random query from a small grammar, and the answer to it, computed from all records at once."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.integration.differential.aggregate import (
    Aggregate,
    Window,
    group_rows,
    random_aggregates,
    random_having,
    random_window,
)
from tests.integration.differential.expression import (
    Columns,
    Expression,
    Row,
    column,
    random_condition,
    random_number,
    random_text,
)
from tests.integration.differential.record import Event
from tests.integration.differential.source import Given, Source, random_source, rows_of

Value = dict[str, Any]
# Key, start and end of a window; 0 where there are none.
Place = tuple[Any, int, int]


@dataclass
class Answer:
    """What a query's topic must say.

    Args:
        events: Of a stream: values and times by key, in order.
        rows: Of a table: the last value of each place.
        changes: How many records there must be; None: any number.
    """

    events: dict[Any, list[tuple[Value | None, int]]] = field(default_factory=dict)
    rows: dict[Place, Value] = field(default_factory=dict)
    changes: int | None = None


@dataclass(frozen=True)
class Question:
    """A query.

    Args:
        into: What a stream's rows are keyed by, where it is not the key that they have.
        by: What rows are grouped by; empty: they are not.
        partitions: How many parts its state is spread over.
    """

    source: Source
    where: Expression | None
    selected: tuple[Expression | Aggregate, ...]
    into: Expression | None = None
    by: tuple[Expression, ...] = ()
    having: Aggregate | None = None
    window: Window | None = None
    partitions: int = 1

    @property
    def is_table(self) -> bool:
        return self.source.is_table or bool(self.by)

    def statement(self, name: str = "answer", options: str = "") -> str:
        """Return it in SQL.

        Args:
            options: Further options of what it makes.
        """
        options = ", ".join(["KEY_FORMAT='JSON'"] * (len(self.by) > 1) + [options] * bool(options))
        keys = self.by or (self.into or column(self.source.key),)
        columns = [
            *(f"{e.sql} AS g{n}" for n, e in enumerate(keys)),
            *(f"{e.sql} AS c{n}" for n, e in enumerate(self.selected)),
        ]
        parts = [
            f"CREATE {'TABLE' if self.is_table else 'STREAM'} {name}",
            f" WITH ({options})" if options else "",
            f" AS SELECT {', '.join(columns)} FROM {self.source.sql}",
            "" if self.window is None else self.window.sql,
            "" if self.where is None else f" WHERE {self.where.sql}",
            "" if self.into is None else f" PARTITION BY {self.into.sql}",
            f" GROUP BY {', '.join(part.sql for part in self.by)}" if self.by else "",
            "" if self.having is None else f" HAVING {self.having.sql}",
            " EMIT FINAL;" if self.window is not None and self.window.final else " EMIT CHANGES;",
        ]
        return "".join(parts)

    def answer(self, events: Sequence[Event]) -> Answer:
        rows = list(rows_of(self.source, events))
        if self.by:
            return self._groups(rows)
        if self.source.is_table:
            last = {given.key: given for given in rows}
            kept = {key: given.row for key, given in last.items() if self._holds(given)}
            return Answer(rows={(key, 0, 0): self._value(row or {}) for key, row in kept.items()})
        found = Answer()
        for given in rows:
            # A stream's tombstones pass a projection, but no condition.
            if self._holds(given) or (self.where is None and given.row is None):
                value = None if given.row is None else self._value(given.row)
                key = given.key
                if self.into is not None and given.row is not None:
                    key = self.into.value(given.row)
                found.events.setdefault(key, []).append((value, given.time_ms))
        return found

    def _holds(self, given: Given) -> bool:
        return given.row is not None and (self.where is None or bool(self.where.value(given.row)))

    def _value(self, row: Any) -> Value:
        return {f"C{n}": part.value(row) for n, part in enumerate(self.selected)}

    def _group(self, row: Row) -> Any:
        """Return the key of a row's group; None: it has none, as part of its key is null."""
        parts = tuple(part.value(row) for part in self.by)
        if None in parts:
            return None
        return parts if len(parts) > 1 else parts[0]

    def _groups(self, rows: Sequence[Given]) -> Answer:
        keyed = [
            (key, given)
            for given in rows
            if given.row is not None
            and self._holds(given)
            and (key := self._group(given.row)) is not None
        ]
        # A group of a table stays, with nothing in it, when its last row has left.
        empty: dict[Any, list[Any]] = {}
        if self.source.is_table:
            empty = {key: [] for key, _ in keyed}
        changes = len(keyed) if self._tells_every_row else None
        if self.source.is_table:
            last = {given.key: given for given in rows}
            keyed = [(key, given) for key, given in keyed if last[given.key] is given]
        found: dict[Place, list[Any]] = {(key, 0, 0): none for key, none in empty.items()}
        for group in group_rows(keyed, self.window):
            found[group.key, group.start_ms, group.end_ms] = group.rows
        return Answer(
            rows={
                place: self._value(rows)
                for place, rows in found.items()
                if self.having is None or self.having.value(rows)
            },
            changes=changes,
        )

    @property
    def _tells_every_row(self) -> bool:
        return self.window is None and self.having is None and not self.source.is_table


def random_question(rng: random.Random) -> Question:
    source, partitions = random_source(rng), rng.choice([1, 1, 3])
    if source.has_one_clock:
        partitions = 1
    where = random_condition(rng, source.columns) if rng.random() < 0.5 else None
    if rng.random() < 0.35:
        # A condition lets no tombstone pass, which would have nothing to be keyed by.
        may_move = not source.is_table and where is not None and rng.random() < 0.3
        return Question(
            source,
            where,
            _projection(rng, source.columns),
            into=random_text(rng, source.columns, 1) if may_move else None,
            partitions=partitions,
        )
    window = None
    if not source.is_table:
        window = random_window(rng, may_drop=partitions == 1)
    aggregates = random_aggregates(rng, source.columns, is_table=source.is_table, window=window)
    has_having = rng.random() < 0.25 and (window is None or not window.final)
    return Question(
        source,
        where,
        tuple(aggregates),
        by=_keys(rng, source),
        having=random_having(rng, aggregates) if has_having else None,
        window=window,
        partitions=partitions,
    )


def _projection(rng: random.Random, columns: Columns) -> tuple[Expression, ...]:
    numbers = [random_number(rng, columns) for _ in range(rng.randint(1, 3))]
    text = random_text(rng, columns)
    # A column that is the key may be selected again only as a copy.
    return (*numbers, Expression(f"AS_VALUE({text.sql})", text.value))


def _keys(rng: random.Random, source: Source) -> tuple[Expression, ...]:
    one, other = (_key(rng, source) for _ in range(2))
    return (one, other) if rng.random() < 0.2 and one.sql != other.sql else (one,)


def _key(rng: random.Random, source: Source) -> Expression:
    choice = rng.random()
    if choice < 0.4 and not source.is_table:
        return column(source.key)
    if choice < 0.8:
        return column(rng.choice(source.columns.texts))
    return random_text(rng, source.columns, 1)
