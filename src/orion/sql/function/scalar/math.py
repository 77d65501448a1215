"""Powers, logarithms, angles and distances."""

import math
import random
from collections.abc import Callable
from typing import Any

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, Variant, variant

_CATEGORY = "MATHEMATICAL"
_NAN = math.nan
# The factors that Java multiplies with; dividing by pi would differ in the last digit.
_DEGREES, _RADIANS = 57.29577951308232, 0.017453292519943295
_EARTH_KM, _EARTH_MILES = 6371.0, 3959.0
_RADII = dict.fromkeys(("mi", "mile", "miles"), _EARTH_MILES) | dict.fromkeys(
    ("", "km", "kilometer", "kilometers", "kilometre", "kilometres"), _EARTH_KM
)


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _sinh(value: float) -> float:
    try:
        return math.sinh(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _cosh(value: float) -> float:
    try:
        return math.cosh(value)
    except OverflowError:
        return math.inf


def _log(value: float) -> float:
    if value == 0:
        return -math.inf
    return math.log(value) if value > 0 else _NAN


def _log_to(base: float, value: float) -> float:
    if base <= 0 or base == 1:
        return _NAN
    return _log(float(value)) / math.log(base)


def _power(base: float, exponent: float) -> float:
    base, exponent = float(base), float(exponent)
    # Java has no result where C says that 1 to any power is 1.
    undecided = math.isnan(exponent) or (abs(base) == 1 and math.isinf(exponent))
    if undecided:
        return _NAN
    odd = exponent % 2 == 1
    negative = math.copysign(1, base) < 0
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if negative and odd else math.inf
    except ValueError:
        if base == 0:
            return -math.inf if negative and odd else math.inf
        return _NAN


def _cot(value: float) -> float:
    sine = math.sin(value)
    return math.cos(value) / sine if sine else math.copysign(math.inf, sine)


def _nan_outside(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return a function that gives NaN where Python's raises, as Java's does."""

    def computed(value: float) -> float:
        try:
            return function(float(value))
        except ValueError:
            return _NAN

    return computed


def _distance(lat1: float, lon1: float, lat2: float, lon2: float, unit: str | None = None) -> float:
    if max(abs(lat1), abs(lat2)) > 90 or max(abs(lon1), abs(lon2)) > 180:
        raise FunctionFailure("A latitude is -90 to 90, a longitude -180 to 180 degrees.")
    radius = _RADII.get((unit or "").strip().lower())
    if radius is None:
        raise FunctionFailure(f"'{unit}' is neither miles nor kilometres.")
    vertical, horizontal = (lat2 - lat1) * _RADIANS, (lon2 - lon1) * _RADIANS
    part = math.sin(horizontal / 2) ** 2 * math.cos(lat1 * _RADIANS) * math.cos(lat2 * _RADIANS)
    return 2 * math.asin(math.sqrt(math.sin(vertical / 2) ** 2 + part)) * radius


def _distance_in(*given: Any) -> float | None:
    """Return the distance; only the unit may be NULL, which stands for kilometres."""
    return None if None in given[:4] else _distance(*given)


def _of_number(meaning: Callable[[float], float]) -> tuple[Variant, ...]:
    kinds = ("INT", "BIGINT", "DOUBLE")
    return tuple(variant(f"value {kind}", "DOUBLE", _nan_outside(meaning)) for kind in kinds)


def _of_two(names: tuple[str, str], meaning: Callable[..., float]) -> tuple[Variant, ...]:
    first, second = names
    return tuple(
        variant(f"{first} {kind}, {second} {kind}", "DOUBLE", meaning)
        for kind in ("INT", "BIGINT", "DOUBLE")
    )


def _one(
    name: str, meaning: Callable[[float], float], description: str, call: str, result: Any
) -> Function:
    return Function(name, _CATEGORY, description, _of_number(meaning), (Example(call, result),))


_POINTS = "lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE"

FUNCTIONS = (
    _one("ACOS", math.acos, "The angle in radians whose cosine is the value.", "ACOS(1)", 0.0),
    _one("ASIN", math.asin, "The angle in radians whose sine is the value.", "ASIN(0)", 0.0),
    _one("ATAN", math.atan, "The angle in radians whose tangent is the value.", "ATAN(0)", 0.0),
    Function(
        "ATAN2",
        _CATEGORY,
        "The angle in radians between the x-axis and the point (x, y).",
        _of_two(("y", "x"), lambda y, x: math.atan2(float(y), float(x))),
        (Example("ATAN2(0, 1)", 0.0),),
    ),
    _one("CBRT", math.cbrt, "The cube root.", "CBRT(27)", 3.0),
    _one("COS", math.cos, "The cosine of an angle in radians.", "COS(0)", 1.0),
    _one("COSH", _cosh, "The hyperbolic cosine.", "COSH(0)", 1.0),
    _one("COT", _cot, "The cotangent of an angle in radians.", "COT(0)", math.inf),
    _one("DEGREES", lambda x: x * _DEGREES, "Radians in degrees.", "DEGREES(PI())", 180.0),
    _one("EXP", _exp, "e to the power of the value.", "EXP(0)", 1.0),
    _one("LN", _log, "The natural logarithm.", "LN(1)", 0.0),
    Function(
        "LOG",
        _CATEGORY,
        "The logarithm to a base; without one, the natural logarithm.",
        (*_of_number(_log), *_of_two(("base", "value"), _log_to)),
        (Example("LOG(2, 8)", 3.0), Example("LOG(1, 8)", _NAN)),
    ),
    Function(
        "PI",
        _CATEGORY,
        "The number pi.",
        (variant("", "DOUBLE", lambda: math.pi),),
        (Example("PI()", math.pi),),
    ),
    Function(
        "POWER",
        _CATEGORY,
        "The base to the power of the exponent.",
        _of_two(("base", "exponent"), _power),
        (Example("POWER(2, 10)", 1024.0),),
    ),
    _one("RADIANS", lambda x: x * _RADIANS, "Degrees in radians.", "RADIANS(0)", 0.0),
    Function(
        "RANDOM",
        _CATEGORY,
        "A random number from 0 up to, but not including, 1; another one in every row.",
        (variant("", "DOUBLE", random.random),),
    ),
    _one("SIN", math.sin, "The sine of an angle in radians.", "SIN(0)", 0.0),
    _one("SINH", _sinh, "The hyperbolic sine.", "SINH(0)", 0.0),
    _one("SQRT", math.sqrt, "The square root.", "SQRT(16)", 4.0),
    _one("TAN", math.tan, "The tangent of an angle in radians.", "TAN(0)", 0.0),
    _one("TANH", math.tanh, "The hyperbolic tangent.", "TANH(0)", 0.0),
    Function(
        "GEO_DISTANCE",
        _CATEGORY,
        "The distance of two points on the earth, along the great circle; in kilometres, or in "
        "the unit given: KM or MILES.",
        (
            variant(_POINTS, "DOUBLE", _distance),
            variant(f"{_POINTS}, unit STRING", "DOUBLE", _distance_in, takes_nulls=True),
        ),
        (Example("GEO_DISTANCE(10.0, 20.0, 10.0, 20.0)", 0.0),),
    ),
)
