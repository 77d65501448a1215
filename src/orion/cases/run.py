"""Runs a case: its statements are checked, its records written, its queries run one by one."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orion.cases.body import dump_json
from orion.cases.case import Case, Json
from orion.cases.script import Script
from orion.model import OrionError
from orion.process import BatchRunner, GivenRecord
from orion.sql import Functions, Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Outcome:
    """What a case did.

    Args:
        failed_statement: The number, from 0, of the statement that was refused.
        internal: Whether the error is a fault of the engine, not a refusal.
        responses: What the server answered to each statement, for cases over HTTP.
    """

    id: str
    outputs: list[Json] = field(default_factory=list)
    error: str | None = None
    failed_statement: int | None = None
    internal: bool = False
    responses: list[Json] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the line of a report."""
        line: dict[str, Any] = {"id": self.id, "error": self.error, "outputs": self.outputs}
        if self.responses:
            line["responses"] = self.responses
        if self.error is not None:
            line |= {"failed_statement": self.failed_statement, "internal": self.internal}
        return {**line, "seconds": round(self.seconds, 3)}

    def to_line(self) -> str:
        """Return the line of a report as JSON text, decimals with every digit."""
        return dump_json(self.to_json())


def run_case(case: Case, spark: "SparkSession", functions: Functions) -> Outcome:
    """Run one case on a session; never raises for what the case does."""
    run = _Run(case, spark, functions)
    return told(case, run.run, lambda: run.statement)


def told(case: Case, run: Callable[[], Outcome], statement: Callable[[], int]) -> Outcome:
    """Return the outcome of a run; an error that it raises is told in it.

    Args:
        statement: Gives the number of the statement that is being taken.
    """
    started = time.perf_counter()
    try:
        outcome = run()
    except OrionError as error:
        outcome = Outcome(case.id, error=str(error), failed_statement=statement())
    except Exception as error:  # noqa: BLE001  a crash is what a report must tell
        text = "".join(traceback.format_exception_only(error)).strip()
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{text[:600]} [{where.filename.rsplit('/', 1)[-1]}:{where.lineno}]"
        outcome = Outcome(case.id, error=text, failed_statement=statement(), internal=True)
    return replace(outcome, seconds=time.perf_counter() - started)


class _Run:
    """A case whose topics are lists in memory."""

    def __init__(self, case: Case, spark: "SparkSession", functions: Functions) -> None:
        self._case = case
        self._functions = functions
        self._spark = spark
        self._topics: dict[str, list[GivenRecord]] = {}
        self.statement = 0

    def run(self) -> Outcome:
        script = Script(self._case, self._functions)
        for number, text in enumerate(self._case.statements):
            self.statement = number
            for source, record in script.take(text, number):
                self._write(source, record)
        for source, record in script.given():
            self._write(source, record)
        runner = BatchRunner(self._spark, self._functions, script.schemas)
        for query in script.queries:
            written = runner.run(query, self._topics)
            self._topics.setdefault(query.sink.topic, []).extend(written)
        read = {topic.upper(): records for topic, records in self._topics.items()}
        return Outcome(self._case.id, script.outputs(read))

    def _write(self, source: Source, record: GivenRecord) -> None:
        """Append a record; its place among the records of all topics is its sequence."""
        place = sum(len(records) for records in self._topics.values())
        self._topics.setdefault(source.topic, []).append(replace(record, sequence=(place,)))
