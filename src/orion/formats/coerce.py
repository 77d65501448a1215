"""Values as parsers give them to values that a column takes, with ksqlDB's leniency.

A number spelled as text is that number, a whole number may come as 5.0, anything may become text,
temporal values are numbers or ISO text. What would lose something (a fraction in a whole number,
digits of a decimal) is refused.
"""

import base64
import binascii
import functools
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal as Exact
from decimal import InvalidOperation
from typing import Any

import orjson

from orion.formats.number import fit_decimal, spell_double
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

Convert = Callable[[Any], Any]

_EPOCH = date(1970, 1, 1).toordinal()
_START = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE_TEXT = re.compile(r"\s*[-+]?\d{1,40}\s*")
# A double is exact for whole numbers below this; beyond, the parser's text is asked again.
_EXACT_WHOLE = 1 << 53
_MOST_DIGITS = 40
_MAX_TIMESTAMP_MS = (1 << 63) // 1_000 - 1
_SHOWN_CHARACTERS = 60


class MisfitError(Exception):
    """Raised when a value does not fit its column; `path` is told on the way out."""

    def __init__(self, kind: Type, value: object) -> None:
        self.kind, self.value, self.path = kind, value, ""
        super().__init__()

    def inside(self, step: str) -> "MisfitError":
        """Return this error as seen from one level above."""
        self.path = step + self.path
        return self

    def reason(self, column: str) -> str:
        """Say which value was wrong."""
        name = _label(self.kind)
        return f"field '{column}{self.path}' is not {name}: {show(self.value)}"


class InexactError(Exception):
    """Raised when a parsed double stands for digits that it cannot hold."""


def show(value: object) -> str:
    """Return a value for a message, cut short."""
    text = value.hex() if isinstance(value, bytes) else json_text(value)
    return text[:_SHOWN_CHARACTERS]


def json_text(value: object) -> str:
    """Return a value as compact JSON: fields in order, decimals as they were written."""
    match value:
        case dict():
            parts = (f"{_quoted(str(k))}:{json_text(value[k])}" for k in value)
            return "{" + ",".join(parts) + "}"
        case list() | tuple():
            return "[" + ",".join(map(json_text, value)) + "]"
        case str():
            return _quoted(value)
        case None:
            return "null"
        case _:
            return _plain_text(value)


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def _plain_text(value: object) -> str:
    """Return a scalar's text, as a STRING column shows it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return spell_double(value)
        case _:
            return str(value)


def _label(kind: Type) -> str:
    return str(kind) if isinstance(kind, Scalar | Decimal) else type(kind).__name__.upper()


@functools.cache
def converter(kind: Type) -> Convert:
    """Return the function from a parsed value to what Arrow takes; null stays null.

    It raises MisfitError, or InexactError if only the original digits can tell.
    """
    match kind:
        case Scalar():
            return _nullable(kind, _SCALARS[kind])
        case Decimal():
            return _nullable(kind, functools.partial(_to_decimal, kind))
        case Array(element):
            return _nullable(kind, functools.partial(_to_list, converter(element)))
        case Map():
            return _nullable(kind, functools.partial(_to_map, kind))
        case Struct():
            return _nullable(kind, StructConverter(kind.fields))


def _nullable(kind: Type, convert: Convert) -> Convert:
    def apply(value: Any) -> Any:
        if value is None:
            return None
        try:
            return convert(value)
        except (ValueError, TypeError, OverflowError, ArithmeticError) as error:
            raise MisfitError(kind, value) from error

    return apply


def _to_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}[value.lower()] if _is_flag(value) else _refuse()


def _is_flag(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in ("true", "false")


def _refuse() -> Any:
    raise ValueError


def _to_whole(value: Any, bits: int = 64) -> int:
    limit = 1 << (bits - 1)
    number = _whole(value)
    return number if -limit <= number < limit else _refuse()


def _whole(value: Any) -> int:
    match value:
        case bool():
            return int(_refuse())
        case int():
            return value
        case datetime():
            return _to_timestamp(value) // 1_000
        case date():
            return _to_date(value)
        case time():
            return _to_time(value)
        case float():
            if abs(value) >= _EXACT_WHOLE:
                raise InexactError
            return int(value) if value.is_integer() else int(_refuse())
        case Exact():
            return int(value) if _is_small_whole(value) else int(_refuse())
        case str() if _WHOLE_TEXT.fullmatch(value):
            return int(value)
        case _:
            return int(_refuse())


def _is_small_whole(value: Exact) -> bool:
    # Few letters may spell a number of many digits: they are not written out.
    is_small = value.is_finite() and value.adjusted() < _MOST_DIGITS
    return is_small and value == value.to_integral_value()


def _to_double(value: Any) -> float:
    return float(_refuse() if isinstance(value, bool) or not _is_number(value) else value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Exact | str)


def _to_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if _holds_double(value):
        raise InexactError
    if isinstance(value, dict | list):
        return json_text(value)
    return str(_refuse()) if isinstance(value, bytes) else _plain_text(value)


def _holds_double(value: Any) -> bool:
    match value:
        case dict():
            return any(map(_holds_double, value.values()))
        case list():
            return any(map(_holds_double, value))
        case _:
            return isinstance(value, float)


def keep_digits(value: Any) -> Any:
    """Return a value whose doubles are decimals of the digits that they print."""
    match value:
        case dict():
            return {key: keep_digits(each) for key, each in value.items()}
        case list():
            return [keep_digits(each) for each in value]
        case float():
            return Exact(repr(value))
        case _:
            return value


def _to_bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if not isinstance(value, str):
        return bytes(_refuse())
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise ValueError from error


def _to_date(value: Any) -> int:
    if isinstance(value, date):
        return value.toordinal() - _EPOCH
    if isinstance(value, str) and not _WHOLE_TEXT.fullmatch(value):
        return date.fromisoformat(value.strip()).toordinal() - _EPOCH
    return _to_whole(value, 32)


def _to_time(value: Any) -> int:
    if isinstance(value, str) and not _WHOLE_TEXT.fullmatch(value):
        value = time.fromisoformat(value.strip())
    if isinstance(value, time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1_000 + value.microsecond // 1_000
    return _to_whole(value, 32)


def _to_timestamp(value: Any) -> int:
    """Return microseconds; numbers are milliseconds, text without an offset is in UTC."""
    if isinstance(value, str) and not _WHOLE_TEXT.fullmatch(value):
        value = datetime.fromisoformat(value.strip())
    if isinstance(value, datetime):
        when = value if value.tzinfo else value.replace(tzinfo=UTC)
        past = when - _START
        return (past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds
    number = _to_whole(value)
    return number * 1_000 if abs(number) <= _MAX_TIMESTAMP_MS else int(_refuse())


def _to_decimal(kind: Decimal, value: Any) -> Exact:
    if isinstance(value, float):
        raise InexactError
    if isinstance(value, bool) or not _is_number(value):
        _refuse()
    try:
        number = Exact(value)
    except InvalidOperation as error:
        raise ValueError from error
    fitted = fit_decimal(number, kind.precision, kind.scale)
    return _refuse() if fitted is None else fitted


def _to_list(convert: Convert, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        _refuse()
    found = []
    for position, each in enumerate(value):
        try:
            found.append(convert(each))
        except MisfitError as error:
            raise error.inside(f"[{position}]") from error
    return found


def _to_map(kind: Map, value: Any) -> list[tuple[Any, Any]]:
    """Return the entries; maps whose keys are not text come as lists of key and value."""
    entries = list(value.items()) if isinstance(value, dict) else [_entry(e) for e in value]
    key_of, value_of = converter(kind.key), converter(kind.value)
    found = []
    for key, each in entries:
        try:
            found.append((key_of(key), value_of(each)))
        except MisfitError as error:
            raise error.inside(f"[{show(key)}]") from error
        if found[-1][0] is None:
            _refuse()
    return found


def _entry(value: Any) -> tuple[Any, Any]:
    if not isinstance(value, dict):
        _refuse()
    by_name = {str(name).lower(): each for name, each in value.items()}
    if "key" not in by_name:
        _refuse()
    return by_name["key"], by_name.get("value")


class FieldNames:
    """Finds fields by name in any case; the exact name wins."""

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self._names = [field.name for field in fields]
        self._seen: dict[tuple[str, ...], list[str | None]] = {}

    def of(self, found: dict[str, Any]) -> list[str | None]:
        """Return for each field the name that it has here, or None."""
        keys = tuple(found)
        spelled = self._seen.get(keys)
        if spelled is None:
            # Producers use few spellings; a topic of random names must not fill the memory.
            if len(self._seen) > _MAX_SPELLINGS:
                self._seen.clear()
            by_upper = {key.upper(): key for key in reversed(keys)}
            spelled = [
                name if name in found else by_upper.get(name.upper()) for name in self._names
            ]
            self._seen[keys] = spelled
        return spelled


_MAX_SPELLINGS = 10_000


class StructConverter:
    """Converts objects to structs."""

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self._fields = [(field.name, converter(field.type)) for field in fields]
        self._names = FieldNames(fields)

    def __call__(self, value: Any) -> dict[str, Any]:
        """Return the struct's fields; missing ones are null, unknown ones left out."""
        if not isinstance(value, dict):
            _refuse()
        found: dict[str, Any] = {}
        names = self._names.of(value)
        for (name, convert), spelled in zip(self._fields, names, strict=True):
            try:
                found[name] = None if spelled is None else convert(value[spelled])
            except MisfitError as error:
                raise error.inside(f".{name}") from error
        return found


_SCALARS: dict[Scalar, Convert] = {
    Scalar.BOOLEAN: _to_bool,
    Scalar.INTEGER: functools.partial(_to_whole, bits=32),
    Scalar.BIGINT: _to_whole,
    Scalar.DOUBLE: _to_double,
    Scalar.STRING: _to_text,
    Scalar.BYTES: _to_bytes,
    Scalar.TIME: _to_time,
    Scalar.DATE: _to_date,
    Scalar.TIMESTAMP: _to_timestamp,
}
