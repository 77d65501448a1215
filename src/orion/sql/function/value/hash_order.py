"""The order in which Java's hash maps go through their keys; a REDUCE of a map follows it."""

from collections.abc import Iterable
from typing import Any


def hash_order(keys: Iterable[Any]) -> list[Any]:
    """Return keys in the order of the buckets they fall into.

    >>> hash_order(["b", "a", "Aa", "BB"])
    ['Aa', 'BB', 'a', 'b']
    """
    known = list(keys)
    capacity = 1
    # A map made for so many entries doubles when more than three quarters of it are full.
    while len(known) * 4 > capacity * 3:
        capacity *= 2
    return sorted(known, key=lambda key: _spread(_hash(key)) & (capacity - 1))


def _spread(value: int) -> int:
    return value ^ (value >> 16)


def _hash(key: Any) -> int:
    """Return Java's hash code of a key, as an unsigned number of 32 bits."""
    match key:
        case bool():
            return 1231 if key else 1237
        case str():
            return _hash_text(key)
        case int():
            bits = key & (2**64 - 1)
            small = -(2**31) <= key < 2**31
            return (key if small else bits ^ (bits >> 32)) & (2**32 - 1)
    return 0


def _hash_text(text: str) -> int:
    found = 0
    units = text.encode("utf-16-be")
    for at in range(0, len(units), 2):
        found = (31 * found + int.from_bytes(units[at : at + 2], "big")) & (2**32 - 1)
    return found
