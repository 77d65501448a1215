"""Records of a batch take turns by time, each partition as it lies, wherever their keys go."""

import json

from orion.log import Record
from tests.integration.bench import Bench

# Enough to be spread over all parts of the state.
KEYS = [f"k{n}" for n in range(12)]


def record(key: str, time_ms: int, partition: int = 0, **value: object) -> Record:
    body = json.dumps(value).encode()
    return Record(body, key.encode(), timestamp_ms=1_700_000_000_000 + time_ms, partition=partition)


def late_behind(ahead_ms: int, time_ms: int) -> list[Record]:
    """Return an event of some key, and behind it earlier ones of all others."""
    keys = [("ahead", ahead_ms), *((key, time_ms) for key in KEYS)]
    return [record(key, at, 1, k=key, ms=1_700_000_000_000 + at) for key, at in keys]


def test_late_events_meet_the_rows_of_the_moment_when_they_came(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    bench.plan(f"""
        CREATE TABLE {name} (k STRING PRIMARY KEY, v INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=3, RETENTION_MS=-1);
    """)
    bench.plan(f"""
        CREATE STREAM {name}_s (k STRING)
          WITH (KAFKA_TOPIC='{topic}-s', VALUE_FORMAT='JSON', PARTITIONS=3, RETENTION_MS=-1);
    """)
    rows = [record(key, at, v=at) for at in (1_000, 3_000) for key in KEYS]
    bench.load(topic, rows)
    bench.load(f"{topic}-s", late_behind(4_000, 2_000))
    bench.sql(f"""
        CREATE STREAM {name}_j AS SELECT s.k AS k, t.v AS v
          FROM {name}_s s JOIN {name} t ON s.k = t.k;
    """)
    bench.settle()
    found = bench.read(f"{name}_J".upper())
    assert sorted(row["V"] for _, row in found) == [3_000] * len(KEYS)


def test_late_events_meet_by_the_order_of_their_partition(bench: Bench, topic: str) -> None:
    """One that comes when its partner is there does not go out alone first."""
    name = topic.replace("-", "_")
    for side in "lr":
        bench.plan(f"""
            CREATE STREAM {name}_{side} (k STRING, ms BIGINT) WITH (KAFKA_TOPIC='{topic}-{side}',
              VALUE_FORMAT='JSON', PARTITIONS=3, RETENTION_MS=-1, TIMESTAMP='ms');
        """)
    partners = [record(key, 0, k=key, ms=1_700_000_003_000) for key in KEYS]
    bench.load(f"{topic}-r", partners)
    unreadable = [Record(b"{", partition=1), record("x", 0, 1, k="x", ms=1 << 60)]
    bench.load(f"{topic}-l", [*unreadable, *late_behind(4_000, 2_000)])
    bench.sql(f"""
        CREATE STREAM {name}_j AS SELECT l.k AS k, r.ms AS ms
          FROM {name}_l l LEFT JOIN {name}_r r WITHIN 2 SECONDS ON l.k = r.k;
    """)
    bench.settle()
    found = [row["MS"] for _, row in bench.read(f"{name}_J".upper())]
    # The one ahead has no partner.
    assert found.count(None) == 1
    assert len(found) == len(KEYS) + 1


def test_groups_of_a_table_hear_of_rows_in_the_order_of_their_partition(
    bench: Bench, topic: str
) -> None:
    """Rows are spread twice: by their own key, then by that of the group."""
    name = topic.replace("-", "_")
    bench.plan(f"""
        CREATE TABLE {name} (k STRING PRIMARY KEY, g STRING)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=3, RETENTION_MS=-1);
    """)
    bench.load(topic, [record(key, 5_000 - 100 * n, g="all") for n, key in enumerate(KEYS)])
    bench.sql(f"CREATE TABLE {name}_g AS SELECT g, COLLECT_LIST(k) AS ks FROM {name} GROUP BY g;")
    bench.settle()
    assert bench.read(f"{name}_G".upper())[-1][1]["KS"] == KEYS
