"""CAST, value by value: numbers, texts, moments, and texts of nested values as Java spells them."""

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal as Number
from typing import Any

from orion.model import Array, Decimal, Map, Scalar, Struct, Type
from orion.sql.function import read_base64
from orion.sql.plan.instant import format_date_days, format_time_ms, format_timestamp_ms
from orion.sql.plan.meet import read_text, scaled

_DAY_MS = 86_400_000
_SIZES = {Scalar.INTEGER: 32, Scalar.BIGINT: 64}
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")


def cast(value: Any, source: Type | None, target: Type) -> Any:
    """Return a value in another type; raises ValueError where it has none there."""
    if value is None or source is None or source == target:
        return value
    if target is Scalar.STRING:
        return spell(value, source)
    if source is Scalar.STRING:
        return _from_text(value, target)
    if isinstance(source, Array) and isinstance(target, Array):
        return [cast(item, source.element, target.element) for item in value]
    if isinstance(source, Map) and isinstance(target, Map):
        return {
            cast(k, source.key, target.key): cast(v, source.value, target.value)
            for k, v in value.items()
        }
    if isinstance(source, Struct) and isinstance(target, Struct):
        return _cast_struct(value, source, target)
    if source in (Scalar.DATE, Scalar.TIMESTAMP, Scalar.TIME):
        return _cast_moment(value, source, target)
    return _cast_number(value, target)


def _from_text(text: str, target: Type) -> Any:
    """Return what a text spells; CAST is stricter with numbers than literals are."""
    match target:
        case Scalar.BOOLEAN:
            word = text.strip().lower()
            return bool(word) and ("true".startswith(word) or "yes".startswith(word))
        case Scalar.BYTES:
            return read_base64(text.strip())
    found = read_text(text, target)
    if isinstance(found, int) and target in _SIZES and _WHOLE.fullmatch(text) is None:
        raise ValueError(f"'{text}' is not written as a whole number")
    if isinstance(found, float) and not math.isfinite(found):
        raise ValueError(f"'{text}' is no number")
    return found


def _cast_struct(value: Mapping[str, Any], source: Struct, target: Struct) -> dict[str, Any]:
    known = {field.name: field.type for field in source.fields}
    return {
        field.name: cast(value.get(field.name), known.get(field.name), field.type)
        for field in target.fields
    }


def _cast_moment(value: int, source: Type, target: Type) -> int:
    if source is Scalar.DATE and target is Scalar.TIMESTAMP:
        return value * _DAY_MS
    if source is Scalar.TIMESTAMP and target is Scalar.DATE:
        return value // _DAY_MS
    if source is Scalar.TIMESTAMP and target is Scalar.TIME:
        return value % _DAY_MS
    raise ValueError(f"{source} is no {target}")


def _cast_number(value: Any, target: Type) -> Any:
    if isinstance(target, Decimal):
        return scaled(Number(repr(value)) if isinstance(value, float) else Number(value), target)
    if target is Scalar.DOUBLE:
        return float(value)
    assert isinstance(target, Scalar)
    bits = _SIZES[target]
    if isinstance(value, float):
        return _from_double(value, bits)
    return wrapped(int(value), bits)


def _from_double(value: float, bits: int) -> int:
    """Return a whole number as Java narrows: towards zero, and no further than the type goes."""
    if math.isnan(value):
        return 0
    limit = 1 << (bits - 1)
    return max(
        -limit,
        min(
            limit - 1, int(value) if math.isfinite(value) else (limit - 1 if value > 0 else -limit)
        ),
    )


def wrapped(value: int, bits: int) -> int:
    """Return a whole number as it overflows in this many bits.

    >>> wrapped(2**31, 32)
    -2147483648
    """
    limit = 1 << (bits - 1)
    return (value + limit) % (1 << bits) - limit


def spell(value: Any, kind: Type) -> str:
    """Return the text of a value, as CAST to STRING gives it."""
    match kind:
        case Array(element):
            return f"[{', '.join(_inner(item, element) for item in value)}]"
        case Map(key, element):
            items = (f"{_inner(k, key)}={_inner(v, element)}" for k, v in value.items())
            return f"{{{', '.join(items)}}}"
        case Struct(fields):
            parts = (
                f"{f.name}={_inner(value.get(f.name), f.type)}"
                for f in fields
                if value.get(f.name) is not None
            )
            return f"Struct{{{','.join(parts)}}}"
        case Decimal():
            return f"{value:f}"
    return _SPELLERS[kind](value)


def _inner(value: Any, kind: Type) -> str:
    return "null" if value is None else spell(value, kind)


def spell_double(value: float) -> str:
    """Return a double as Java prints it.

    >>> spell_double(1e10), spell_double(0.5), spell_double(123456.0)
    ('1.0E10', '0.5', '123456.0')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return format(Number(repr(value)), "f") if "e" in repr(value) else repr(value)
    sign, digits, exponent = Number(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    power = exponent + len(digits) - 1
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"


_SPELLERS: Mapping[Type, Callable[[Any], str]] = {
    Scalar.BOOLEAN: lambda value: "true" if value else "false",
    Scalar.INTEGER: str,
    Scalar.BIGINT: str,
    Scalar.DOUBLE: spell_double,
    Scalar.STRING: str,
    Scalar.DATE: format_date_days,
    # Times are written to the second.
    Scalar.TIME: lambda value: format_time_ms(value // 1000 * 1000),
    Scalar.TIMESTAMP: format_timestamp_ms,
}
