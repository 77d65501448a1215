"""Comparisons: what may be compared with what, and texts that spell moments."""

from collections.abc import Sequence

from orion.model import Array, Map, Scalar, Struct, Type
from orion.sql.parse.tree import ComparisonOperator, LogicalOperator, Node
from orion.sql.plan import coercion, typed
from orion.sql.plan.cast import spell
from orion.sql.plan.errors import TypeMismatchError
from orion.sql.plan.instant import parse_timestamp_ms
from orion.sql.plan.meet import meet
from orion.sql.plan.source import ROWTIME, WINDOWEND, WINDOWSTART
from orion.sql.plan.typed import Typed

_EQUALITY = (ComparisonOperator.EQUAL, ComparisonOperator.NOT_EQUAL)
_MOMENTS = (ROWTIME, WINDOWSTART, WINDOWEND)
_UNORDERED = (Array, Map, Struct)
# A day is the moment that it begins at.
_DAYS = {Scalar.DATE, Scalar.TIMESTAMP}


def compare(operator: ComparisonOperator, left: Typed, right: Typed, node: Node) -> Typed:
    """Return a comparison of values of one type, or say why they have none."""
    left, right = _with_moment(left, right, node), _with_moment(right, left, node)
    _check(operator, left, right, node)
    if coercion.TEMPORAL & {left.type, right.type} and Scalar.STRING in (left.type, right.type):
        kind = left.type if right.type is Scalar.STRING else right.type
        left, right = _as_moments(left, right, kind)
    elif {left.type, right.type} == _DAYS:
        left, right = _as_moments(left, right, Scalar.TIMESTAMP)
    else:
        left, right = meet([left, right], node)
    return typed.Compared(Scalar.BOOLEAN, operator, left, right)


def contains(value: Typed, items: Sequence[Typed], node: Node) -> Typed:
    """Return whether a value equals one of a list, each read in the value's type."""
    if value.type is not None:
        items = [_with_moment(item, value, node) for item in items]
    if value.type is Scalar.STRING:
        items = [_as_text(item) for item in items]
    value, *items = meet([value, *items], node)
    equals: list[Typed] = [
        typed.Compared(Scalar.BOOLEAN, ComparisonOperator.EQUAL, value, item) for item in items
    ]
    return _any_of(equals)


def _any_of(conditions: Sequence[Typed]) -> Typed:
    """Return whether one of many holds; by halves, since trees are walked by recursion."""
    if len(conditions) == 1:
        return conditions[0]
    middle = len(conditions) // 2
    left, right = _any_of(conditions[:middle]), _any_of(conditions[middle:])
    return typed.Logic(Scalar.BOOLEAN, LogicalOperator.OR, left, right)


def _as_text(value: Typed) -> Typed:
    """Return a literal as its text, for a list that a text is looked up in."""
    if not isinstance(value, typed.Constant) or value.type in (None, Scalar.STRING):
        return value
    assert value.type is not None
    return typed.Constant(Scalar.STRING, spell(value.value, value.type))


def _with_moment(value: Typed, other: Typed, node: Node) -> Typed:
    """Return a text that stands beside the record's time as milliseconds."""
    is_text = isinstance(value, typed.Constant) and value.type is Scalar.STRING
    is_moment = isinstance(other, typed.Input) and other.name.split(".")[-1] in _MOMENTS
    if not (is_text and is_moment and other.type is Scalar.BIGINT):
        return value
    assert isinstance(value, typed.Constant)
    try:
        return typed.Constant(Scalar.BIGINT, parse_timestamp_ms(value.value))
    except ValueError as error:
        raise TypeMismatchError(f"'{value.value}' is no moment in time.", node=node) from error


def _check(operator: ComparisonOperator, left: Typed, right: Typed, node: Node) -> None:
    one, other = left.type, right.type
    if one is None or other is None:
        raise TypeMismatchError(
            "Nothing can be compared with NULL.", node=node, fix="Use IS NULL or IS NOT NULL."
        )
    numbers = coercion.is_number(one) and coercion.is_number(other)
    texts = Scalar.STRING in (one, other) and bool(coercion.TEMPORAL & {one, other})
    same = one == other or coercion.common(one, other) is not None
    literal = (
        any(isinstance(v, typed.Constant) and v.type is Scalar.STRING for v in (left, right))
        and isinstance(one if other is Scalar.STRING else other, _UNORDERED) is False
    )
    ordered = operator in _EQUALITY or not (isinstance(one, _UNORDERED) or one is Scalar.BOOLEAN)
    days = {one, other} == _DAYS
    if not ordered or not (numbers or texts or same or days or (literal and texts)):
        raise TypeMismatchError(
            f"{one} and {other} cannot be compared with '{operator.value}'.", node=node
        )


def _as_moments(left: Typed, right: Typed, kind: Type | None) -> tuple[Typed, Typed]:
    """Return both sides in a temporal type; a text is read as one when the row is."""
    assert kind is not None
    return tuple(  # type: ignore[return-value]
        side if side.type == kind else typed.Converted(kind, side) for side in (left, right)
    )
