"""Typed expressions in Python: for answers and single values, and what Spark has no words for."""

import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from orion.model import Array, Map, Scalar, Struct, Type, double_place
from orion.sql.function import FunctionFailure
from orion.sql.parse.tree import ComparisonOperator, LogicalOperator
from orion.sql.plan import typed
from orion.sql.plan.arithmetic import negation, operation
from orion.sql.plan.cast import cast
from orion.sql.plan.failure import tell_failure
from orion.sql.plan.typed import Shape, Typed

Row = Mapping[str, Any]
Computation = Callable[[Row], Any]
# Marks the row that a lambda's body sees: what fails there fails the whole call around it.
_IN_LAMBDA = "=>"


def computation(node: Typed) -> Computation:
    """Return the function that gives an expression's value on a row; what cannot be raises.

    The expression is looked through once, so that many rows cost little each. A row holds columns
    by name: DATE in days, TIME and TIMESTAMP in milliseconds.
    """
    return _BY_NODE[type(node)](node)


def computation_or_null(node: Typed) -> Computation:
    """Return the same where what cannot be computed is null."""
    compute = computation(node)
    if isinstance(node, typed.Input | typed.Constant):
        # They never fail, and scans of many rows feel every call.
        return compute

    def compute_or_null(row: Row) -> Any:
        try:
            return compute(row)
        except Exception as error:  # noqa: BLE001  whatever a function raises, its column is null
            return tell_failure(type(node).__name__, row, error)

    return compute_or_null


def evaluate(node: Typed, row: Row) -> Any:
    """Return the value of an expression on one row; what cannot be computed raises."""
    return computation(node)(row)


def evaluate_or_null(node: Typed, row: Row) -> Any:
    """Return the value of an expression, null where it cannot be computed."""
    return computation_or_null(node)(row)


def _constant(node: typed.Constant) -> Computation:
    value = node.value
    return lambda row: value


def _column(node: typed.Input | typed.Variable) -> Computation:
    return operator.itemgetter(node.name)


def _field(node: typed.FieldOf) -> Computation:
    inner, field = computation(node.value), node.field

    def compute(row: Row) -> Any:
        value = inner(row)
        return None if value is None else value.get(field)

    return compute


def _element(node: typed.ElementOf) -> Computation:
    inner, at = computation(node.value), computation(node.index)
    is_map = isinstance(node.value.type, Map)

    def compute(row: Row) -> Any:
        value, index = inner(row), at(row)
        if value is None or index is None:
            return None
        if is_map:
            return value.get(index)
        position = index - 1 if index > 0 else len(value) + index
        return value[position] if index != 0 and 0 <= position < len(value) else None

    return compute


def _fail_alone(name: str, row: Row, error: Exception) -> None:
    """Let a part of an expression be null, what stands around it goes on; but not in a lambda."""
    if _IN_LAMBDA in row:
        raise error
    tell_failure(name, row, error)


def _arithmetic(node: typed.Arithmetic) -> Computation:
    one, other = computation(node.left), computation(node.right)
    operate, known = operation(node.operator, node.type), _known(node.right)

    def compute(row: Row) -> Any:
        left, right = one(row), other(row) if known is None else known
        if left is None or right is None:
            if _IN_LAMBDA in row:
                raise ValueError("arithmetic on NULL")
            return None
        try:
            return operate(left, right)
        except (ArithmeticError, ValueError) as error:
            return _fail_alone("Arithmetic", row, error)

    return compute


def _known(node: Typed) -> Any:
    """Return the value that an expression has on every row; None: it has none, or is null."""
    return node.value if isinstance(node, typed.Constant) else None


_COMPARE: Mapping[ComparisonOperator, Callable[[Any, Any], bool]] = {
    ComparisonOperator.EQUAL: operator.eq,
    ComparisonOperator.NOT_EQUAL: operator.ne,
    ComparisonOperator.LESS: operator.lt,
    ComparisonOperator.LESS_OR_EQUAL: operator.le,
    ComparisonOperator.GREATER: operator.gt,
    ComparisonOperator.GREATER_OR_EQUAL: operator.ge,
}


def _negative(node: typed.Negative) -> Computation:
    inner, negate = computation(node.value), negation(node.type)

    def compute(row: Row) -> Any:
        value = inner(row)
        return None if value is None else negate(value)

    return compute


def _joined(node: typed.Joined) -> Computation:
    one, other = computation(node.left), computation(node.right)

    def compute(row: Row) -> Any:
        left, right = one(row), other(row)
        return None if left is None or right is None else left + right

    return compute


def _compared(node: typed.Compared) -> Computation:
    one, other = _placed(node.left), _placed(node.right)
    compare = _COMPARE[node.operator]
    known = _known(node.right)
    if known is not None and _holds_double(node.right.type):
        known = _place(known)

    def compute_with_known(row: Row) -> bool:
        left = one(row)
        return left is not None and compare(left, known)

    def compute(row: Row) -> bool:
        left, right = one(row), other(row)
        return left is not None and right is not None and compare(left, right)

    return compute if known is None else compute_with_known


def _distinct(node: typed.Distinct) -> Computation:
    one, other = _placed(node.left), _placed(node.right)
    return lambda row: bool(one(row) != other(row))


def _placed(node: Typed) -> Computation:
    """Return an expression's value as it compares: NaN equals itself and follows all numbers."""
    inner = computation(node)
    return (lambda row: _place(inner(row))) if _holds_double(node.type) else inner


def _place(value: Any) -> Any:
    match value:
        case float():
            return double_place(value)
        case list():
            return [_place(item) for item in value]
        case dict():
            return {key: _place(item) for key, item in value.items()}
    return value


def _holds_double(kind: Type | None) -> bool:
    match kind:
        case Array(element) | Map(_, element):
            return _holds_double(element)
        case Struct(fields):
            return any(_holds_double(field.type) for field in fields)
    return kind is Scalar.DOUBLE


def _logic(node: typed.Logic) -> Computation:
    one, other = computation(node.left), computation(node.right)
    decisive = node.operator is LogicalOperator.OR

    def compute(row: Row) -> Any:
        left = one(row)
        if left == decisive:
            return left
        right = other(row)
        # What is not known beside what is not decisive stays unknown.
        return right if left is not None or right == decisive else None

    return compute


def _negated(node: typed.Negated) -> Computation:
    inner = computation(node.value)

    def compute(row: Row) -> Any:
        value = inner(row)
        return None if value is None else not value

    return compute


def _missing(node: typed.Missing) -> Computation:
    inner = computation(node.value)
    return lambda row: inner(row) is None


def _matches(node: typed.Matches) -> Computation:
    inner, like, escape = computation(node.value), computation(node.pattern), node.escape

    def compute(row: Row) -> Any:
        value, pattern = inner(row), like(row)
        if value is None or pattern is None:
            return None
        return like_pattern(pattern, escape).fullmatch(value) is not None

    return compute


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


def _choice(node: typed.Choice) -> Computation:
    branches = [(computation(when), computation(then)) for when, then in node.branches]
    default = computation(node.default)

    def compute(row: Row) -> Any:
        for condition, result in branches:
            if condition(row):
                return result(row)
        return default(row)

    return compute


def _converted(node: typed.Converted) -> Computation:
    inner, given, wanted = computation(node.value), node.value.type, node.type

    def compute(row: Row) -> Any:
        try:
            return cast(inner(row), given, wanted)
        except Exception as error:  # noqa: BLE001  it is null, and what stands around it goes on
            return tell_failure(type(node).__name__, row, error)

    return compute


def _made(node: typed.Made) -> Computation:
    # A part that fails is null; the others stay.
    parts = [computation_or_null(part) for part in node.parts]
    match node.shape:
        case Shape.ARRAY:
            return lambda row: [part(row) for part in parts]
        case Shape.MAP:
            return _map_of(list(zip(parts[::2], parts[1::2], strict=True)))
        case Shape.STRUCT:
            assert isinstance(node.type, Struct)
            named = [(f.name, part) for f, part in zip(node.type.fields, parts, strict=True)]
            return lambda row: {name: part(row) for name, part in named}


def _map_of(entries: list[tuple[Computation, Computation]]) -> Computation:
    def compute(row: Row) -> Any:
        found = {key(row): value(row) for key, value in entries}
        if None in found:
            failure = FunctionFailure("A map has no NULL among its keys.")
            return _fail_alone("Made", row, failure)
        return found

    return compute


def _lambda(node: typed.LambdaOf) -> Computation:
    names = [parameter.name for parameter in node.parameters]
    body = computation(node.body)

    def close_over(row: Row) -> Callable[..., Any]:
        return lambda *values: body(
            {**row, _IN_LAMBDA: True, **dict(zip(names, values, strict=True))}
        )

    return close_over


def _applied(node: typed.Applied) -> Computation:
    arguments = [computation(argument) for argument in node.arguments]
    function = node.function

    def compute(row: Row) -> Any:
        values = [argument(row) for argument in arguments]
        try:
            return function.apply(*values)
        except Exception as error:  # noqa: BLE001  a user's own may raise anything
            return _fail_alone(function.name, row, error)

    return compute


_BY_NODE: Mapping[type, Callable[[Any], Computation]] = {
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
