"""Every function that is there without asking."""

from orion.sql.function.aggregate import collection, number
from orion.sql.function.registry import Functions
from orion.sql.function.scalar import (
    array,
    encoding,
    json_text,
    mapping,
    mask,
    math,
    null,
    regex,
    rounding,
    table,
    temporal,
    text,
    url,
)

_ALL = (
    rounding,
    math,
    text,
    mask,
    encoding,
    regex,
    array,
    mapping,
    json_text,
    temporal,
    url,
    null,
    table,
    number,
    collection,
)


def built_in_functions() -> Functions:
    """Return a fresh set of the built-in functions, to which more may be added."""
    return Functions(function for module in _ALL for function in module.FUNCTIONS)
