"""Values and rows as JSON shows them in answers."""

import base64
import decimal
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import orjson

from orion.model import Array, Decimal, Map, Scalar, Struct, Type
from orion.sql import spell
from orion.views import Values

_TEMPORAL = (Scalar.DATE, Scalar.TIME, Scalar.TIMESTAMP)
_GAP = orjson.Fragment(b"\n")
_DAY_MS, _CYCLE_DAYS = 86_400_000, 146_097
# JSON has no numbers for these; null would say that there is no value.
_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def shown(value: Any, kind: Type | None) -> Any:
    """Return a value as JSON shows it: moments as text, bytes in base64."""
    if value is None or kind is None:
        return value
    match kind:
        case Scalar.BYTES:
            return base64.b64encode(value).decode()
        case Scalar() if kind in _TEMPORAL:
            return _spelled(value, kind)
        case Scalar.DOUBLE:
            return value if math.isfinite(value) else _NAMES[str(value)]
        case Decimal():
            # Exact digits go out as a JSON number, see `_exact`.
            return value
        case Array(element):
            return [shown(item, element) for item in value]
        case Map(key, element):
            return {_key(k, key): shown(v, element) for k, v in value.items()}
        case Struct(fields):
            return {field.name: shown(value.get(field.name), field.type) for field in fields}
    return value


def shower(kinds: Sequence[Type | None]) -> Callable[[Values], Values] | None:
    """Return what turns rows of these types into what JSON shows; None: they are that already."""
    changed = [(at, kind) for at, kind in enumerate(kinds) if not _is_plain(kind)]
    if not changed:
        return None

    def show(row: Values) -> Values:
        made = list(row)
        for at, kind in changed:
            made[at] = shown(made[at], kind)
        return tuple(made)

    return show


def show_rows(kinds: Sequence[Type | None], rows: list[Values]) -> list[Values]:
    """Return many rows as JSON shows them."""
    doubles = [at for at, kind in enumerate(kinds) if kind is Scalar.DOUBLE]
    # One sum tells of all: nearly all doubles are numbers, and nothing changes them then.
    if all(math.isfinite(sum(row[at] or 0.0 for row in rows)) for at in doubles):
        kinds = [None if kind is Scalar.DOUBLE else kind for kind in kinds]
    show = shower(kinds)
    return rows if show is None else [show(row) for row in rows]


def _is_plain(kind: Type | None) -> bool:
    return kind is None or (
        isinstance(kind, Scalar | Decimal) and kind not in (Scalar.BYTES, Scalar.DOUBLE, *_TEMPORAL)
    )


def _key(value: Any, kind: Type) -> str:
    return value if isinstance(value, str) else _spelled(value, kind)


def _spelled(value: Any, kind: Type) -> str:
    try:
        return spell(value, kind)
    except OverflowError:
        # Python's calendar ends with the year 9999; years repeat after 400 of them.
        cycles, rest = divmod(value, _CYCLE_DAYS * (_DAY_MS if kind is Scalar.TIMESTAMP else 1))
        text = spell(rest, kind)
        year = int(text[:4]) + 400 * cycles
        sign = "-" if year < 0 else "+" if year > 9999 else ""
        return f"{sign}{abs(year):04d}{text[4:]}"


def dump(value: Any) -> bytes:
    """Return JSON in which decimals keep every digit."""
    return orjson.dumps(value, default=_exact, option=orjson.OPT_NON_STR_KEYS)


def dump_rows(rows: Iterable[Sequence[Any]], separator: bytes) -> bytes:
    """Return the JSON of rows with these bytes between them.

    One call for all rows is a hundred times faster than one for each; the gaps are found again
    because JSON itself never holds a line feed.
    """
    parts: list[Any] = []
    for row in rows:
        parts += (row, _GAP)
    if not parts:
        return b""
    parts.pop()
    return dump(parts)[1:-1].replace(b",\n,", separator)


def _exact(value: Any) -> Any:
    # Without an exponent, which `str` gives to a zero with eight places.
    return orjson.Fragment(f"{value:f}" if isinstance(value, decimal.Decimal) else str(value))


def load(text: bytes, kinds: Iterable[Type | None]) -> Any:
    """Return what JSON holds, for `dump`; where there are decimals, numbers keep every digit."""
    found = orjson.loads(text)
    if not any(_holds_decimals(kind) for kind in kinds):
        return found
    fragment = orjson.Fragment
    try:
        return json.loads(text, parse_float=fragment, parse_int=fragment)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _holds_decimals(kind: Type | None) -> bool:
    match kind:
        case Decimal():
            return True
        case Array(element) | Map(_, element):
            return _holds_decimals(element)
        case Struct(fields):
            return any(_holds_decimals(field.type) for field in fields)
    return False
