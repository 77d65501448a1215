"""Random aggregates and windows: their text in SQL, and their meaning over rows in Python."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.integration.differential.expression import (
    Columns,
    Expression,
    Row,
    column,
    compare,
    random_number,
)
from tests.integration.differential.record import STEP_MS
from tests.integration.differential.source import Given

Values = list[Any]
_OF_ANY: dict[str, Callable[[Values], Any]] = {
    "COUNT": len,
    "SUM": sum,
    "AVG": lambda values: sum(values) / len(values) if values else 0.0,
}
# These cannot give a row back, so a table's rows are not grouped by them.
_OF_STREAMS: dict[str, Callable[[Values], Any]] = {
    "MIN": lambda values: min(values, default=None),
    "MAX": lambda values: max(values, default=None),
    "COUNT_DISTINCT": lambda values: len(set(values)),
    "TOPK": lambda values: sorted(values, reverse=True)[:2],
    "TOPKDISTINCT": lambda values: sorted(set(values), reverse=True)[:2],
}
# Which row came last is lost where sessions grow together.
_OF_ORDER: dict[str, Callable[[Values], Any]] = {
    "EARLIEST_BY_OFFSET": lambda values: values[0] if values else None,
    "LATEST_BY_OFFSET": lambda values: values[-1] if values else None,
}
_NO_INTEGERS = ("AVG", "TOPK", "HISTOGRAM")
# How many values they keep.
_CONSTANTS = {"TOPK": ", 2", "TOPKDISTINCT": ", 2"}


@dataclass(frozen=True)
class Aggregate:
    """An aggregate and its value over the rows of a group, in the order they came."""

    sql: str
    value: Callable[[Sequence[Row]], Any]


@dataclass(frozen=True)
class Window:
    """Windows of a grouping.

    Args:
        kind: TUMBLING, HOPPING or SESSION.
        grace_ms: How late a row may come; None: nothing is late here.
    """

    kind: str
    size_ms: int
    advance_ms: int
    grace_ms: int | None
    final: bool = False

    @property
    def sql(self) -> str:
        size = f"{self.size_ms} MILLISECONDS"
        if self.kind != "SESSION":
            size = f"SIZE {size}"
        if self.kind == "HOPPING":
            size += f", ADVANCE BY {self.advance_ms} MILLISECONDS"
        if self.grace_ms is not None:
            size += f", GRACE PERIOD {self.grace_ms} MILLISECONDS"
        return f" WINDOW {self.kind} ({size})"


@dataclass
class Group:
    """A group with its rows; without windows, start and end are 0."""

    key: Any
    start_ms: int
    end_ms: int
    rows: list[Row]


def count_rows() -> Aggregate:
    return Aggregate("COUNT(*)", len)


def random_aggregates(
    rng: random.Random, columns: Columns, *, is_table: bool, window: Window | None
) -> list[Aggregate]:
    known = {**_OF_ANY}
    if not is_table:
        known |= _OF_STREAMS
        if window is None or window.kind != "SESSION":
            known |= _OF_ORDER
    found = [count_rows()]
    for _ in range(rng.randint(1, 3)):
        name = rng.choice(list(known))
        found.append(_over(name, known[name], random_number(rng, columns, 1)))
    if rng.random() < 0.15:
        found.append(_over("HISTOGRAM", _histogram, column(rng.choice(columns.texts))))
    return found


def _histogram(values: Values) -> dict[str, int]:
    return dict(Counter(values))


def _over(name: str, meaning: Callable[[Values], Any], argument: Expression) -> Aggregate:
    def value(rows: Sequence[Row]) -> Any:
        return meaning([v for row in rows if (v := argument.value(row)) is not None])

    return Aggregate(f"{name}({argument.sql}{_CONSTANTS.get(name, '')})", value)


def random_having(rng: random.Random, aggregates: Sequence[Aggregate]) -> Aggregate:
    """Return a condition on a group as an aggregate that is true or false."""
    one = rng.choice([part for part in aggregates if not part.sql.startswith(_NO_INTEGERS)])
    sign, limit = rng.choice(["<", ">", "<>", ">="]), rng.randint(0, 5)
    return Aggregate(
        f"{one.sql} {sign} {limit}", lambda rows: compare(sign, one.value(rows), limit)
    )


def random_window(rng: random.Random, *, may_drop: bool) -> Window | None:
    """Return windows, or None; what is late is only the same for all keys if they share a clock."""
    kind = rng.choice(["", "TUMBLING", "HOPPING", "SESSION"])
    if not kind:
        return None
    size_ms = rng.choice([4, 10]) * STEP_MS if kind != "SESSION" else rng.choice([2, 3]) * STEP_MS
    advance_ms = rng.choice([2, 3]) * STEP_MS if kind == "HOPPING" else size_ms
    grace_ms = rng.choice([None, 0, 3 * STEP_MS]) if may_drop else None
    final = grace_ms is not None and rng.random() < 0.5
    return Window(kind, size_ms, advance_ms, grace_ms, final)


def group_rows(rows: Sequence[tuple[Any, Given]], window: Window | None) -> list[Group]:
    """Return the groups of rows that came, each with its key; late ones are left out."""
    if window is None:
        plain: dict[Any, Group] = {}
        for key, given in rows:
            plain.setdefault(key, Group(key, 0, 0, [])).rows.append(given.row or {})
        return list(plain.values())
    if window.kind == "SESSION":
        return _sessions(rows, window)
    return _windows(rows, window)


def _windows(rows: Sequence[tuple[Any, Given]], window: Window) -> list[Group]:
    found: dict[tuple[Any, int], Group] = {}
    now_ms = 0
    for key, given in rows:
        now_ms = max(now_ms, given.time_ms)
        for start in range(0, given.time_ms + 1, window.advance_ms):
            end = start + window.size_ms
            if given.time_ms >= end or _is_over(end, now_ms, window):
                continue
            group = found.setdefault((key, start), Group(key, start, end, []))
            group.rows.append(given.row or {})
    if window.final:
        return [g for g in found.values() if _is_over(g.end_ms, now_ms, window)]
    return list(found.values())


def _is_over(end_ms: int, now_ms: int, window: Window) -> bool:
    return window.grace_ms is not None and end_ms + window.grace_ms <= now_ms


def _sessions(rows: Sequence[tuple[Any, Given]], window: Window) -> list[Group]:
    """Return sessions; they meet while one's end and the next's start are at most a gap apart."""
    opened: list[Group] = []
    closed: list[Group] = []
    now_ms = 0
    for key, given in rows:
        now_ms = max(now_ms, given.time_ms)
        over_ms = -1 if window.grace_ms is None else now_ms - window.grace_ms - window.size_ms
        at, gap = given.time_ms, window.size_ms
        near = [
            g
            for g in opened
            if g.key == key and g.end_ms >= over_ms and g.start_ms - gap <= at <= g.end_ms + gap
        ]
        merged = Group(
            key,
            min([at, *(g.start_ms for g in near)]),
            max([at, *(g.end_ms for g in near)]),
            [*(row for g in near for row in g.rows), given.row or {}],
        )
        if merged.end_ms >= over_ms:
            opened = [g for g in opened if g not in near] + [merged]
        closed += [g for g in opened if g.end_ms < over_ms]
        opened = [g for g in opened if g.end_ms >= over_ms]
    return closed if window.final else [*closed, *opened]
