"""Expressions that fail on a row: the column is null, and the processing log tells why.

Python code in Spark's tasks notes them in an accumulator of the query; what Spark computes by
itself is counted by an observation. The batch's delivery takes both. A task that runs again notes
its failures again, and of many only some are kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from orion.model import FailedExpression
from orion.state import Failures

# Observations by this name count the failures of expressions.
FAILURES = "orion_failures"
_numbers = count()


@dataclass(frozen=True)
class Watched:
    """A part of an expression that Spark computes, and when it fails.

    Args:
        row: The columns that it reads.
    """

    name: str
    reason: str
    fails: Column
    row: Column


def observe_failures(rows: DataFrame, watched: Sequence[Watched]) -> DataFrame:
    """Return the rows as they are; failures are counted on the way, with a row for example."""
    parts = []
    for each in watched:
        known = F.struct(
            F.lit(each.name).alias("name"),
            F.lit(each.reason).alias("reason"),
            F.to_json(each.row, {"ignoreNullFields": "false"}).alias("row"),
        )
        # The greatest of equal texts but for the row: any one will do, and this one is repeatable.
        parts += [F.count_if(each.fails), F.max(F.when(each.fails, known))]
    names = [part.alias(f"c{n}") for n, part in enumerate(parts)]
    return rows.observe(f"{FAILURES}_{next(_numbers)}", *names)


def read_failures(observed: Mapping[str, Any]) -> list[FailedExpression]:
    """Return the failures of an observation."""
    pairs = ((observed.get(f"c{n}"), observed.get(f"c{n + 1}")) for n in _evens(observed))
    return [
        FailedExpression(
            example["name"], f"{example['reason']}, in {number} row(s)", example["row"]
        )
        for number, example in pairs
        if number and example
    ]


def _evens(observed: Mapping[str, Any]) -> range:
    """Return where the counts stand; an example that is null is left out of the observation."""
    return range(0, 2 * len(observed), 2)


_of_queries: dict[str, Failures] = {}
_current: ContextVar[Failures | None] = ContextVar("failures", default=None)


@contextmanager
def noting_failures(spark: SparkSession, query: str) -> Iterator[None]:
    """Let expressions that are compiled meanwhile note their failures for a query."""
    if query not in _of_queries:
        _of_queries[query] = Failures(spark)
    token = _current.set(_of_queries[query])
    try:
        yield
    finally:
        _current.reset(token)


def current_failures() -> Failures | None:
    """Return where expressions that are compiled now note their failures."""
    return _current.get()


def forget_failures(query: str) -> None:
    """Drop what was noted for a query that will not come back."""
    _of_queries.pop(query, None)


def take_failures(query: str) -> list[FailedExpression]:
    """Return what failed in a query since the last look."""
    return _of_queries[query].take() if query in _of_queries else []
