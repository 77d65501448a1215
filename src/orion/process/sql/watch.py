"""Parts of expressions that Spark computes by itself and may fail at: they are counted.

Spark gives null where it fails. A part counts where it is computed at all: a branch of CASE that is
not taken and the second half of a decided AND or OR are not. What stands behind a condition that
needs Python, or in a lambda, is not looked at.
"""

from collections.abc import Iterable, Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Decimal, Scalar
from orion.process.failure import Watched, current_failures, observe_failures
from orion.process.function import null_is_failure
from orion.process.sql.expression import all_present, compile_native, open_keys, quoted
from orion.sql import tree, typed

_QUOTIENTS = (tree.ArithmeticOperator.DIVIDE, tree.ArithmeticOperator.MODULUS)


def watch(rows: DataFrame, nodes: Iterable[typed.Typed]) -> DataFrame:
    """Return the rows, on which failures of these expressions are counted where somebody asks."""
    if current_failures() is None:
        return rows
    parts = (pair for node in nodes for pair in _computed(node, F.lit(True)))
    watched = [each for part, when in parts for each in _watched(part, when)]
    return observe_failures(rows, watched) if watched else rows


def _computed(node: typed.Typed, when: Column) -> Iterator[tuple[typed.Typed, Column]]:
    """Yield the parts of an expression, each with the rows that it is computed on."""
    yield node, when
    match node:
        case typed.Choice(_, branches, default):
            for condition, result in branches:
                yield from _computed(condition, when)
                holds = compile_native(condition)
                if holds is None:
                    return
                holds = F.coalesce(holds, F.lit(False))
                yield from _computed(result, when & holds)
                when = when & ~holds
            yield from _computed(default, when)
        case typed.Logic():
            yield from _computed(node.left, when)
            left = compile_native(node.left)
            if left is not None:
                is_and = node.operator is tree.LogicalOperator.AND
                undecided = left if is_and else ~left
                yield from _computed(node.right, when & F.coalesce(undecided, F.lit(True)))
        case typed.LambdaOf():
            return
        case _:
            for part in typed.parts_of(node):
                yield from _computed(part, when)


def _watched(part: typed.Typed, when: Column) -> Iterator[Watched]:
    match part:
        case typed.Arithmetic() if part.type is not Scalar.DOUBLE:
            yield from _watched_arithmetic(part, when)
        case typed.Converted() if part.value.type is Scalar.STRING:
            yield from _lost(part, when, "A cast", f"the text is no {part.type}")
        case typed.Converted() if isinstance(part.type, Decimal):
            yield from _lost(part, when, "A cast", f"the number does not fit {part.type}")
        case typed.Applied() if null_is_failure(part.function.name):
            yield from _lost(part, when, part.function.name, "it takes no such value")
        case typed.Made():
            keys = [compile_native(part.parts[2 * n]) for n in open_keys(part)]
            known = [key for key in keys if key is not None]
            if known:
                fails = when & ~all_present(known)
                yield Watched("A map", "one of its keys is NULL", fails, _row_of(part))


def _watched_arithmetic(part: typed.Arithmetic, when: Column) -> Iterator[Watched]:
    right = compile_native(part.right)
    # Most divisors are constants, which are known not to be zero.
    is_safe = isinstance(part.right, typed.Constant) and bool(part.right.value)
    if part.operator in _QUOTIENTS and right is not None and not is_safe:
        is_zero = right == 0
        yield from _lost(part, when & is_zero, "A quotient", "division by zero")
        when = when & ~is_zero
    if isinstance(part.type, Decimal):
        yield from _lost(part, when, "A number", f"it does not fit {part.type}")


def _lost(part: typed.Typed, when: Column, name: str, reason: str) -> Iterator[Watched]:
    """Yield a part that fails where it is null, though nothing that it is made of is."""
    found = compile_native(part)
    sources = [compile_native(source) for source in typed.parts_of(part)]
    known = [source.isNotNull() for source in sources if source is not None]
    if found is not None and len(known) == len(sources):
        fails = when & found.isNull()
        for is_there in known:
            fails = fails & is_there
        yield Watched(name, reason, fails, _row_of(part))


def _row_of(part: typed.Typed) -> Column:
    return F.struct(*(quoted(name).alias(name) for name in sorted(typed.inputs_of(part))))
