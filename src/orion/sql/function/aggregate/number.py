"""Aggregates of numbers: sums, averages, extremes, spread."""

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any

from orion.model import Decimal as DecimalType
from orion.model import Type
from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Aggregation, Example, Function, Kind, Variant, variant
from orion.sql.function.value.number import order, wrap_int, wrap_long

_CATEGORY = "AGGREGATE"
_NUMBERS = ("INT", "BIGINT", "DOUBLE")
_ORDERED = ("INT", "BIGINT", "DOUBLE", "STRING", "BYTES", "DATE", "TIME", "TIMESTAMP")
# A sum that its type has no room for may come back to where it has.
_EXACT = Context(prec=100)
_WRAP: dict[str, Callable[[Any], Any]] = {"INT": wrap_int, "BIGINT": wrap_long, "DOUBLE": float}


def _same(types: Sequence[Type]) -> Type:
    return types[0]


# -- COUNT


def _count() -> Aggregation:
    return Aggregation(
        initial=lambda: 0,
        add=lambda state, value: state + (value is not None),
        result=lambda state: state,
        merge=lambda one, other: one + other,
        undo=lambda state, value: state - (value is not None),
    )


# -- SUM and SUM_LIST


def _sum(kind: str) -> Callable[[], Aggregation]:
    fit = _WRAP[kind]

    def make() -> Aggregation:
        return Aggregation(
            initial=lambda: fit(0),
            add=lambda state, value: state if value is None else fit(state + value),
            result=lambda state: state,
            merge=lambda one, other: fit(one + other),
            undo=lambda state, value: state if value is None else fit(state - value),
        )

    return make


def _sum_decimal(*, types: Sequence[Type]) -> Aggregation:
    kind = types[-1]
    assert isinstance(kind, DecimalType)
    limit = Decimal(1).scaleb(kind.precision - kind.scale)

    def result(state: Decimal) -> Decimal:
        if state.copy_abs() >= limit:
            raise FunctionFailure(f"{state} does not fit {kind}.")
        return state

    return Aggregation(
        initial=lambda: Decimal(0),
        add=lambda state, value: state if value is None else _EXACT.add(state, value),
        result=result,
        merge=_EXACT.add,
        undo=lambda state, value: state if value is None else _EXACT.subtract(state, value),
    )


def _sum_list(kind: str) -> Callable[[], Aggregation]:
    fit = _WRAP[kind]

    def total(values: list[Any] | None) -> Any:
        return sum(value for value in values or [] if value is not None)

    def make() -> Aggregation:
        return Aggregation(
            initial=lambda: fit(0),
            add=lambda state, values: fit(state + total(values)),
            result=lambda state: state,
            merge=lambda one, other: fit(one + other),
            undo=lambda state, values: fit(state - total(values)),
        )

    return make


# -- AVG: the state is (sum, count)


def _average(kind: str) -> Callable[[], Aggregation]:
    fit = _WRAP[kind]

    def make() -> Aggregation:
        return Aggregation(
            initial=lambda: [fit(0), 0],
            add=lambda s, value: s if value is None else [fit(s[0] + value), s[1] + 1],
            result=lambda s: s[0] / s[1] if s[1] else 0.0,
            merge=lambda one, other: [fit(one[0] + other[0]), one[1] + other[1]],
            undo=lambda s, value: s if value is None else [fit(s[0] - value), s[1] - 1],
        )

    return make


# -- MIN and MAX


def _extreme(pick: Callable[..., Any]) -> Callable[[], Aggregation]:
    def better(one: Any, other: Any) -> Any:
        if one is None or other is None:
            return other if one is None else one
        return pick(one, other, key=order)

    def make() -> Aggregation:
        return Aggregation(
            initial=lambda: None, add=better, result=lambda state: state, merge=better
        )

    return make


def _extreme_variants(pick: Callable[..., Any]) -> tuple[Variant, ...]:
    make = _extreme(pick)
    return (
        *(variant(f"value {kind}", kind, make) for kind in _ORDERED),
        variant("value DECIMAL", _same, make),
    )


# -- spread: the state is (sum, count, sum of squared distances), by Youngs and Cramer


def _spread(result: Callable[[float], float]) -> Callable[[], Aggregation]:
    def add(state: list[Any], value: Any) -> list[Any]:
        if value is None:
            return state
        total, count, squares = state
        if count:
            distance = value * (count + 1) - (total + value)
            squares += distance * distance / ((count + 1) * count)
        return [total + value, count + 1, squares]

    def undo(state: list[Any], value: Any) -> list[Any]:
        if value is None:
            return state
        total, count, squares = state
        if count > 1:
            distance = value * (count + 1) - (total + value)
            squares -= distance * distance / ((count - 1) * count)
        return [total - value, count - 1, squares]

    def merge(one: list[Any], other: list[Any]) -> list[Any]:
        squares = one[2] + other[2]
        if one[1] and other[1]:
            distance = one[0] / one[1] - other[0] / other[1]
            squares += one[1] * other[1] * distance * distance / (one[1] + other[1])
        return [one[0] + other[0], one[1] + other[1], squares]

    def make() -> Aggregation:
        return Aggregation(
            initial=lambda: [0, 0, 0.0],
            add=add,
            result=lambda s: result(s[2] / (s[1] - 1)) if s[1] > 1 else 0.0,
            merge=merge,
            undo=undo,
        )

    return make


# -- CORRELATION: the state is the sums of x, y, x², y², xy, and the count


def _correlation() -> Aggregation:
    def moved(state: list[float], x: Any, y: Any, sign: int) -> list[float]:
        if x is None or y is None:
            return state
        parts = (x, y, x * x, y * y, x * y, 1)
        return [total + sign * part for total, part in zip(state, parts, strict=True)]

    def result(state: list[float]) -> float:
        x, y, xx, yy, xy, count = state
        below = (count * xx - x * x) * (count * yy - y * y)
        return (count * xy - x * y) / math.sqrt(below) if below > 0 else math.nan

    return Aggregation(
        initial=lambda: [0.0] * 5 + [0],
        add=lambda state, x, y: moved(state, x, y, 1),
        result=result,
        merge=lambda one, other: [a + b for a, b in zip(one, other, strict=True)],
        undo=lambda state, x, y: moved(state, x, y, -1),
    )


def _per_number(make: Callable[[str], Callable[[], Aggregation]]) -> tuple[Variant, ...]:
    return tuple(variant(f"value {kind}", kind, make(kind)) for kind in _NUMBERS)


def _aggregate(
    name: str, description: str, variants: tuple[Variant, ...], *examples: Example
) -> Function:
    return Function(name, _CATEGORY, description, variants, examples, Kind.AGGREGATE)


def _spread_variants(result: Callable[[float], float]) -> tuple[Variant, ...]:
    return tuple(variant(f"value {kind}", "DOUBLE", _spread(result)) for kind in _NUMBERS)


FUNCTIONS = (
    _aggregate(
        "AVG",
        "The average of the values that are not NULL; 0 if there are none.",
        tuple(variant(f"value {kind}", "DOUBLE", _average(kind)) for kind in _NUMBERS),
        Example("AVG(1, 2, NULL, 6)", 3.0),
    ),
    _aggregate(
        "CORRELATION",
        "Pearson's coefficient of correlation between two columns.",
        tuple(variant(f"x {kind}, y {kind}", "DOUBLE", _correlation) for kind in _NUMBERS),
    ),
    _aggregate(
        "COUNT",
        "The number of values that are not NULL; COUNT(*) counts rows.",
        (variant("value ANY", "BIGINT", _count), variant("", "BIGINT", _count)),
        Example("COUNT(1, NULL, 3)", 2),
    ),
    _aggregate(
        "MAX",
        "The greatest value that is not NULL.",
        _extreme_variants(max),
        Example("MAX(1, NULL, 3)", 3),
    ),
    _aggregate(
        "MIN",
        "The least value that is not NULL.",
        _extreme_variants(min),
        Example("MIN('b', 'a')", "a"),
    ),
    _aggregate(
        "STDDEV_SAMP",
        "The sample variance: the sum of squared distances from the mean, by the count less one.",
        _spread_variants(lambda variance: variance),
        Example("STDDEV_SAMP(1, 2, 3, 4)", 5 / 3),
    ),
    _aggregate(
        "STDDEV_SAMPLE",
        "The sample standard deviation: the square root of the sample variance.",
        _spread_variants(math.sqrt),
        Example("STDDEV_SAMPLE(2, 4)", math.sqrt(2)),
    ),
    _aggregate(
        "SUM",
        "The sum of the values that are not NULL; 0 if there are none, NULL while a DECIMAL has no "
        "room for it.",
        (*_per_number(_sum), variant("value DECIMAL", _same, _sum_decimal, typed=True)),
        Example("SUM(1, NULL, 3)", 4),
    ),
    _aggregate(
        "SUM_LIST",
        "The sum of the elements of arrays.",
        tuple(variant(f"values ARRAY<{kind}>", kind, _sum_list(kind)) for kind in _NUMBERS),
        Example("SUM_LIST(ARRAY[1, 2], ARRAY[3])", 6),
    ),
)
