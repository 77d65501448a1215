"""Values and rows as JSON shows them in answers."""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import orjson

from orion.model import Array, Decimal, Map, Scalar, Struct, Type
from orion.sql import spell
from orion.views import Values

_TEMPORAL = (Scalar.DATE, Scalar.TIME, Scalar.TIMESTAMP)
_GAP = orjson.Fragment(b"\n")


def shown(value: Any, kind: Type | None) -> Any:
    """Return a value as JSON shows it: moments as text, bytes in base64."""
    if value is None or kind is None:
        return value
    match kind:
        case Scalar.BYTES:
            return base64.b64encode(value).decode()
        case Scalar() if kind in _TEMPORAL:
            return spell(value, kind)
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


def _is_plain(kind: Type | None) -> bool:
    return kind is None or (
        isinstance(kind, Scalar | Decimal) and kind not in (Scalar.BYTES, *_TEMPORAL)
    )


def _key(value: Any, kind: Type) -> str:
    return value if isinstance(value, str) else spell(value, kind)


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
    return orjson.Fragment(str(value))
