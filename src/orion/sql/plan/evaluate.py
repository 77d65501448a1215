"""Typed expressions on one row, in Python: for single values, and what Spark has no words for."""

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal as Number
from decimal import localcontext
from functools import lru_cache
from typing import Any

from orion.model import Array, Decimal, Map, Scalar, Struct
from orion.sql.parse.tree import ArithmeticOperator, ComparisonOperator, LogicalOperator
from orion.sql.plan import typed
from orion.sql.plan.cast import cast, wrapped
from orion.sql.plan.meet import scaled
from orion.sql.plan.typed import Shape, Typed

Row = Mapping[str, Any]
_BITS = {Scalar.INTEGER: 32, Scalar.BIGINT: 64}
# Marks the row that a lambda's body sees: what fails there fails the whole call around it.
_IN_LAMBDA = "=>"


def evaluate(node: Typed, row: Row) -> Any:
    """Return the value of an expression on a row; what cannot be computed raises.

    Args:
        row: Columns by name: DATE in days, TIME and TIMESTAMP in milliseconds.
    """
    return _BY_NODE[type(node)](node, row)


def evaluate_or_null(node: Typed, row: Row) -> Any:
    """Return the value of an expression, null where it cannot be computed."""
    try:
        return evaluate(node, row)
    except Exception:  # noqa: BLE001  whatever a function raises, its column is null
        return None


def _constant(node: typed.Constant, _: Row) -> Any:
    return node.value


def _column(node: typed.Input | typed.Variable, row: Row) -> Any:
    return row[node.name]


def _field(node: typed.FieldOf, row: Row) -> Any:
    value = evaluate(node.value, row)
    return None if value is None else value.get(node.field)


def _element(node: typed.ElementOf, row: Row) -> Any:
    value, index = evaluate(node.value, row), evaluate(node.index, row)
    if value is None or index is None:
        return None
    if isinstance(node.value.type, Map):
        return value.get(index)
    position = index - 1 if index > 0 else len(value) + index
    return value[position] if index != 0 and 0 <= position < len(value) else None


def _arithmetic(node: typed.Arithmetic, row: Row) -> Any:
    left, right = evaluate(node.left, row), evaluate(node.right, row)
    if left is None or right is None:
        if _IN_LAMBDA in row:
            raise ValueError("arithmetic on NULL")
        return None
    match node.type:
        case Decimal():
            return _decimal(node.operator, left, right, node.type)
        case Scalar.DOUBLE:
            return _double(node.operator, left, right)
    assert isinstance(node.type, Scalar)
    return wrapped(_whole(node.operator, left, right), _BITS[node.type])


def _decimal(operator: ArithmeticOperator, left: Number, right: Number, kind: Decimal) -> Number:
    with localcontext() as context:
        context.prec = 80
        if operator is ArithmeticOperator.MODULUS:
            return scaled(left % right, kind)
        return scaled(_PLAIN[operator](left, right), kind)


def _double(operator: ArithmeticOperator, left: float, right: float) -> float:
    if right != 0 or operator not in (ArithmeticOperator.DIVIDE, ArithmeticOperator.MODULUS):
        return (
            math.fmod(left, right)
            if operator is ArithmeticOperator.MODULUS
            else float(_PLAIN[operator](left, right))
        )
    if operator is ArithmeticOperator.MODULUS or left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _whole(operator: ArithmeticOperator, left: int, right: int) -> int:
    if operator is ArithmeticOperator.DIVIDE:
        found = abs(left) // abs(right)
        return found if (left < 0) == (right < 0) else -found
    if operator is ArithmeticOperator.MODULUS:
        return int(math.copysign(1, left)) * (abs(left) % abs(right))
    return int(_PLAIN[operator](left, right))


_PLAIN: Mapping[ArithmeticOperator, Callable[[Any, Any], Any]] = {
    ArithmeticOperator.ADD: lambda a, b: a + b,
    ArithmeticOperator.SUBTRACT: lambda a, b: a - b,
    ArithmeticOperator.MULTIPLY: lambda a, b: a * b,
    ArithmeticOperator.DIVIDE: lambda a, b: a / b,
}
_COMPARE: Mapping[ComparisonOperator, Callable[[Any, Any], bool]] = {
    ComparisonOperator.EQUAL: lambda a, b: a == b,
    ComparisonOperator.NOT_EQUAL: lambda a, b: a != b,
    ComparisonOperator.LESS: lambda a, b: a < b,
    ComparisonOperator.LESS_OR_EQUAL: lambda a, b: a <= b,
    ComparisonOperator.GREATER: lambda a, b: a > b,
    ComparisonOperator.GREATER_OR_EQUAL: lambda a, b: a >= b,
}


def _negative(node: typed.Negative, row: Row) -> Any:
    value = evaluate(node.value, row)
    return None if value is None else -value


def _joined(node: typed.Joined, row: Row) -> Any:
    left, right = evaluate(node.left, row), evaluate(node.right, row)
    return None if left is None or right is None else left + right


def _compared(node: typed.Compared, row: Row) -> bool:
    left, right = evaluate(node.left, row), evaluate(node.right, row)
    if left is None or right is None:
        return False
    return _COMPARE[node.operator](left, right)


def _distinct(node: typed.Distinct, row: Row) -> bool:
    return bool(evaluate(node.left, row) != evaluate(node.right, row))


def _logic(node: typed.Logic, row: Row) -> Any:
    left = evaluate(node.left, row)
    if node.operator is LogicalOperator.AND:
        return left and evaluate(node.right, row)
    return left or evaluate(node.right, row)


def _negated(node: typed.Negated, row: Row) -> Any:
    value = evaluate(node.value, row)
    return None if value is None else not value


def _missing(node: typed.Missing, row: Row) -> bool:
    return evaluate(node.value, row) is None


def _matches(node: typed.Matches, row: Row) -> Any:
    value, pattern = evaluate(node.value, row), evaluate(node.pattern, row)
    if value is None or pattern is None:
        return None
    return like_pattern(pattern, node.escape).fullmatch(value) is not None


@lru_cache(maxsize=1024)
def like_pattern(pattern: str, escape: str | None) -> re.Pattern[str]:
    """Return a LIKE pattern as a regular expression: `%` any text, `_` any character."""
    parts, characters = [], iter(pattern)
    for character in characters:
        if escape is not None and character == escape:
            parts.append(re.escape(next(characters, "")))
        else:
            parts.append({"%": ".*", "_": "."}.get(character) or re.escape(character))
    return re.compile("".join(parts), re.DOTALL)


def _choice(node: typed.Choice, row: Row) -> Any:
    for condition, result in node.branches:
        if evaluate(condition, row):
            return evaluate(result, row)
    return evaluate(node.default, row)


def _converted(node: typed.Converted, row: Row) -> Any:
    return cast(evaluate(node.value, row), node.value.type, node.type)


def _made(node: typed.Made, row: Row) -> Any:
    parts = [evaluate(part, row) for part in node.parts]
    match node.shape:
        case Shape.ARRAY:
            assert isinstance(node.type, Array)
            return parts
        case Shape.MAP:
            return dict(zip(parts[::2], parts[1::2], strict=True))
        case Shape.STRUCT:
            assert isinstance(node.type, Struct)
            return dict(zip((f.name for f in node.type.fields), parts, strict=True))


def _lambda(node: typed.LambdaOf, row: Row) -> Callable[..., Any]:
    names = [parameter.name for parameter in node.parameters]
    return lambda *values: evaluate(
        node.body, {**row, _IN_LAMBDA: True, **dict(zip(names, values, strict=True))}
    )


def _applied(node: typed.Applied, row: Row) -> Any:
    arguments = [evaluate(argument, row) for argument in node.arguments]
    if _IN_LAMBDA in row:
        return node.function.apply(*arguments)
    try:
        return node.function.apply(*arguments)
    except Exception:  # noqa: BLE001  a call that fails is null, what stands around it goes on
        return None


_BY_NODE: Mapping[type, Callable[[Any, Row], Any]] = {
    typed.Constant: _constant,
    typed.Input: _column,
    typed.Variable: _column,
    typed.FieldOf: _field,
    typed.ElementOf: _element,
    typed.Arithmetic: _arithmetic,
    typed.Negative: _negative,
    typed.Joined: _joined,
    typed.Compared: _compared,
    typed.Distinct: _distinct,
    typed.Logic: _logic,
    typed.Negated: _negated,
    typed.Missing: _missing,
    typed.Matches: _matches,
    typed.Choice: _choice,
    typed.Converted: _converted,
    typed.Made: _made,
    typed.LambdaOf: _lambda,
    typed.Applied: _applied,
}
