"""Expressions that only Python can compute, over Arrow batches: each row by its meaning."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf

from orion.formats import arrow_type, from_arrow, to_arrow
from orion.log import FailedExpression
from orion.model import Scalar, Type
from orion.process.failure import Failures, current_failures
from orion.process.format import spark_type
from orion.sql import computation_or_null, telling_failures, typed

# What Arrow raises for a value of another type, or beyond the ends of its own.
_UNFIT = (pa.ArrowException, ValueError, TypeError, OverflowError, AttributeError)

# Of each expression in a batch of rows; a function that always fails fails on all of them.
_MOST_NOTED = 10
Tell = Callable[[str, Mapping[str, Any], Exception], None]


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
            [from_arrow(value, each) for value in array.to_pylist()]
            for array, (_, each) in zip(arrays, inputs, strict=False)
        ]
        plain = zip(*columns, strict=True) if columns else [()] * len(arrays[0])
        rows = [dict(zip(names, row, strict=True)) for row in plain]
        compute = computation_or_null(node)
        tell = _teller(failures)
        with telling_failures(tell):
            found = [compute(row) for row in rows]
        return _column(found, rows, kind, tell)

    return run


def _teller(failures: Failures | None) -> Tell:
    """Return what notes the first failures of a batch."""
    left = iter(range(_MOST_NOTED))

    def tell(name: str, row: Mapping[str, Any], error: Exception) -> None:
        if failures is not None and next(left, None) is not None:
            text = json.dumps(row, default=str, ensure_ascii=False)
            failures.note(FailedExpression(name, str(error) or type(error).__name__, text))

    return tell


def _column(values: list[Any], rows: list[dict[str, Any]], kind: Type, tell: Tell) -> pa.Array:
    """Return values as a column; one that its type cannot hold is null, and the others stay."""
    try:
        return pa.array([to_arrow(value, kind) for value in values], arrow_type(kind))
    except _UNFIT:
        pairs = zip(values, rows, strict=True)
        return pa.array(
            [_fitting(value, row, kind, tell) for value, row in pairs], arrow_type(kind)
        )


def _fitting(value: Any, row: dict[str, Any], kind: Type, tell: Tell) -> Any:
    try:
        plain = to_arrow(value, kind)
        pa.array([plain], arrow_type(kind))
    except _UNFIT as error:
        tell(str(kind), row, error)
        return None
    return plain
