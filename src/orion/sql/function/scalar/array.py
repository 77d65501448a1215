"""Arrays: searched, sorted, cut, joined. Positions count from 1."""

from collections.abc import Callable, Sequence
from typing import Any

from orion.model import Array, Decimal, Scalar, Type
from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, variant
from orion.sql.function.value.equality import contains, distinct, identity
from orion.sql.function.value.java_text import java_text
from orion.sql.function.value.number import order

_CATEGORY = "ARRAY"
_LONGEST_SERIES = 10_000_000
_PLAIN = (Scalar.BOOLEAN, Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE, Scalar.STRING)


def _concat(left: list[Any] | None, right: list[Any] | None) -> list[Any] | None:
    if left is None and right is None:
        return None
    return [*(left or []), *(right or [])]


def _contains(array: list[Any] | None, value: Any) -> bool:
    return array is not None and contains(array, value)


def _except(left: list[Any], right: list[Any]) -> list[Any]:
    gone = set(map(identity, right))
    return [value for value in distinct(left) if identity(value) not in gone]


def _intersect(left: list[Any], right: list[Any]) -> list[Any]:
    kept = set(map(identity, right))
    return [value for value in distinct(left) if identity(value) in kept]


def _union(left: list[Any], right: list[Any]) -> list[Any]:
    return distinct([*left, *right])


def _join(
    array: list[Any] | None, delimiter: str | None = ",", *, types: Sequence[Type | None]
) -> str | None:
    if array is None:
        return None
    kind = types[0]
    joins = isinstance(kind, Array) and (
        isinstance(kind.element, Decimal) or kind.element in _PLAIN
    )
    if not joins and any(value is not None for value in array):
        raise FunctionFailure("ARRAY_JOIN joins numbers, booleans and texts only.")
    return (delimiter or "").join(java_text(value) for value in array)


def _extreme(pick: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    def picked(array: list[Any]) -> Any:
        present = [value for value in array if value is not None]
        return pick(present, key=order) if present else None

    return picked


def _remove(array: list[Any] | None, value: Any) -> list[Any] | None:
    if array is None:
        return None
    gone = identity(value)
    return [other for other in array if identity(other) != gone]


def _sort(array: list[Any], direction: str = "ASC") -> list[Any] | None:
    if direction.upper() not in ("ASC", "ASCENDING", "DESC", "DESCENDING"):
        return None
    present = sorted((value for value in array if value is not None), key=order)
    if direction.upper().startswith("DESC"):
        present.reverse()
    return present + [None] * (len(array) - len(present))


def _series(start: int, end: int, step: int | None = None) -> list[int]:
    step = (1 if end > start else -1) if step is None else step
    if step == 0 or (end - start) * step < 0:
        raise FunctionFailure(f"A series from {start} to {end} cannot go by steps of {step}.")
    if abs((end - start) // step) > _LONGEST_SERIES:
        raise FunctionFailure(f"A series has at most {_LONGEST_SERIES:,} values.")
    return list(range(start, end + (1 if step > 0 else -1), step))


def _slice(array: list[Any] | None, start: int | None, end: int | None) -> list[Any] | None:
    if array is None:
        return None
    first = 0 if start is None else start - 1
    last = len(array) if end is None else end
    return array[first:last] if 0 <= first <= last <= len(array) else None


_TWO = "left ARRAY<T>, right ARRAY<T>"

FUNCTIONS = (
    Function(
        "ARRAY_CONCAT",
        _CATEGORY,
        "The elements of both arrays; a NULL array has none.",
        (variant(_TWO, "ARRAY<T>", _concat, takes_nulls=True),),
        (Example("ARRAY_CONCAT(ARRAY[1, 2], ARRAY[2])", [1, 2, 2]),),
    ),
    Function(
        "ARRAY_CONTAINS",
        _CATEGORY,
        "Whether an array has an element.",
        (variant("array ARRAY<T>, value T", "BOOLEAN", _contains, takes_nulls=True),),
        (Example("ARRAY_CONTAINS(ARRAY['a', 'b'], 'b')", True),),
    ),
    Function(
        "ARRAY_DISTINCT",
        _CATEGORY,
        "The array with each element once, where it first stood.",
        (variant("array ARRAY<T>", "ARRAY<T>", distinct),),
        (Example("ARRAY_DISTINCT(ARRAY[2, 1, 2])", [2, 1]),),
    ),
    Function(
        "ARRAY_EXCEPT",
        _CATEGORY,
        "The elements of the first array that are not in the second, each once.",
        (variant(_TWO, "ARRAY<T>", _except),),
        (Example("ARRAY_EXCEPT(ARRAY[1, 2, 3, 1], ARRAY[2])", [1, 3]),),
    ),
    Function(
        "ARRAY_INTERSECT",
        _CATEGORY,
        "The elements that both arrays have, each once, in the order of the first.",
        (variant(_TWO, "ARRAY<T>", _intersect),),
        (Example("ARRAY_INTERSECT(ARRAY[1, 2, 3], ARRAY[3, 1])", [1, 3]),),
    ),
    Function(
        "ARRAY_UNION",
        _CATEGORY,
        "The elements that one or both arrays have, each once.",
        (variant(_TWO, "ARRAY<T>", _union),),
        (Example("ARRAY_UNION(ARRAY[1, 2], ARRAY[2, 3])", [1, 2, 3]),),
    ),
    Function(
        "ARRAY_JOIN",
        _CATEGORY,
        "The elements as one text, with a comma or another delimiter between them.",
        (
            variant("array ARRAY<T>", "STRING", _join, takes_nulls=True, typed=True),
            variant(
                "array ARRAY<T>, delimiter STRING", "STRING", _join, takes_nulls=True, typed=True
            ),
        ),
        (Example("ARRAY_JOIN(ARRAY[1, NULL, 3], '-')", "1-null-3"),),
    ),
    Function(
        "ARRAY_LENGTH",
        _CATEGORY,
        "The number of elements.",
        (variant("array ARRAY<T>", "INT", len),),
        (Example("ARRAY_LENGTH(ARRAY[1, 2])", 2),),
    ),
    Function(
        "ARRAY_MAX",
        _CATEGORY,
        "The greatest element that is not NULL.",
        (variant("array ARRAY<T>", "T", _extreme(max)),),
        (Example("ARRAY_MAX(ARRAY[1, NULL, 3])", 3),),
    ),
    Function(
        "ARRAY_MIN",
        _CATEGORY,
        "The least element that is not NULL.",
        (variant("array ARRAY<T>", "T", _extreme(min)),),
        (Example("ARRAY_MIN(ARRAY['b', 'a'])", "a"),),
    ),
    Function(
        "ARRAY_REMOVE",
        _CATEGORY,
        "The array without the elements that equal a value.",
        (variant("array ARRAY<T>, value T", "ARRAY<T>", _remove, takes_nulls=True),),
        (Example("ARRAY_REMOVE(ARRAY[1, 2, 1], 1)", [2]),),
    ),
    Function(
        "ARRAY_SORT",
        _CATEGORY,
        "The elements in order, ASC or DESC; NULLs at the end.",
        (
            variant("array ARRAY<T>", "ARRAY<T>", _sort),
            variant("array ARRAY<T>, direction STRING", "ARRAY<T>", _sort),
        ),
        (Example("ARRAY_SORT(ARRAY[2, NULL, 3], 'DESC')", [3, 2, None]),),
    ),
    Function(
        "GENERATE_SERIES",
        _CATEGORY,
        "The whole numbers from one to another, both included, by steps of 1 or another.",
        (
            variant("first INT, last INT", "ARRAY<INT>", _series),
            variant("first BIGINT, last BIGINT", "ARRAY<BIGINT>", _series),
            variant("first INT, last INT, step INT", "ARRAY<INT>", _series),
            variant("first BIGINT, last BIGINT, step INT", "ARRAY<BIGINT>", _series),
        ),
        (Example("GENERATE_SERIES(3, -1, -2)", [3, 1, -1]),),
    ),
    Function(
        "SLICE",
        _CATEGORY,
        "The elements from one position to another, both included; NULL if there are fewer.",
        (variant("array ARRAY<T>, first INT, last INT", "ARRAY<T>", _slice, takes_nulls=True),),
        (Example("SLICE(ARRAY[1, 2, 3], 2, 3)", [2, 3]),),
    ),
)
