"""Table functions: one row in, a row for every element out."""

from itertools import product
from typing import Any

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, Kind, variant

# Twenty columns already make a million rows.
_MOST_COLUMNS = 20


def _explode(array: list[Any] | None) -> list[Any]:
    return array or []


def _cube(columns: list[Any] | None) -> list[list[Any]]:
    """Return every combination of a value or NULL; a value that is NULL is not chosen twice."""
    if columns is not None and len(columns) > _MOST_COLUMNS:
        raise FunctionFailure(f"CUBE_EXPLODE takes at most {_MOST_COLUMNS} values.")
    choices = [[None] if value is None else [None, value] for value in columns or []]
    return [] if columns is None else [list(row) for row in product(*choices)]


FUNCTIONS = (
    Function(
        "EXPLODE",
        "TABLE",
        "A row for every element of an array.",
        (variant("array ARRAY<T>", "T", _explode, takes_nulls=True),),
        (Example("EXPLODE(ARRAY[1, 2])", [1, 2]),),
        Kind.TABLE,
    ),
    Function(
        "CUBE_EXPLODE",
        "TABLE",
        "A row for every combination of the elements, each of them there or NULL.",
        (variant("array ARRAY<T>", "ARRAY<T>", _cube, takes_nulls=True),),
        (Example("CUBE_EXPLODE(ARRAY[1, NULL])", [[None, None], [1, None]]),),
        Kind.TABLE,
    ),
)
