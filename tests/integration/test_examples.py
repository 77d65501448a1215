"""The small pipelines of `examples`, run as they are over a few records."""

import json
import runpy
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from orion.app import App
from orion.lake import Lake
from orion.log import Record, Selection, Topics, consume, produce
from orion.model import State
from orion.pipeline import Pipeline
from orion.testing.kafka import KafkaServer

pytestmark = pytest.mark.timeout(300)
EXAMPLES = Path(__file__).parents[2] / "examples"
# Windows of ten minutes begin at whole ones; older records would fall to the topic's retention.
WINDOW_MS = int(time.time() * 1_000) // 600_000 * 600_000 - 3_600_000


def _write(kafka: KafkaServer, topic: str, rows: Sequence[Mapping[str, Any] | None]) -> None:
    if topic not in Topics(kafka.connection).names():
        Topics(kafka.connection).create(topic, partitions=1)
    records = [
        Record(json.dumps(row).encode() if row else None, key=b"u1", timestamp_ms=WINDOW_MS + at)
        for at, row in enumerate(rows)
    ]
    produce(kafka.connection, topic, records)


def _run(pipeline: Pipeline, name: str) -> None:
    """Run a file until it has read what there is."""
    before = {status.name for status in pipeline.runtime.statuses()}
    runpy.run_path(str(EXAMPLES / name))
    pipeline.runtime.wait()
    made = [status for status in pipeline.runtime.statuses() if status.name not in before]
    assert [(status.state, status.error) for status in made] == [(State.STOPPED, "")]


def _read(kafka: KafkaServer, topic: str) -> list[dict[str, Any]]:
    found = consume(kafka.connection, Selection(topic))
    return [json.loads(record.value or b"") for record in found]


def _moment(at_ms: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at_ms / 1000))


def test_songs_are_counted_by_window(kafka: KafkaServer, once: Pipeline) -> None:
    plays = [("s1", 0, 10), ("s1", 60_000, 20), ("s2", 60_000, 5), ("s1", 600_000, 7)]
    song = {"TITLE": "a song", "ARTIST": "somebody"}
    _write(
        kafka,
        "enriched_plays",
        [
            {"SONG_ID": name, **song, "SECS": secs, "PLAYED_AT": _moment(WINDOW_MS + after_ms)}
            for name, after_ms, secs in plays
        ],
    )
    _run(once, "top_songs.py")
    rows = _read(kafka, "top_songs_spark")
    found = {(r["window_start"], r["song_id"]): (r["plays"], r["secs"]) for r in rows}
    first, second = _moment(WINDOW_MS), _moment(WINDOW_MS + 600_000)
    assert found == {(first, "s1"): (2, 30), (first, "s2"): (1, 5), (second, "s1"): (1, 7)}


def test_long_plays_are_kept(kafka: KafkaServer, once: Pipeline) -> None:
    at = _moment(WINDOW_MS)
    rows = [
        {"play_id": f"p{secs}", "user_id": "u", "song_id": "s", "secs": secs, "played_at": at}
        for secs in (29, 30, 31)
    ]
    _write(kafka, "plays", rows)
    _run(once, "filter_to_topic.py")
    assert [row["play_id"] for row in _read(kafka, "long_plays")] == ["p30", "p31"]


def test_users_are_kept_by_key(kafka: KafkaServer, app: App, once: Pipeline) -> None:
    user = {"user_id": "u1", "name": "Ann", "country": "SE"}
    _write(kafka, "users", [user, user | {"name": "Anne"}])
    _run(once, "upsert_to_table.py")
    row = {"id": "u1", "name": "Anne", "country": "SE"}
    found = Lake(app.settings.lake_path).read("users").to_pylist()
    assert [{name: one[name] for name in row} for one in found] == [row]
