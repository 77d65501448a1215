"""Numbers rounded, compared and stripped of their sign."""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from functools import reduce
from typing import Any

from orion.model import Decimal as DecimalType
from orion.model import Type
from orion.sql.function.function import Example, Function, Variant, variant
from orion.sql.function.match import widest
from orion.sql.function.value.number import (
    clamp_long,
    cut,
    exact,
    order,
    rescale,
    round_half_up,
    scale_of,
    wrap_int,
    wrap_long,
)

_CATEGORY = "MATHEMATICAL"


def _same(types: Sequence[Type]) -> Type:
    return types[0]


def _whole(types: Sequence[Type]) -> Type:
    kind = types[0]
    assert isinstance(kind, DecimalType)
    return DecimalType(max(kind.precision - kind.scale, 1), 0)


def _floor(value: float) -> float:
    return float(math.floor(value)) if math.isfinite(value) else value


def _ceil(value: float) -> float:
    return float(math.ceil(value)) if math.isfinite(value) else value


def _stepped(rounding: str) -> Callable[[Decimal], Decimal]:
    def step(value: Decimal) -> Decimal:
        return rescale(rescale(value, 0, rounding), scale_of(value), rounding)

    return step


def _identity(value: int) -> int:
    return value


def _round(value: float) -> int:
    # Adding a half first would round twice: just below a half must stay below.
    if abs(value) < 2**52:
        whole = math.floor(value)
        return whole + (value - whole >= 0.5)
    return clamp_long(value)


def _round_places(value: float, places: int) -> float:
    return float(round_half_up(exact(value), places))


def _round_decimal_places(value: Decimal, places: int) -> Decimal:
    return rescale(round_half_up(value, places), scale_of(value), ROUND_HALF_UP)


def _cut_places(value: float, places: int) -> float:
    return float(cut(exact(value), places))


def _cut_decimal_places(value: Decimal, places: int) -> Decimal:
    return rescale(cut(value, places), scale_of(value), ROUND_DOWN)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _widest_of(types: Sequence[Type]) -> Type:
    return reduce(lambda left, right: widest(left, right) or left, types)


def _extremes(pick: Callable[..., Any]) -> tuple[Variant, ...]:
    def meaning(*values: Any) -> Any:
        present = [value for value in values if value is not None]
        return pick(present, key=order) if present else None

    kinds = ("INT", "BIGINT", "DOUBLE", "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP")
    return (
        *(
            variant(f"value {kind}, others {kind}...", kind, meaning, takes_nulls=True)
            for kind in kinds
        ),
        variant("value DECIMAL, others DECIMAL...", _widest_of, meaning, takes_nulls=True),
    )


def _to_places(
    whole: Callable[[float], int],
    places: Callable[[float, int], float],
    exactly: Callable[[Decimal, int], Decimal],
    exactly_places: Callable[[Decimal, int], Decimal],
) -> tuple[Variant, ...]:
    return (
        variant("value INT", "BIGINT", _identity),
        variant("value BIGINT", "BIGINT", _identity),
        variant("value DOUBLE", "BIGINT", whole),
        variant("value DECIMAL", _whole, lambda value: exactly(value, 0)),
        variant("value DOUBLE, places INT", "DOUBLE", places),
        variant("value DECIMAL, places INT", _same, exactly_places),
    )


FUNCTIONS = (
    Function(
        "ABS",
        _CATEGORY,
        "The value without its sign.",
        (
            variant("value INT", "INT", lambda value: wrap_int(abs(value))),
            variant("value BIGINT", "BIGINT", lambda value: wrap_long(abs(value))),
            variant("value DOUBLE", "DOUBLE", math.fabs),
            variant("value DECIMAL", _same, lambda value: value.copy_abs()),
        ),
        (Example("ABS(-3)", 3), Example("ABS(-1.50)", Decimal("1.50"))),
    ),
    Function(
        "CEIL",
        _CATEGORY,
        "The smallest whole number that is not less than the value, in the type of the value.",
        (
            variant("value INT", "INT", _identity),
            variant("value BIGINT", "BIGINT", _identity),
            variant("value DOUBLE", "DOUBLE", _ceil),
            variant("value DECIMAL", _same, _stepped(ROUND_CEILING)),
        ),
        (Example("CEIL(2.1e0)", 3.0), Example("CEIL(-2.10)", Decimal("-2.00"))),
    ),
    Function(
        "FLOOR",
        _CATEGORY,
        "The largest whole number that is not greater than the value, in the type of the value.",
        (
            variant("value INT", "INT", _identity),
            variant("value BIGINT", "BIGINT", _identity),
            variant("value DOUBLE", "DOUBLE", _floor),
            variant("value DECIMAL", _same, _stepped(ROUND_FLOOR)),
        ),
        (Example("FLOOR(2.9e0)", 2.0), Example("FLOOR(-2.10)", Decimal("-3.00"))),
    ),
    Function(
        "ROUND",
        _CATEGORY,
        "The nearest number with so many digits after the point (none if not given; negative "
        "counts before the point). Halves go towards positive infinity.",
        _to_places(_round, _round_places, round_half_up, _round_decimal_places),
        (
            Example("ROUND(2.5e0)", 3),
            Example("ROUND(-2.5e0)", -2),
            Example("ROUND(1.239e0, 2)", 1.24),
            Example("ROUND(1.239, 1)", Decimal("1.200")),
            Example("ROUND(1.7)", Decimal("2")),
        ),
    ),
    Function(
        "TRUNC",
        _CATEGORY,
        "The number cut after so many digits after the point (none if not given; negative counts "
        "before the point).",
        _to_places(clamp_long, _cut_places, cut, _cut_decimal_places),
        (
            Example("TRUNC(-2.9e0)", -2),
            Example("TRUNC(1.239e0, 2)", 1.23),
            Example("TRUNC(1.239, 1)", Decimal("1.200")),
        ),
    ),
    Function(
        "SIGN",
        _CATEGORY,
        "1, 0 or -1, as the value is above, at or below zero.",
        tuple(variant(f"value {kind}", "INT", _sign) for kind in ("INT", "BIGINT", "DOUBLE")),
        (Example("SIGN(-7)", -1),),
    ),
    Function(
        "GREATEST",
        _CATEGORY,
        "The greatest of the values; NULL only if all of them are.",
        _extremes(max),
        (Example("GREATEST(1, NULL, 3)", 3), Example("GREATEST('a', 'b')", "b")),
    ),
    Function(
        "LEAST",
        _CATEGORY,
        "The least of the values; NULL only if all of them are.",
        _extremes(min),
        (Example("LEAST(1, NULL, 3)", 1), Example("LEAST(2.50, 1.5)", Decimal("1.5"))),
    ),
)
