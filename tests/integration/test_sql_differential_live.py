"""Random queries over topics, read live in small batches, stopped and started in between.

Topics are filled one behind the other, so that a query that reads them has to put their records in
order. What it leaves in its topic is what the same question gives when it is asked, in plain
Python, of all records in the order of their times.
"""

import os
import random
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest

from orion.app import App
from orion.log import Record
from orion.pipeline import Pipeline
from orion.process import GivenRecord
from tests.integration.bench import Bench
from tests.integration.differential.comparison import difference
from tests.integration.differential.question import random_question
from tests.integration.differential.record import COLUMNS, Event, declared, random_events

QUESTIONS = int(os.environ.get("SOAK_LIVE_QUESTIONS", "8"))
FIRST = int(os.environ.get("SOAK_FIRST_QUESTION", "0"))
AT_ONCE = 3
# Times are told apart by the places of their records, of which there are fewer.
_APART_MS = 100


@pytest.mark.timeout(120 + 20 * QUESTIONS)
def test_answers_of_topics_are_those_of_all_records_in_order(
    app: App, live: Pipeline, topic: str, tmp_path: Path
) -> None:
    def ask(seed: int) -> str:
        bench = Bench(app, live.runtime, tmp_path / str(seed))
        try:
            return _asked(seed, bench, f"{topic}-{seed}-")
        finally:
            bench.stop()

    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = threads.map(ask, range(FIRST, FIRST + QUESTIONS))
        differences = [text for text in found if text]
    assert differences == []


def _asked(seed: int, bench: Bench, prefix: str) -> str:
    """Ask a random question; return what differs, in words, or nothing."""
    rng = random.Random(seed)
    question, events = random_question(rng), random_events(rng)
    # Partitions of a topic that is read by itself may come in any order.
    has_parts = question.partitions > 1 and " JOIN " in question.source.sql
    parts = 2 if has_parts else 1
    for statement in declared(prefix, f", PARTITIONS={parts}, RETENTION_MS=-1"):
        bench.plan(statement)
    bench.most = rng.choice([3, 7, 20])
    sink = f"{prefix}answer"
    statement = question.statement(f"answer_{seed}", f"KAFKA_TOPIC='{sink}', PARTITIONS=1")
    read: list[Event] = []
    for number, phase in enumerate(_phases(rng, events, parts)):
        for name in COLUMNS:
            own = [placed for placed in phase if placed.event.topic == name]
            if own:
                bench.load(f"{prefix}{name}", [placed.record for placed in own])
        if number == 0:
            bench.sql(statement)
        else:
            bench.order("restart")
        bench.settle()
        bench.order("stop")
        read += [placed.event for placed in sorted(phase, key=lambda placed: placed.turn)]
    written = [
        GivenRecord(record.key, record.value, record.timestamp_ms or 0, (n,))
        for n, record in enumerate(bench.records(sink))
    ]
    name = f"{seed}, batches of {bench.most}: {statement}"
    return difference(name, question, read, written, once=False)


@dataclass(frozen=True)
class _Placed:
    """An event in a partition.

    Args:
        latest_ms: The latest time in the partition up to it.
    """

    event: Event
    partition: int
    latest_ms: int

    @property
    def turn(self) -> tuple[int, str, int, int]:
        """When it is read: a late record together with the one that it lies behind."""
        return self.latest_ms, self.event.topic, self.partition, self.event.place

    @property
    def record(self) -> Record:
        event = self.event
        key = None if event.key is None else event.key.encode()
        return Record(event.body, key, timestamp_ms=event.time_ms, partition=self.partition)


def _phases(rng: random.Random, events: Sequence[Event], parts: int) -> list[list[_Placed]]:
    """Return what is written while the query is stopped, each time later than what was before."""
    cuts = sorted(rng.sample(range(1, len(events)), rng.randint(0, 2)))
    phases: list[list[_Placed]] = []
    begin_ms = 0
    for start, end in pairwise([0, *cuts, len(events)]):
        latest: dict[tuple[str, int], int] = {}
        phase = []
        for event in events[start:end]:
            partition = zlib.crc32((event.key or str(event.place)).encode()) % parts
            place = event.topic, partition
            time_ms = max(begin_ms, event.time_ms - event.time_ms % _APART_MS) + event.place + 1
            if event.unreadable is not None or event.value is None or event.key is None:
                # Operators do not see all of these, so they must not take time along.
                time_ms = latest.get(place, time_ms)
            latest[place] = max(latest.get(place, 0), time_ms)
            phase.append(_Placed(replace(event, time_ms=time_ms), partition, latest[place]))
        begin_ms = max(latest.values()) // _APART_MS * _APART_MS + _APART_MS
        phases.append(phase)
    return phases
