"""Random statements about a base stream, and what the catalogue is once they have happened."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

PREFIX = "KILL_"
BASE = f"{PREFIX}BASE"
# Every query is started again after each kill of the engine: few of them keep the test short.
MOST_QUERIES = 5


@dataclass
class Catalogue:
    """Streams, tables, types and queries, as far as they are of this test.

    Args:
        queries: Whether a query is paused, by the name of its sink.
        ids: The queries' ids, by the names of their sinks.
        topics: Topics that must be there.
        gone: Topics that must not be there.
    """

    streams: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    queries: dict[str, bool] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Statement:
    """A statement.

    Args:
        happened: Tells from a catalogue whether it has been carried out.
        apply: Changes the catalogue as it does.
        inserted: The number that it inserts into the base stream.
    """

    text: str
    happened: Callable[[Catalogue], bool] = lambda _: True
    apply: Callable[[Catalogue], None] = lambda _: None
    inserted: int | None = None


def random_statement(rng: random.Random, known: Catalogue, number: int) -> Statement:
    """Return a statement that is in order for a catalogue."""
    acts: list[Callable[[random.Random, Catalogue, int], Statement | None]] = [
        *[_insert] * 6,
        *[_declare] * 3,
        *[_query] * 4,
        *[_terminate] * 1,
        *[_pause] * 2,
        *[_drop] * 3,
        *[_type] * 2,
        _drop_type,
        _replace,
        _assert,
    ]
    while True:
        found = rng.choice(acts)(rng, known, number)
        if found is not None:
            return found


def _insert(_: random.Random, __: Catalogue, number: int) -> Statement:
    text = f"INSERT INTO {BASE} (k, n) VALUES ('k{number % 3}', {number});"
    return Statement(text, inserted=number)


def _declare(rng: random.Random, _: Catalogue, number: int) -> Statement:
    kind = rng.choice(["STREAM", "TABLE"])
    name = f"{PREFIX}D{number}"
    key = "KEY" if kind == "STREAM" else "PRIMARY KEY"

    def apply(known: Catalogue) -> None:
        (known.streams if kind == "STREAM" else known.tables).add(name)
        known.topics.add(name)

    return Statement(
        f"CREATE {kind} {name} (k STRING {key}, n BIGINT)"
        f" WITH (KAFKA_TOPIC='{name}', PARTITIONS=1, VALUE_FORMAT='JSON');",
        lambda seen: name in seen.streams | seen.tables,
        apply,
    )


def _query(rng: random.Random, known: Catalogue, number: int) -> Statement | None:
    if len(known.queries) >= MOST_QUERIES:
        return None
    if rng.random() < 0.6:
        name, body = f"{PREFIX}S{number}", f"SELECT k, n + {number} AS n FROM {BASE}"
        sources, kind = known.streams, "STREAM"
    else:
        name, body = f"{PREFIX}T{number}", f"SELECT k, COUNT(*) AS n FROM {BASE} GROUP BY k"
        sources, kind = known.tables, "TABLE"

    def apply(known: Catalogue) -> None:
        sources.add(name)
        known.queries[name] = False
        known.topics.add(name)

    return Statement(
        f"CREATE {kind} {name} AS {body} EMIT CHANGES;",
        lambda seen: name in seen.streams | seen.tables,
        apply,
    )


def _terminate(rng: random.Random, known: Catalogue, _: int) -> Statement | None:
    if not known.queries:
        return None
    name = rng.choice(sorted(known.queries))
    return Statement(
        f"TERMINATE {known.ids[name]};",
        lambda seen: name not in seen.queries,
        lambda known: known.queries.__delitem__(name),
    )


def _pause(rng: random.Random, known: Catalogue, _: int) -> Statement | None:
    if not known.queries:
        return None
    name = rng.choice(sorted(known.queries))
    wanted = not known.queries[name]
    return Statement(
        f"{'PAUSE' if wanted else 'RESUME'} {known.ids[name]};",
        lambda seen: seen.queries[name] is wanted,
        lambda known: known.queries.__setitem__(name, wanted),
    )


def _drop(rng: random.Random, known: Catalogue, _: int) -> Statement | None:
    droppable = sorted(name for name in known.streams | known.tables if name != BASE)
    if not droppable:
        return None
    name, delete = rng.choice(droppable), rng.random() < 0.5
    kind = "STREAM" if name in known.streams else "TABLE"

    def apply(known: Catalogue) -> None:
        (known.streams if kind == "STREAM" else known.tables).discard(name)
        known.queries.pop(name, None)
        if delete:
            known.topics.discard(name)
            known.gone.add(name)

    return Statement(
        f"DROP {kind} {name}{' DELETE TOPIC' if delete else ''};",
        lambda seen: name not in seen.streams | seen.tables,
        apply,
    )


def _type(_: random.Random, __: Catalogue, number: int) -> Statement:
    name = f"{PREFIX}Y{number}"
    return Statement(
        f"CREATE TYPE {name} AS STRUCT<a INT, b ARRAY<STRING>>;",
        lambda seen: name in seen.types,
        lambda known: known.types.add(name),
    )


def _drop_type(rng: random.Random, known: Catalogue, _: int) -> Statement | None:
    if not known.types:
        return None
    name = rng.choice(sorted(known.types))
    return Statement(
        f"DROP TYPE {name};",
        lambda seen: name not in seen.types,
        lambda known: known.types.discard(name),
    )


def _replace(rng: random.Random, known: Catalogue, _: int) -> Statement | None:
    """Return a statement that says the same in other words, so that it may happen or not."""
    streams = sorted(name for name in known.streams if name in known.queries)
    if not streams:
        return None
    name = rng.choice(streams)
    return Statement(
        f"CREATE OR REPLACE STREAM {name} AS SELECT k, n + {name.removeprefix(f'{PREFIX}S')} AS n"
        f" FROM {BASE} WHERE n >= 0 EMIT CHANGES;"
    )


def _assert(rng: random.Random, known: Catalogue, _: int) -> Statement | None:
    return Statement(f"ASSERT TOPIC '{rng.choice(sorted(known.topics))}';")
