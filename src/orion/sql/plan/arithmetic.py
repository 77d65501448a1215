"""Arithmetic on two values: whole numbers overflow, decimals are exact, doubles are Java's."""

import math
import operator
from collections.abc import Callable, Mapping
from decimal import Context
from decimal import Decimal as Number
from typing import Any

from orion.model import Decimal, Scalar, Type
from orion.sql.parse.tree import ArithmeticOperator
from orion.sql.plan.cast import wrapped
from orion.sql.plan.meet import scaled

# Decimals have 38 digits at most; Python's own context rounds to 28.
_EXACT = Context(prec=80)
_BITS = {Scalar.INTEGER: 32, Scalar.BIGINT: 64}
_PLAIN: Mapping[ArithmeticOperator, Callable[[Any, Any], Any]] = {
    ArithmeticOperator.ADD: operator.add,
    ArithmeticOperator.SUBTRACT: operator.sub,
    ArithmeticOperator.MULTIPLY: operator.mul,
    ArithmeticOperator.DIVIDE: operator.truediv,
}
_DECIMAL: Mapping[ArithmeticOperator, Callable[[Number, Number], Number]] = {
    ArithmeticOperator.ADD: _EXACT.add,
    ArithmeticOperator.SUBTRACT: _EXACT.subtract,
    ArithmeticOperator.MULTIPLY: _EXACT.multiply,
    ArithmeticOperator.DIVIDE: _EXACT.divide,
    ArithmeticOperator.MODULUS: _EXACT.remainder,
}


def operation(sign: ArithmeticOperator, kind: Type | None) -> Callable[[Any, Any], Any]:
    """Return what an operator does with two values that are there; what has no result raises."""
    if isinstance(kind, Decimal):
        return lambda left, right: _decimal(sign, left, right, kind)
    if kind is Scalar.DOUBLE:
        return lambda left, right: _double(sign, left, right)
    assert isinstance(kind, Scalar)
    bits = _BITS[kind]
    if sign is ArithmeticOperator.MODULUS:
        return _remainder
    if sign is ArithmeticOperator.DIVIDE:
        return lambda left, right: wrapped(_quotient(left, right), bits)
    plain, end = _PLAIN[sign], 1 << (bits - 1)

    def operate(left: int, right: int) -> int:
        found: int = plain(left, right)
        return found if -end <= found < end else wrapped(found, bits)

    return operate


def _decimal(sign: ArithmeticOperator, left: Number, right: Number, kind: Decimal) -> Number:
    if right == 0 and sign in (ArithmeticOperator.DIVIDE, ArithmeticOperator.MODULUS):
        raise ZeroDivisionError("division by zero")
    return scaled(_DECIMAL[sign](left, right), kind)


def _double(sign: ArithmeticOperator, left: float, right: float) -> float:
    if sign is ArithmeticOperator.MODULUS:
        return math.fmod(left, right) if right != 0 and not math.isinf(left) else math.nan
    if right != 0 or sign is not ArithmeticOperator.DIVIDE:
        return float(_PLAIN[sign](left, right))
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, right)


def _quotient(left: int, right: int) -> int:
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


def _remainder(left: int, right: int) -> int:
    found = abs(left) % abs(right)
    return found if left >= 0 else -found


def negation(kind: Type | None) -> Callable[[Any], Any]:
    """Return what a minus before a value does."""
    if isinstance(kind, Decimal):
        return _EXACT.minus
    bits = _BITS.get(kind) if isinstance(kind, Scalar) else None
    return operator.neg if bits is None else lambda value: wrapped(-value, bits)
