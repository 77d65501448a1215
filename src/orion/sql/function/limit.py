"""Properties of a session that change what functions do: how much collecting ones collect."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from orion.model import InvalidInputError
from orion.sql.function.aggregate.collection import NO_LIMIT, collect_list, collect_set
from orion.sql.function.function import Aggregation, Function
from orion.sql.function.registry import Functions

_LIMITED: dict[str, Callable[[int], Aggregation]] = {
    "COLLECT_LIST": collect_list,
    "COLLECT_SET": collect_set,
}


class LimitError(InvalidInputError):
    """Raised when a limit is no whole number."""

    def __init__(self, name: str, value: str) -> None:
        self.name, self.value = name, value
        super().__init__(f"Property '{name}' is '{value}', expected a whole number.")


def limit_functions(functions: Functions, properties: Mapping[str, str]) -> Functions:
    """Return the functions as a session's properties want them.

    `ksql.functions.collect_list.limit` and `ksql.functions.collect_set.limit` are how many values
    are collected at most; a negative number is no limit.
    """
    limits = {name: _limit(f"ksql.functions.{name.lower()}.limit", properties) for name in _LIMITED}
    if all(limit is None for limit in limits.values()):
        return functions
    return Functions(_limited(function, limits.get(function.name)) for function in functions)


def _limit(name: str, properties: Mapping[str, str]) -> int | None:
    value = properties.get(name)
    if value is None:
        return None
    try:
        limit = int(str(value))
    except ValueError as error:
        raise LimitError(name, str(value)) from error
    return limit if limit >= 0 else NO_LIMIT


def _limited(function: Function, limit: int | None) -> Function:
    if limit is None:
        return function
    steps = _LIMITED[function.name]
    variants = tuple(replace(one, meaning=lambda: steps(limit)) for one in function.variants)
    return replace(function, variants=variants)
