"""What fails in tasks, noted for the driver.

Code that goes to tasks lives in this room and below: machines of a cluster have no more of us.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark import Accumulator
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from orion.model import FailedExpression
from orion.sql import telling_failures

_MOST_KEPT = 1_000
# Of each expression in a batch of rows; a function that always fails fails on all of them.
_MOST_NOTED = 10


class _Together(AccumulatorParam[list[FailedExpression]]):
    """Adds lists, up to a length: nobody may ever take what a query has noted."""

    def zero(self, value: list[FailedExpression]) -> list[FailedExpression]:
        del value
        return []

    def addInPlace(  # noqa: N802 - Spark's name
        self, value1: list[FailedExpression], value2: list[FailedExpression]
    ) -> list[FailedExpression]:
        return [*value1, *value2[: max(0, _MOST_KEPT - len(value1))]]


class Failures:
    """What failed in a query since the last look; goes to its tasks with their code."""

    def __init__(self, spark: SparkSession) -> None:
        none: list[FailedExpression] = []
        self._noted: Accumulator[list[FailedExpression]] = spark.sparkContext.accumulator(
            none, _Together()
        )

    def note(self, failed: FailedExpression) -> None:
        """Keep a failure; called in tasks."""
        self._noted.add([failed])

    def take(self) -> list[FailedExpression]:
        """Return what was noted and forget it; called in the driver."""
        found: list[FailedExpression] = self._noted.value
        self._noted.value = []
        return found


@contextmanager
def noting_failures_in(failures: Failures | None) -> Iterator[None]:
    """Note, in a task, the first of what fails meanwhile; None: nobody wants to know."""
    left = iter(range(_MOST_NOTED))

    def tell(name: str, row: Mapping[str, Any], error: Exception) -> None:
        if failures is not None and next(left, None) is not None:
            text = json.dumps(row, default=str, ensure_ascii=False)
            failures.note(FailedExpression(name, str(error) or type(error).__name__, text))

    with telling_failures(tell):
        yield
