"""Parts of expressions that Spark computes by itself and may fail at: quotients, casts of text."""

from collections.abc import Iterable, Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Scalar
from orion.process.failure import Watched, current_failures, observe_failures
from orion.process.sql.expression import compile_native, quoted
from orion.sql import tree, typed

_QUOTIENTS = (tree.ArithmeticOperator.DIVIDE, tree.ArithmeticOperator.MODULUS)


def watch(rows: DataFrame, nodes: Iterable[typed.Typed]) -> DataFrame:
    """Return the rows, on which failures of these expressions are counted where somebody asks."""
    if current_failures() is None:
        return rows
    watched = [each for node in nodes for part in _always(node) for each in _watched(part)]
    return observe_failures(rows, watched) if watched else rows


def _always(node: typed.Typed) -> Iterator[typed.Typed]:
    """Yield the parts that are computed on every row: no branch that is chosen, no lambda."""
    yield node
    if isinstance(node, typed.Choice):
        yield from _always(node.branches[0][0])
        return
    for part in typed.parts_of(node):
        if not isinstance(part, typed.LambdaOf):
            yield from _always(part)


def _watched(part: typed.Typed) -> Iterator[Watched]:
    match part:
        case typed.Arithmetic() if part.operator in _QUOTIENTS and part.type is not Scalar.DOUBLE:
            left, right = compile_native(part.left), compile_native(part.right)
            if left is not None and right is not None:
                fails = left.isNotNull() & (right == 0)
                yield Watched("A quotient", "division by zero", fails, _row(part))
        case typed.Converted() if part.value.type is Scalar.STRING:
            value, found = compile_native(part.value), compile_native(part)
            if value is not None and found is not None:
                fails = value.isNotNull() & found.isNull()
                yield Watched("A cast", f"the text is no {part.type}", fails, _row(part))


def _row(part: typed.Typed) -> Column:
    return F.struct(*(quoted(name).alias(name) for name in sorted(typed.inputs_of(part))))
