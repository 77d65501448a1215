"""Expressions that only Python can compute, over Arrow batches: each row by its meaning."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf

from orion.formats import plain_column, plain_values
from orion.model import Scalar, Type
from orion.process.failure import current_failures
from orion.process.format import spark_type
from orion.sql import computation_or_null, tell_failure, typed
from orion.state import Failures, noting_failures_in


class NotNativeError(Exception):
    """Raised inside the compiler when an expression has no native form."""


def in_batches(node: typed.Typed) -> Column:
    """Return an expression's column, computed row by row in Python workers."""
    inputs = {part.name: part for part in typed.walk(node) if isinstance(part, typed.Input)}
    names = list(inputs)
    kind = node.type or Scalar.STRING
    failures = current_failures()
    run = _runner(node, [(name, inputs[name].type) for name in names], kind, failures)
    compute: Any = arrow_udf(run, spark_type(kind))  # type: ignore[call-overload]
    columns = [F.col("`" + name.replace("`", "``") + "`") for name in names]
    # A function needs a column to know how many rows there are.
    column: Column = compute(*(columns or [F.lit(0)]))
    return column


def _runner(
    node: typed.Typed, inputs: list[tuple[str, Type]], kind: Type, failures: Failures | None
) -> Callable[..., pa.Array]:
    names = [name for name, _ in inputs]

    def run(*arrays: pa.Array) -> pa.Array:
        columns = [
            plain_values(array, each) for array, (_, each) in zip(arrays, inputs, strict=False)
        ]
        plain = zip(*columns, strict=True) if columns else [()] * len(arrays[0])
        rows = [dict(zip(names, row, strict=True)) for row in plain]
        compute = computation_or_null(node)
        with noting_failures_in(failures):
            found = [compute(row) for row in rows]
            return plain_column(
                found, kind, lambda at, error: tell_failure(str(kind), rows[at], error)
            )

    return run
