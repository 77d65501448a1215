"""Every function that is there without asking."""

from orion.sql.function.registry import Functions
from orion.sql.function.scalar import math, rounding

_ALL = (rounding, math)


def built_in_functions() -> Functions:
    """Return a fresh set of the built-in functions, to which more may be added."""
    return Functions(function for module in _ALL for function in module.FUNCTIONS)
