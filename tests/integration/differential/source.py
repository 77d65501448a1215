"""What a random query reads: topics and joins of them, in SQL and, apart from it, in Python."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.integration.differential.expression import (
    Columns,
    Expression,
    Row,
    random_condition,
)
from tests.integration.differential.record import COLUMNS, STEP_MS, Event


@dataclass(frozen=True)
class Given:
    """A row of a source.

    Args:
        key: The key that the row has, or None.
        row: The columns by the names that expressions use; None: absent, a tombstone.
    """

    key: Any
    row: Row | None
    time_ms: int


@dataclass(frozen=True)
class Source:
    """What stands behind FROM.

    Args:
        key: The column that is the key.
        is_table: Whether rows replace one another by key.
        has_joins: Whether it reads more than one topic.
        condition: What must hold of a pair besides the equality.
    """

    sql: str
    kind: str
    key: str
    columns: Columns
    is_table: bool = False
    has_joins: bool = False
    within_ms: int = 0
    condition: Expression | None = None

    def meets(self, one: Row, other: Row) -> bool:
        """Tell whether two rows are a pair."""
        return self.condition is None or bool(self.condition.value({**one, **other}))


PLAIN = Source("a", "a", "k", Columns(("id", "n"), ("s",)))
TABLE = Source("t", "t", "k", Columns(("v",), ("name",)), is_table=True)


def random_source(rng: random.Random) -> Source:
    kind = rng.choice(["a", "a", "a", "t", "t", "stream_table", "two_streams", "two_tables"])
    match kind:
        case "a":
            return PLAIN
        case "t":
            return TABLE
        case "stream_table":
            joined = _stream_table(rng)
        case "two_streams":
            joined = _two_streams(rng)
        case _:
            joined = _two_tables(rng)
    if rng.random() < 0.6:
        return joined
    condition = random_condition(rng, joined.columns)
    return replace(joined, sql=f"{joined.sql} AND {condition.sql}", condition=condition)


def _stream_table(rng: random.Random) -> Source:
    outer, by = rng.choice(["", "LEFT "]), rng.choice(["a.k", "a.s"])
    return Source(
        f"a {outer}JOIN t ON {by} = t.k",
        f"{outer}stream_table",
        by,
        Columns(("a.id", "a.n", "t.v"), ("a.s", "t.name")),
        has_joins=True,
    )


def _two_streams(rng: random.Random) -> Source:
    outer, seconds = rng.choice(["", "LEFT "]), rng.choice([2, 5])
    return Source(
        f"a {outer}JOIN b WITHIN {seconds} SECONDS ON a.k = b.k",
        f"{outer}two_streams",
        "a.k",
        Columns(("a.id", "a.n", "b.id", "b.m"), ("a.s",)),
        has_joins=True,
        within_ms=seconds * STEP_MS,
    )


def _two_tables(rng: random.Random) -> Source:
    outer = rng.choice(["", "LEFT "])
    return Source(
        f"t {outer}JOIN u ON t.k = u.k",
        f"{outer}two_tables",
        "t.k",
        Columns(("t.v", "u.w"), ("t.name",)),
        is_table=True,
        has_joins=True,
    )


def rows_of(source: Source, events: Sequence[Event]) -> Iterator[Given]:
    """Yield the rows of a source in the order they come; of a table, its changes."""
    readable = [event for event in events if event.unreadable is None]
    outer = source.kind.startswith("LEFT ")
    match source.kind.removeprefix("LEFT "):
        case "stream_table":
            yield from _with_table(readable, source, outer=outer)
        case "two_streams":
            yield from _pairs(readable, source, outer=outer)
        case "two_tables":
            yield from _joined_tables(readable, source, outer=outer)
        case topic:
            for event in readable:
                if event.topic == topic:
                    yield Given(event.key, _row(event), event.time_ms)


def _row(event: Event, prefix: str = "") -> Row | None:
    if event.value is None:
        return None
    columns = {f"{prefix}{name}": event.value.get(name) for name in COLUMNS[event.topic]}
    return {f"{prefix}k": event.key, **columns}


def _nulls(topic: str) -> Row:
    return dict.fromkeys([f"{topic}.k", *(f"{topic}.{name}" for name in COLUMNS[topic])])


def _with_table(events: Sequence[Event], source: Source, *, outer: bool) -> Iterator[Given]:
    by = source.key
    table: dict[str | None, Row | None] = {}
    for event in events:
        if event.topic == "t":
            table[event.key] = _row(event, "t.")
        row = _row(event, "a.") if event.topic == "a" else None
        if row is None or row[by] is None:
            continue
        found = table.get(row[by])
        if found is not None and not source.meets(row, found):
            found = None
        if found is not None or outer:
            yield Given(row[by], {**row, **(found or _nulls("t"))}, event.time_ms)


def _pairs(events: Sequence[Event], source: Source, *, outer: bool) -> Iterator[Given]:
    seen: list[tuple[Event, Row]] = []
    for event in events:
        row = _row(event, f"{event.topic}.") if event.topic in "ab" else None
        if row is None or event.key is None:
            continue
        partners = [
            (then, other)
            for then, other in seen
            if then.topic != event.topic
            and then.key == event.key
            and abs(then.time_ms - event.time_ms) <= source.within_ms
            and source.meets(row, other)
        ]
        for then, other in sorted(partners, key=lambda partner: partner[0].time_ms):
            yield Given(event.key, {**row, **other}, max(event.time_ms, then.time_ms))
        if outer and not partners and event.topic == "a":
            yield Given(event.key, {**row, **_nulls("b")}, event.time_ms)
        seen.append((event, row))


def _joined_tables(events: Sequence[Event], source: Source, *, outer: bool) -> Iterator[Given]:
    tables: dict[str, dict[str | None, Row | None]] = {"t": {}, "u": {}}
    for event in events:
        if event.topic not in tables:
            continue
        tables[event.topic][event.key] = _row(event, f"{event.topic}.")
        left, right = (tables[name].get(event.key) for name in "tu")
        if left is not None and right is not None and not source.meets(left, right):
            right = None
        if left is None or (right is None and not outer):
            yield Given(event.key, None, event.time_ms)
        else:
            yield Given(event.key, {**left, **(right or _nulls("u"))}, event.time_ms)
