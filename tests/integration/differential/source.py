"""What a random query reads: topics and joins of them, in SQL and, apart from it, in Python."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tests.integration.differential.expression import (
    Columns,
    Expression,
    Row,
    random_condition,
)
from tests.integration.differential.record import COLUMNS, STEP_MS, Event

# What a full join calls the key that its sides share.
SHARED_KEY = "ROWKEY"
_DAY_MS = 24 * 60 * 60 * 1_000
# Which sides of a join stay where they find no partner.
_KEEPS = {"": "", "LEFT ": "l", "RIGHT ": "r", "FULL ": "lr"}


@dataclass(frozen=True)
class Given:
    """A row of a source.

    Args:
        key: The key that the row has, or None.
        row: The columns by the names that expressions use; None: absent, a tombstone.
    """

    key: str | None
    row: Row | None
    time_ms: int


class Reader(Protocol):
    """Reads all records one by one, and knows those it has read."""

    def take(self, event: Event) -> Iterator[Given]:
        """Yield what a record adds to a stream, or changes in a table."""


@dataclass(frozen=True)
class Source:
    """What stands behind FROM.

    Args:
        key: The column that is the key.
        is_table: Whether rows replace one another by key.
        has_one_clock: Whether what it gives depends on how far all keys have come.
    """

    sql: str
    key: str
    columns: Columns
    reader: Callable[[], Reader]
    is_table: bool = False
    has_one_clock: bool = False


def random_source(rng: random.Random) -> Source:
    kinds: list[Callable[[random.Random], Source]] = [
        *3 * [lambda _: PLAIN],
        *2 * [lambda _: TABLE],
        _stream_table,
        *2 * [_two_streams],
        _two_tables,
        _foreign_key,
        _three,
    ]
    return rng.choice(kinds)(rng)


def rows_of(source: Source, events: Sequence[Event]) -> Iterator[Given]:
    """Yield the rows of a source in the order they come; of a table, its changes."""
    reader = source.reader()
    for event in events:
        if event.unreadable is None:
            yield from reader.take(event)


def _stream_table(rng: random.Random) -> Source:
    outer, by = rng.choice(["", "LEFT "]), rng.choice(["a.k", "a.s"])
    columns = Columns(("a.id", "a.n", "t.v"), ("a.s", "t.name"))
    pair = _random_pair(rng, columns, outer)
    return Source(
        f"a {outer}JOIN t ON {by} = t.k{pair.sql}",
        by,
        columns,
        lambda: _WithTable(_Topic("a", "a."), "t", by, pair),
    )


def _two_streams(rng: random.Random) -> Source:
    outer = rng.choice(list(_KEEPS))
    before, after = rng.choice([(2, 2), (5, 5), (0, 3), (4, 1)])
    grace = rng.choice([None, None, 0, 4])
    within = f"{before} SECONDS" if before == after else f"({before} SECONDS, {after} SECONDS)"
    if grace is not None:
        within += f" GRACE PERIOD {grace} SECONDS"
    columns = Columns(("a.id", "a.n", "b.id", "b.m"), ("a.s",))
    pair = _random_pair(rng, columns, outer)
    return Source(
        f"a {outer}JOIN b WITHIN {within} ON a.k = b.k{pair.sql}",
        _key_of(outer, "a.k", "b.k"),
        columns,
        lambda: _TwoStreams(
            (before * STEP_MS, after * STEP_MS), None if grace is None else grace * STEP_MS, pair
        ),
        has_one_clock=grace is not None,
    )


def _two_tables(rng: random.Random) -> Source:
    outer = rng.choice(list(_KEEPS))
    columns = Columns(("t.v", "u.w"), ("t.name",))
    # Two rows that share a key and do not meet cannot both be told of.
    pair = _Pair(outer) if outer == "FULL " else _random_pair(rng, columns, outer)
    return Source(
        f"t {outer}JOIN u ON t.k = u.k{pair.sql}",
        _key_of(outer, "t.k", "u.k"),
        columns,
        lambda: _TwoTables(pair),
        is_table=True,
    )


def _foreign_key(rng: random.Random) -> Source:
    outer = rng.choice(["", "LEFT "])
    columns = Columns(("t.v", "u.w"), ("t.name",))
    pair = _random_pair(rng, columns, outer)
    return Source(
        f"t {outer}JOIN u ON t.name = u.k{pair.sql}",
        "t.k",
        columns,
        lambda: _ForeignKey("t.name", pair),
        is_table=True,
    )


def _three(rng: random.Random) -> Source:
    first, second = (_Pair(rng.choice(["", "LEFT "])) for _ in range(2))
    if rng.random() < 0.5:
        return Source(
            f"a {first.outer}JOIN t ON a.k = t.k {second.outer}JOIN u ON a.s = u.k",
            "a.s",
            Columns(("a.id", "a.n", "t.v", "u.w"), ("a.s", "t.name")),
            lambda: _WithTable(
                _WithTable(_Topic("a", "a."), "t", "a.k", first), "u", "a.s", second
            ),
        )
    near = 3 * STEP_MS
    return Source(
        f"a {first.outer}JOIN b WITHIN 3 SECONDS ON a.k = b.k {second.outer}JOIN u ON a.k = u.k",
        "a.k",
        Columns(("a.id", "a.n", "b.m", "u.w"), ("a.s",)),
        lambda: _WithTable(_TwoStreams((near, near), None, first), "u", "a.k", second),
    )


def _key_of(outer: str, left: str, right: str) -> str:
    return {"RIGHT ": right, "FULL ": SHARED_KEY}.get(outer, left)


@dataclass(frozen=True)
class _Pair:
    """When two rows of the same key meet, and which of them stay alone.

    Args:
        condition: What must hold of both besides.
    """

    outer: str
    condition: Expression | None = None

    @property
    def sql(self) -> str:
        return "" if self.condition is None else f" AND {self.condition.sql}"

    @property
    def keeps_left(self) -> bool:
        return "l" in _KEEPS[self.outer]

    @property
    def keeps_right(self) -> bool:
        return "r" in _KEEPS[self.outer]

    def meets(self, one: Row, other: Row) -> bool:
        return self.condition is None or bool(self.condition.value({**one, **other}))


def _random_pair(rng: random.Random, columns: Columns, outer: str) -> _Pair:
    return _Pair(outer, random_condition(rng, columns) if rng.random() < 0.4 else None)


def _row(event: Event, prefix: str) -> Row | None:
    if event.value is None:
        return None
    columns = {f"{prefix}{name}": event.value.get(name) for name in COLUMNS[event.topic]}
    return {f"{prefix}k": event.key, **columns}


def _nulls(topic: str) -> Row:
    return dict.fromkeys([f"{topic}.k", *(f"{topic}.{name}" for name in COLUMNS[topic])])


@dataclass(frozen=True)
class _Topic:
    topic: str
    prefix: str = ""

    def take(self, event: Event) -> Iterator[Given]:
        if event.topic == self.topic:
            yield Given(event.key, _row(event, self.prefix), event.time_ms)


PLAIN = Source("a", "k", Columns(("id", "n"), ("s",)), lambda: _Topic("a"))
TABLE = Source("t", "k", Columns(("v",), ("name",)), lambda: _Topic("t"), is_table=True)


@dataclass
class _WithTable:
    """Each event with the row that a table has for it at that time."""

    events: Reader
    table: str
    by: str
    pair: _Pair
    rows: dict[str | None, Row | None] = field(default_factory=dict)

    def take(self, event: Event) -> Iterator[Given]:
        if event.topic == self.table:
            self.rows[event.key] = _row(event, f"{self.table}.")
        for given in self.events.take(event):
            if given.row is None or given.row[self.by] is None:
                continue
            found = self.rows.get(given.row[self.by])
            if found is not None and not self.pair.meets(given.row, found):
                found = None
            if found is not None or self.pair.keeps_left:
                row = {**given.row, **(found or _nulls(self.table))}
                yield Given(given.row[self.by], row, given.time_ms)


@dataclass
class _Seen:
    """An event of one of two streams; one that waits goes out alone unless a partner comes."""

    event: Event
    row: Row
    waits: bool = False

    @property
    def is_left(self) -> bool:
        return self.event.topic == "a"


@dataclass
class _TwoStreams:
    """Events of one key that lie close enough.

    Args:
        reach: How far an event of `b` may lie before one of `a`, and behind it.
        grace_ms: How late one may come; None: a day, and nobody waits.
    """

    reach: tuple[int, int]
    grace_ms: int | None
    pair: _Pair
    seen: list[_Seen] = field(default_factory=list)
    now_ms: int = -1

    def take(self, event: Event) -> Iterator[Given]:
        row = _row(event, f"{event.topic}.") if event.topic in "ab" else None
        if row is None or event.key is None:
            return
        self.now_ms = max(self.now_ms, event.time_ms)
        own = _Seen(event, row)
        yield from self._go_out_alone()
        partners = [other for other in self.seen if self._meet(own, other)]
        for other in sorted(partners, key=lambda seen: seen.event.time_ms):
            other.waits = False
            time_ms = max(event.time_ms, other.event.time_ms)
            yield Given(event.key, {**row, **other.row, SHARED_KEY: event.key}, time_ms)
        if not partners and (self.pair.keeps_left if own.is_left else self.pair.keeps_right):
            own.waits = self.grace_ms is not None and self._over_ms(own) > self.now_ms
            if not own.waits:
                yield _alone(own)
        self.seen.append(own)

    def _go_out_alone(self) -> Iterator[Given]:
        over = [seen for seen in self.seen if seen.waits and self._over_ms(seen) <= self.now_ms]
        for seen in sorted(over, key=lambda seen: (seen.event.time_ms, not seen.is_left)):
            seen.waits = False
            yield _alone(seen)

    def _over_ms(self, seen: _Seen) -> int:
        """Return when no partner can come any more."""
        assert self.grace_ms is not None
        return seen.event.time_ms + self.reach[seen.is_left] + self.grace_ms + 1

    def _meet(self, own: _Seen, other: _Seen) -> bool:
        grace_ms = _DAY_MS if self.grace_ms is None else self.grace_ms
        left, right = (own, other) if own.is_left else (other, own)
        before, after = self.reach
        return (
            own.is_left != other.is_left
            and own.event.key == other.event.key
            and -before <= right.event.time_ms - left.event.time_ms <= after
            # Older ones are forgotten.
            and other.event.time_ms >= self.now_ms - before - after - grace_ms
            and self.pair.meets(left.row, right.row)
        )


def _alone(seen: _Seen) -> Given:
    key = seen.event.key
    nulls = _nulls("b" if seen.is_left else "a")
    return Given(key, {**seen.row, **nulls, SHARED_KEY: key}, seen.event.time_ms)


@dataclass
class _TwoTables:
    """The rows of two tables that have the same key."""

    pair: _Pair
    tables: dict[str, dict[str | None, Row | None]] = field(
        default_factory=lambda: {"t": {}, "u": {}}
    )

    def take(self, event: Event) -> Iterator[Given]:
        if event.topic not in self.tables:
            return
        self.tables[event.topic][event.key] = _row(event, f"{event.topic}.")
        left, right = (self.tables[name].get(event.key) for name in "tu")
        if left is not None and right is not None and not self.pair.meets(left, right):
            left, right = (left, None) if self.pair.keeps_left else (None, right)
        is_there = (
            (left is not None or self.pair.keeps_right)
            and (right is not None or self.pair.keeps_left)
            and (left is not None or right is not None)
        )
        row = {**(left or _nulls("t")), **(right or _nulls("u")), SHARED_KEY: event.key}
        yield Given(event.key, row if is_there else None, event.time_ms)


@dataclass
class _ForeignKey:
    """The rows of `t`, each with the row of `u` that a column of it names."""

    by: str
    pair: _Pair
    rows: dict[str | None, Row | None] = field(default_factory=dict)
    others: dict[str | None, Row | None] = field(default_factory=dict)

    def take(self, event: Event) -> Iterator[Given]:
        if event.topic == "t":
            self.rows[event.key] = _row(event, "t.")
            yield self._joined(event.key, event.time_ms)
        elif event.topic == "u":
            self.others[event.key] = _row(event, "u.")
            for key, row in self.rows.items():
                if row is not None and row[self.by] == event.key:
                    yield self._joined(key, event.time_ms)

    def _joined(self, key: str | None, time_ms: int) -> Given:
        row = self.rows[key]
        if row is None:
            return Given(key, None, time_ms)
        found = None if row[self.by] is None else self.others.get(row[self.by])
        if found is not None and not self.pair.meets(row, found):
            found = None
        if found is None and not self.pair.keeps_left:
            return Given(key, None, time_ms)
        return Given(key, {**row, **(found or _nulls("u"))}, time_ms)
