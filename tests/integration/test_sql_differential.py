"""Random queries over random records, cut into batches of which some run twice.

What the engine's queries leave in their topics is what the same question gives when it is asked,
in plain Python, of all records at once.
"""

import os
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from orion.app import App
from orion.cases.case import Case
from orion.cases.script import Script
from orion.pipeline import Pipeline
from orion.process import BatchRunner, GivenRecord, sql_session
from orion.sql import Functions
from orion.state import StatePlace
from tests.integration.differential.comparison import difference
from tests.integration.differential.question import random_question
from tests.integration.differential.record import Event, declared, random_events

DECLARED = declared()

QUESTIONS = int(os.environ.get("SOAK_QUESTIONS", "40"))
FIRST = int(os.environ.get("SOAK_FIRST_QUESTION", "0"))
AT_ONCE = 4


@pytest.mark.slow
@pytest.mark.timeout(60 + 10 * QUESTIONS)
def test_answers_are_those_of_all_records_at_once(
    spark_app: Pipeline, app: App, tmp_path: Path
) -> None:
    spark = sql_session(spark_app.runtime.spark)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = threads.map(
            lambda seed: _asked(seed, spark, app.functions, tmp_path / str(seed)),
            range(FIRST, FIRST + QUESTIONS),
        )
        differences = [text for text in found if text]
    assert differences == []


def _asked(seed: int, spark: SparkSession, functions: Functions, folder: Path) -> str:
    """Ask a random question; return what differs, in words, or nothing."""
    rng = random.Random(seed)
    question, events = random_question(rng), random_events(rng)
    script = Script(Case(str(seed), "query", ()), functions)
    for number, text in enumerate((*DECLARED, question.statement())):
        assert list(script.take(text, number)) == []
    (query,) = script.queries
    # Drawn last, so that a seed asks what it always asked.
    once = question.is_table and random.Random(-seed).random() < 0.3
    query = replace(query, collapses=once)
    place = StatePlace(str(folder), question.partitions)
    runner = BatchRunner(spark, functions, script.schemas, place)
    name = f"{seed}: {question.statement()}{', told once a batch' if once else ''}"
    written: list[GivenRecord] = []
    for number, batch in enumerate(_batches(rng, events)):
        topics = _topics(batch)
        try:
            found = runner.run(query, topics, batch=number)
            again = runner.run(query, topics, batch=number) if rng.random() < 0.3 else found
        except PySparkException as error:
            return f"{name}\n  batch {number} failed: {error}"
        if again != found:
            return f"{name}\n  batch {number} gave another answer when it was run again"
        written += found
    return difference(name, question, events, written, once=once)


# What is added up where records are decoded: groups of columns as they are.
ADDED_UP = (
    "SELECT k, COUNT(*) AS n, SUM(n) AS total FROM a GROUP BY k",
    "SELECT s, COUNT(n) AS n, MIN(n) AS least, MAX(id) AS most FROM a GROUP BY s",
    "SELECT id, k, SUM(m) AS total, COUNT(k) AS n FROM b GROUP BY id, k",
    "SELECT s, k, MAX(n) AS most FROM a GROUP BY s, k HAVING COUNT(*) > 2",
)


@pytest.mark.parametrize(("seed", "query"), list(enumerate(ADDED_UP)))
def test_groups_added_up_where_records_are_decoded(
    seed: int, query: str, spark_app: Pipeline, app: App, tmp_path: Path
) -> None:
    """They come to what every change comes to, in the same batches; unreadable records included."""
    spark = sql_session(spark_app.runtime.spark)
    script = Script(Case("parts", "query", ()), app.functions)
    statement = f"CREATE TABLE made WITH (FORMAT='JSON') AS {query};"
    for number, text in enumerate((*DECLARED, statement)):
        assert list(script.take(text, number)) == []
    (every,) = script.queries
    rng = random.Random(seed)
    events = [event for _ in range(3) for event in random_events(rng)]
    left: list[dict[bytes | None, bytes | None]] = [{}, {}]
    runners = [
        BatchRunner(spark, app.functions, script.schemas, StatePlace(str(tmp_path / way), 2))
        for way in ("every", "once")
    ]
    for number, batch in enumerate(_batches(rng, events)):
        for query_of, runner, rows in zip(
            (every, replace(every, collapses=True)), runners, left, strict=True
        ):
            found = runner.run(query_of, _topics(batch), batch=number)
            rows |= {record.key: record.value for record in found}
            if query_of.collapses:
                assert len({record.key for record in found}) == len(found)
        kept = [{k: v for k, v in rows.items() if v is not None} for rows in left]
        assert kept[0] == kept[1]


def _batches(rng: random.Random, events: Sequence[Event]) -> list[Sequence[Event]]:
    cuts = sorted(rng.sample(range(1, len(events)), rng.randint(1, 3)))
    bounds = [0, *cuts, len(events)]
    return [events[start:end] for start, end in pairwise(bounds)]


def _topics(events: Sequence[Event]) -> dict[str, list[GivenRecord]]:
    topics: dict[str, list[GivenRecord]] = {}
    for event in events:
        key = None if event.key is None else event.key.encode()
        record = GivenRecord(key, event.body, event.time_ms, (event.place,))
        topics.setdefault(event.topic, []).append(record)
    return topics
