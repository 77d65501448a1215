"""Numbers: where Spark's functions give NULL, Java's give infinity or NaN, and so must these."""

import math
from collections.abc import Callable
from decimal import Decimal as Number

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Decimal, Scalar, Type
from orion.process.format import spark_type
from orion.process.function.call import Call, Native

_NAN, _INFINITY = float("nan"), float("inf")
# Doubles from here on are whole numbers, and have no digits to round.
_WHOLE_DOUBLES = 2.0**52
_DIGITS_END = 1e17
_MOST_PLACES = 12
# Spark rounds a DECIMAL that it negates to these, and ends the query where that needs one more.
_NEGATED_DIGITS = 34


def can_negate(kind: Type | None) -> bool:
    """Tell whether Spark negates all values of a type as they are."""
    return not isinstance(kind, Decimal) or kind.precision <= _NEGATED_DIGITS


def _absolute(call: Call) -> Column | None:
    return F.abs(call[0]) if can_negate(call.types[0]) else None


def _of_double(function: Callable[[Column], Column]) -> Native:
    return lambda call: function(call[0].cast("double"))


def _log(value: Column) -> Column:
    return (
        F.when(value > 0, F.ln(value))
        .when(value == 0, F.lit(-_INFINITY))
        .when(value < 0, F.lit(_NAN))
    )


def _log_to(call: Call) -> Column:
    if call.count == 1:
        return _log(call[0].cast("double"))
    base, value = call[0].cast("double"), call[1].cast("double")
    undefined = (base <= 0) | (base == 1)
    return F.when(undefined, F.when(value.isNotNull(), F.lit(_NAN))).otherwise(
        _log(value) / F.ln(base)
    )


def _of_two(function: Callable[[Column, Column], Column]) -> Native:
    return lambda call: function(call[0].cast("double"), call[1].cast("double"))


def _step(function: Callable[[Column], Column]) -> Native:
    def native(call: Call) -> Column:
        value: Column = call[0]
        if call.types[0] in (Scalar.INTEGER, Scalar.BIGINT):
            return value
        if call.types[0] is Scalar.DOUBLE:
            small = F.abs(value) < _WHOLE_DOUBLES
            return F.when(small, function(value).cast("double")).otherwise(value)
        return function(value).cast(spark_type(call.returns))

    return native


def _round(call: Call) -> Column | None:
    value: Column = call[0]
    if call.count == 2:
        return _to_places(call, _half_up)
    if isinstance(call.types[0], Decimal):
        return _half_up(value, 0).cast(spark_type(call.returns))
    if call.types[0] is not Scalar.DOUBLE:
        return value.cast("bigint")
    whole = F.floor(value)
    above = (value - whole.cast("double") >= 0.5).cast("bigint")
    return F.when(F.abs(value) < _WHOLE_DOUBLES, whole + above).otherwise(value.cast("bigint"))


def _trunc(call: Call) -> Column | None:
    if call.count == 2:
        return _to_places(call, _cut)
    if isinstance(call.types[0], Decimal):
        return _cut(call[0], 0).cast(spark_type(call.returns))
    column: Column = call[0].cast("bigint")
    return column


def _half_up(value: Column, places: int) -> Column:
    half = F.lit(Number(5).scaleb(-places - 1))
    return F.floor(value + half, F.lit(places))


def _cut(value: Column, places: int) -> Column:
    scale = F.lit(places)
    # Beside a whole number, Spark would round the smallest DECIMALs to 0.
    return F.when(value.cast("double") >= 0, F.floor(value, scale)).otherwise(F.ceil(value, scale))


def _to_places(call: Call, rounded: Callable[[Column, int], Column]) -> Column | None:
    """Round to a number of places that is known; others are left to Python."""
    places = call.constants.get(1)
    value: Column = call[0]
    if not isinstance(places, int) or not 0 <= places <= _MOST_PLACES:
        return None
    kind = call.types[0]
    if isinstance(kind, Decimal):
        if places >= kind.scale:
            return value
        return rounded(value, places).cast(spark_type(kind))
    digits = rounded(value.cast("decimal(38,18)"), places).cast("double")
    # What is no number, or infinite, has no digits at all.
    finite = F.abs(value) < _INFINITY
    return F.when(F.abs(value) < _DIGITS_END, digits).when(finite, value)


def _extreme(function: Callable[..., Column]) -> Native:
    def native(call: Call) -> Column:
        kind = spark_type(call.returns)
        columns = [column.cast(kind) for column in call.arguments]
        return function(*columns) if len(columns) > 1 else columns[0]

    return native


NATIVE: dict[str, Native] = {
    "ABS": _absolute,
    "ACOS": _of_double(F.acos),
    "ASIN": _of_double(F.asin),
    "ATAN": _of_double(F.atan),
    "ATAN2": _of_two(F.atan2),
    "CBRT": _of_double(F.cbrt),
    "CEIL": _step(F.ceil),
    "COS": _of_double(F.cos),
    "COSH": _of_double(F.cosh),
    "COT": _of_double(F.cot),
    "DEGREES": _of_double(F.degrees),
    "EXP": _of_double(F.exp),
    "FLOOR": _step(F.floor),
    "GREATEST": _extreme(F.greatest),
    "LEAST": _extreme(F.least),
    "LN": _of_double(_log),
    "LOG": _log_to,
    "PI": lambda _: F.lit(math.pi),
    "POWER": _of_two(F.pow),
    "RADIANS": _of_double(F.radians),
    "RANDOM": lambda _: F.rand(),
    "ROUND": _round,
    "SIGN": lambda call: F.signum(call[0].cast("double")).cast("int"),
    "SIN": _of_double(F.sin),
    "SINH": _of_double(F.sinh),
    "SQRT": _of_double(F.sqrt),
    "TAN": _of_double(F.tan),
    "TANH": _of_double(F.tanh),
    "TRUNC": _trunc,
}
