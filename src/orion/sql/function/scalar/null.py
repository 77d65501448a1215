"""NULLs replaced, and made; values marked as such."""

from typing import Any

from orion.sql.function.function import Example, Function, variant
from orion.sql.function.value.number import order


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _nullif(value: Any, other: Any) -> Any:
    # NaN equals itself here, as in Java's boxes and in Spark.
    return None if value == other or order(value) == order(other) else value


def _itself(value: Any) -> Any:
    return value


FUNCTIONS = (
    Function(
        "COALESCE",
        "CONDITIONAL",
        "The first of the values that is not NULL.",
        (variant("first T, others T...", "T", _coalesce, takes_nulls=True),),
        (Example("COALESCE(NULL, 2, 3)", 2),),
    ),
    Function(
        "IFNULL",
        "CONDITIONAL",
        "The value, or another where it is NULL.",
        (variant("value T, otherwise T", "T", _coalesce, takes_nulls=True),),
        (Example("IFNULL(NULL, 'none')", "none"),),
    ),
    Function(
        "NULLIF",
        "CONDITIONAL",
        "NULL where the two values are equal, otherwise the first.",
        (variant("value T, other T", "T", _nullif, takes_nulls=True),),
        (Example("NULLIF('n/a', 'n/a')", None), Example("NULLIF(1, 2)", 1)),
    ),
    Function(
        "AS_VALUE",
        "OTHER",
        "A key column, copied into the value of the result.",
        (variant("key T", "T", _itself, takes_nulls=True),),
        (Example("AS_VALUE('k')", "k"),),
    ),
)
