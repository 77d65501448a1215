"""Kill -9 of the engine under the operators that `make test` does not strike."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from orion.testing.kafka import KafkaServer
from tests.integration.test_sql_state_kill import (
    Event,
    other_key,
    prefix_of,
    read_rows,
    survive,
)

SCRIPT = """
CREATE STREAM {t}_events (k STRING KEY, id INT, n BIGINT, other STRING)
  WITH (KAFKA_TOPIC='{t}_events', VALUE_FORMAT='JSON', PARTITIONS=3);
CREATE STREAM {t}_echoes (k STRING KEY, id INT)
  WITH (KAFKA_TOPIC='{t}_echoes', VALUE_FORMAT='JSON', PARTITIONS=1);
CREATE TABLE {t}_rows (k STRING PRIMARY KEY, id INT, n BIGINT, other STRING)
  WITH (KAFKA_TOPIC='{t}_events', VALUE_FORMAT='JSON');
CREATE TABLE {t}_names (k STRING PRIMARY KEY, name STRING)
  WITH (KAFKA_TOPIC='{t}_names', VALUE_FORMAT='JSON', PARTITIONS=2);
CREATE TABLE {t}_session AS SELECT k, COUNT(*) AS c FROM {t}_events
  WINDOW SESSION (1 HOUR) GROUP BY k;
CREATE TABLE {t}_final AS SELECT k, COUNT(*) AS c FROM {t}_events
  WINDOW TUMBLING (SIZE 1 SECOND, GRACE PERIOD 0 SECONDS) GROUP BY k EMIT FINAL;
CREATE TABLE {t}_holders AS SELECT n, COUNT(*) AS c FROM {t}_rows GROUP BY n;
CREATE TABLE {t}_both AS SELECT r.k AS k, r.id AS id, m.name AS name
  FROM {t}_rows r JOIN {t}_names m ON r.k = m.k;
CREATE TABLE {t}_foreign AS SELECT r.k AS k, r.id AS id, m.name AS name
  FROM {t}_rows r JOIN {t}_names m ON r.other = m.k;
CREATE TABLE {t}_last WITH (KEY_FORMAT='JSON') AS SELECT k, place, id
  FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id DESC) AS place FROM {t}_events)
  WHERE place <= 2;
SET 'cache.max.bytes.buffering'='1000';
CREATE TABLE {t}_once AS SELECT k, COUNT(*) AS c, SUM(n) AS s FROM {t}_events GROUP BY k;
CREATE TABLE {t}_seconds AS SELECT k, COUNT(*) AS c FROM {t}_events
  WINDOW TUMBLING (SIZE 1 SECOND) GROUP BY k;
"""
Found = list[tuple[bytes | None, Any]]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_other_operator_survives_every_strike(
    kafka: KafkaServer, topic: str, tmp_path: Path
) -> None:
    prefix = prefix_of(topic)
    app, events = survive(SCRIPT, prefix, kafka, tmp_path)

    def read(name: str) -> Found:
        return read_rows(app, f"{prefix}_{name}".upper())

    per_key: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        per_key[event[0]].append(event)
    ids = {key: [event[1] for event in given] for key, given in per_key.items()}
    _check_session(read("session"), ids)
    seconds = Counter((key, at // 1000) for key, _, _, at in events)
    _check_final(read("final"), seconds)
    holders = Counter(given[-1][2] for given in per_key.values())
    held = [row["C"] for row in dict(read("holders")).values() if row and row["C"]]
    assert sorted(held) == sorted(holders.values())
    assert _ids(read("both")) == ids
    assert {row["NAME"] for _, row in read("both")} == {f"name {key[1:]}" for key in ids}
    last = dict(read("foreign"))
    assert {key.decode(): (row["ID"], row["NAME"]) for key, row in last.items() if key} == {
        key: (own[-1], f"name {other_key(own[-1])[1:]}") for key, own in ids.items()
    }
    places = Counter(row["ID"] for row in dict(read("last")).values())
    assert places == Counter(number for own in ids.values() for number in own[-2:])
    once = {key.decode(): (row["C"], row["S"]) for key, row in read("once") if key}
    assert once == {k: (len(v), sum(event[2] for event in v)) for k, v in per_key.items()}
    assert sorted(row["C"] for row in dict(read("seconds")).values()) == sorted(seconds.values())


def _ids(found: Found) -> dict[str, list[int]]:
    """Return the ids of every change of each key, in order."""
    ids: dict[str, list[int]] = defaultdict(list)
    for key, row in found:
        ids[(key or b"").decode()].append(row["ID"])
    return ids


def _check_session(found: Found, ids: dict[str, list[int]]) -> None:
    """A session grows by one with every event."""
    grown: dict[bytes, list[int]] = defaultdict(list)
    for key, row in found:
        if row is not None:
            # Behind the key's own bytes stand the ends of the window.
            grown[(key or b"")[:-16]].append(row["C"])
    # Its bounds are part of the key, so its changes lie in several partitions.
    assert {key.decode(): sorted(counts) for key, counts in grown.items()} == {
        key: list(range(1, len(own) + 1)) for key, own in ids.items()
    }


def _check_final(found: Found, seconds: Counter[tuple[str, int]]) -> None:
    """A window is told of once, and whole; most of them are over."""
    counts = {
        ((key or b"")[:-8].decode(), int.from_bytes((key or b"")[-8:], "big") // 1000): row["C"]
        for key, row in found
    }
    assert len(counts) == len(found)
    assert all(count == seconds[window] for window, count in counts.items())
    # A partition of keys knows the time of its own records only.
    assert len(counts) > len(seconds) / 2
