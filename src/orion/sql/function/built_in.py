"""Every function that is there without asking.

A resolved call of one of them travels to other processes by its name: the meaning is there too.
"""

import copyreg
from collections.abc import Callable
from functools import cache
from typing import Any

from orion.model import Type
from orion.sql.function.aggregate import collection, number
from orion.sql.function.registry import Functions, Resolved
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


@cache
def _built_in() -> Functions:
    return built_in_functions()


def _restore(name: str, position: int, parameters: tuple[Type | None, ...], kind: Type) -> Resolved:
    function = _built_in().get(name)
    return Resolved(function, function.variants[position], parameters, kind)


def _reduce(resolved: Resolved) -> tuple[Callable[..., Resolved], tuple[Any, ...]]:
    function = resolved.function
    own = function.name in _built_in() and _built_in().get(function.name) is function
    if not own:
        return Resolved, (function, resolved.variant, resolved.parameters, resolved.returns)
    position = next(at for at, one in enumerate(function.variants) if one is resolved.variant)
    return _restore, (function.name, position, resolved.parameters, resolved.returns)


copyreg.pickle(Resolved, _reduce)
