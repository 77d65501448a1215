"""Functions of streaming SQL as Spark columns, wherever Spark means the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column

from orion.model import Type
from orion.process.function import collection, moment, number, text
from orion.process.function.call import Argument, Call, Native
from orion.sql import Resolved

_NATIVE: dict[str, Native] = {
    **number.NATIVE,
    **text.NATIVE,
    **collection.NATIVE,
    **moment.NATIVE,
}

# The native forms that are null, of arguments that are not, just where the meaning fails. Others
# have no result for some good arguments too, and nobody could tell the two apart.
_NULL_IS_FAILURE = frozenset(
    (
        *("BIGINT_FROM_BYTES", "INT_FROM_BYTES", "CEIL", "DATEADD", "DATESUB", "DATETOSTRING"),
        *("FLOOR", "FROM_DAYS", "FROM_UNIXTIME", "GENERATE_SERIES", "MASK", "MASK_KEEP_LEFT"),
        *("MASK_KEEP_RIGHT", "MASK_LEFT", "MASK_RIGHT", "ROUND", "TIMEADD", "TIMESUB"),
        *("TIMESTAMPADD", "TIMESTAMPSUB", "TIMESTAMPTOSTRING", "TRUNC", "URL_DECODE_PARAM"),
    )
)


def native(
    resolved: Resolved,
    arguments: Sequence[Argument],
    types: Sequence[Type | None],
    constants: Mapping[int, Any] | None = None,
) -> Column | None:
    """Return a function's column without Python in the tasks; None where there is no such form.

    The session has ANSI mode off, UTC as its zone, and lets the last of equal map keys win.

    Args:
        resolved: The variant that the plan chose.
        arguments: Columns in the types of the parameters; a lambda as a function of columns.
        types: Their types; of a lambda, that of its body.
        constants: The values of the arguments that are the same in every row, by position. Some
            functions have a native form only for patterns, encodings or places that are known.
    """
    form = _NATIVE.get(resolved.name)
    if form is None:
        return None
    return form(Call(resolved, tuple(arguments), tuple(types), dict(constants or {})))


def null_is_failure(name: str) -> bool:
    """Tell whether a native function without a result for good arguments has failed."""
    return name in _NULL_IS_FAILURE


def native_names() -> frozenset[str]:
    """Return the functions that have a native form, for some or all of their variants."""
    return frozenset(_NATIVE)
