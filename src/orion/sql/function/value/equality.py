"""Equality as Java has it: a NaN is itself, 0.0 is not -0.0; lists and maps compare by value."""

import math
from collections.abc import Hashable
from decimal import Decimal
from typing import Any


def identity(value: Any) -> Hashable:
    """Return something hashable that is equal for equal values only."""
    match value:
        case float():
            return "NaN" if math.isnan(value) else (value, math.copysign(1, value))
        case list():
            return ("list", *map(identity, value))
        case dict():
            return frozenset((identity(key), identity(item)) for key, item in value.items())
    hashable: Hashable = value
    return hashable


def distinct(values: list[Any]) -> list[Any]:
    """Return the values in their order, each once."""
    first: dict[Hashable, Any] = {}
    for value in values:
        first.setdefault(identity(value), value)
    return list(first.values())


def contains(values: list[Any], value: Any) -> bool:
    """Tell whether a value is among others, NULL too."""
    if value is None or isinstance(value, str | int | bytes | Decimal):
        return value in values
    wanted = identity(value)
    return any(identity(other) == wanted for other in values)
