"""Random records of two streams and two tables: late, repeated, unreadable, tombstones."""

import json
import random
from dataclasses import dataclass, replace
from typing import Any

STEP_MS = 1_000
_LATEST_MS, _EARLIEST_MS = 8 * STEP_MS, 2 * STEP_MS
KEYS = ("a", "b", "c", "d")
_COLUMNS = {
    "a": ("STREAM", "k STRING KEY, id INT, n BIGINT, s STRING"),
    "b": ("STREAM", "k STRING KEY, id INT, m BIGINT"),
    "t": ("TABLE", "k STRING PRIMARY KEY, name STRING, v BIGINT"),
    "u": ("TABLE", "k STRING PRIMARY KEY, w BIGINT"),
}
COLUMNS = {"a": ("id", "n", "s"), "b": ("id", "m"), "t": ("name", "v"), "u": ("w",)}
_UNREADABLE = (b"{", b"not json", b'{"id": "many"', b"\xff\xfe")


def declared(prefix: str = "", options: str = "") -> tuple[str, ...]:
    """Return the statements that declare two streams and two tables.

    Args:
        prefix: What the names of their topics begin with.
        options: Further options of the topics.
    """
    return tuple(
        f"CREATE {kind} {name} ({columns})"
        f" WITH (KAFKA_TOPIC='{prefix}{name}', VALUE_FORMAT='JSON'{options});"
        for name, (kind, columns) in _COLUMNS.items()
    )


@dataclass(frozen=True)
class Event:
    """A record of a topic and its place among all records.

    Args:
        value: Its columns; None: a tombstone.
        unreadable: What lies there instead of a value that could be read.
    """

    topic: str
    key: str | None
    value: dict[str, Any] | None
    time_ms: int
    place: int
    unreadable: bytes | None = None

    @property
    def body(self) -> bytes | None:
        if self.unreadable is not None:
            return self.unreadable
        return None if self.value is None else json.dumps(self.value).encode()


def random_events(rng: random.Random) -> list[Event]:
    """Return records in the order of their arrival."""
    events: list[Event] = []
    for place in range(rng.randint(30, 70)):
        again = [event for event in events if event.unreadable is None]
        if again and rng.random() < 0.08:
            events.append(replace(rng.choice(again), place=place))
        else:
            events.append(_random_event(rng, place))
    return events


def _random_event(rng: random.Random, place: int) -> Event:
    topic = rng.choice("aaaabbttuu")
    time_ms = max(0, place * STEP_MS + rng.randint(-_LATEST_MS, _EARLIEST_MS))
    key = None if topic in "ab" and rng.random() < 0.05 else rng.choice(KEYS)
    event = Event(topic, key, _random_value(rng, topic, place), time_ms, place)
    if rng.random() < 0.1:
        return replace(event, value=None)
    if rng.random() < 0.04:
        return replace(event, unreadable=rng.choice(_UNREADABLE))
    return event


def _random_value(rng: random.Random, topic: str, place: int) -> dict[str, Any]:
    drawn = {
        "id": place,
        "n": rng.randint(-9, 9),
        "s": rng.choice(KEYS),
        "m": rng.randint(0, 9),
        "name": rng.choice(KEYS),
        "v": rng.randint(-9, 9),
        "w": rng.randint(0, 5),
    }
    # The place tells rows apart, so it is always there; a column that is null may also be left out.
    value = {name: drawn[name] for name in COLUMNS[topic]}
    for name in [name for name in value if name != "id" and rng.random() < 0.15]:
        value[name] = None
        if rng.random() < 0.5:
            del value[name]
    return value
