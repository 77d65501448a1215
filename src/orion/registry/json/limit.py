"""Limits of JSON Schema: lengths, counts and numbers that a reader draws closer."""

from collections.abc import Iterator
from typing import Any

from orion.registry.conflict import Conflict


def limit_conflicts(old: Any, new: Any, path: str, *, rule: str, lower: bool) -> Iterator[Conflict]:
    """Yield a conflict when a limit was added or drawn closer.

    Args:
        rule: The name of the limit in rules, like MAX_LENGTH.
        lower: Whether the limit is a least one.
    """
    if not _is_number(new) or new == old:
        return
    word = path.rpartition("/")[2]
    if not _is_number(old):
        yield Conflict(f"{rule}_ADDED", path, f"{word} {new} of the reader is new")
    elif (new > old) == lower:
        change = "INCREASED" if lower else "DECREASED"
        yield Conflict(f"{rule}_{change}", path, f"{word} is {new} for the reader, was {old}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
