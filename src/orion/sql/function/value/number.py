"""Numbers as Java has them, which the language's results follow."""

import math
from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any

from orion.model import double_place
from orion.sql.function.errors import FunctionFailure

LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
INT_MIN, INT_MAX = -(2**31), 2**31 - 1

# More digits than any DECIMAL has, so that nothing is rounded by accident.
WIDE = Context(prec=120)


def clamp_long(value: float) -> int:
    """Return a double as 64 bits the way Java's casts do: cut, NaN is 0, ends are kept."""
    if math.isnan(value):
        return 0
    if value >= LONG_MAX:
        return LONG_MAX
    return LONG_MIN if value <= LONG_MIN else int(value)


def wrap_int(value: int) -> int:
    """Return a whole number as 32 bits; what does not fit wraps around."""
    return (value + 2**31) % 2**32 - 2**31


def wrap_long(value: int) -> int:
    """Return a whole number as 64 bits; what does not fit wraps around."""
    return (value + 2**63) % 2**64 - 2**63


def exact(value: float) -> Decimal:
    """Return a double as the shortest decimal that is read as it again."""
    if not math.isfinite(value):
        raise FunctionFailure(f"{value} has no digits.")
    return Decimal(repr(value))


def rescale(value: Decimal, places: int, rounding: str) -> Decimal:
    """Return a number with so many digits after the point; negative counts before it."""
    found = value.quantize(Decimal(1).scaleb(-places), rounding=rounding, context=WIDE)
    # Java's decimals have no negative zero.
    return found if found else found.copy_abs()


def round_half_up(value: Decimal, places: int) -> Decimal:
    """Round to the nearest; halves go towards positive infinity, as `Math.round` does."""
    return rescale(value, places, ROUND_HALF_UP if value > 0 else ROUND_HALF_DOWN)


def cut(value: Decimal, places: int) -> Decimal:
    """Round towards zero."""
    return rescale(value, places, ROUND_DOWN)


def scale_of(value: Decimal) -> int:
    """Return the digits after the point."""
    return -int(value.as_tuple().exponent)


def order(value: Any) -> Any:
    """Return a key that sorts values as Java compares them: NaN above all, -0.0 below 0.0."""
    if isinstance(value, float):
        return (*double_place(value), 1.0 if math.isnan(value) else math.copysign(1, value))
    return value
