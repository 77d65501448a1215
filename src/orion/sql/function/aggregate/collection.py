"""Aggregates that keep values: lists, sets, the first and the last, the greatest few."""

from collections.abc import Callable, Sequence
from typing import Any

from orion.model import Array, Field, Struct, Type
from orion.sql.function.function import Aggregation, Example, Function, Kind, Variant, variant
from orion.sql.function.value.equality import contains, identity
from orion.sql.function.value.number import order

_CATEGORY = "AGGREGATE"
_MOST_BINS = 1000
NO_LIMIT = 2**31 - 1
_ORDERED = ("INT", "BIGINT", "DOUBLE", "STRING")


# -- COLLECT_LIST, COLLECT_SET, COUNT_DISTINCT


def collect_list(limit: int) -> Aggregation:
    """Return the steps of COLLECT_LIST; values beyond the limit are passed over."""

    def undo(state: list[Any], value: Any) -> list[Any]:
        wanted = identity(value)
        for at in reversed(range(len(state))):
            if identity(state[at]) == wanted:
                return state[:at] + state[at + 1 :]
        return state

    return Aggregation(
        initial=list,
        add=lambda state, value: state if len(state) >= limit else [*state, value],
        result=lambda state: state,
        merge=lambda one, other: [*one, *other][:limit],
        undo=undo,
    )


def _with(state: list[Any], value: Any) -> list[Any]:
    return state if contains(state, value) else [*state, value]


def _merge_sets(one: list[Any], other: list[Any]) -> list[Any]:
    for value in other:
        one = _with(one, value)
    return one


def collect_set(limit: int) -> Aggregation:
    """Return the steps of COLLECT_SET; values beyond the limit are passed over."""
    return Aggregation(
        initial=list,
        add=lambda state, value: state if len(state) >= limit else _with(state, value),
        result=lambda state: state,
        merge=lambda one, other: _merge_sets(one, other)[:limit],
    )


def _count_distinct() -> Aggregation:
    """Keep what was seen in one dict: a copy for every row would take ever longer."""

    def add(state: dict[Any, None], value: Any) -> dict[Any, None]:
        if value is not None:
            state[identity(value)] = None
        return state

    return Aggregation(initial=dict, add=add, result=len, merge=lambda one, other: {**one, **other})


# -- HISTOGRAM


def _histogram() -> Aggregation:
    def add(state: dict[str, int], value: str | None, count: int = 1) -> dict[str, int]:
        # A map has no NULL among its keys.
        if value is None or (len(state) >= _MOST_BINS and value not in state):
            return state
        return {**state, value: state.get(value, 0) + count}

    def undo(state: dict[str, int], value: str | None) -> dict[str, int]:
        if value is None:
            return state
        left = state.get(value, 0) - 1
        others = {key: count for key, count in state.items() if key != value}
        return {**others, value: left} if left > 0 else others

    def merge(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
        for value, count in other.items():
            one = add(one, value, count)
        return one

    return Aggregation(initial=dict, add=add, result=lambda state: state, merge=merge, undo=undo)


# -- ATTR: the state is a list of (value, count)


def _attr() -> Aggregation:
    def moved(state: list[Any], value: Any, by: int) -> list[Any]:
        wanted, found = identity(value), False
        changed = []
        for known, count in state:
            same = identity(known) == wanted
            found = found or same
            changed.append([known, max(count + by, 0) if same else count])
        return changed if found or by < 0 else [*changed, [value, by]]

    def result(state: list[Any]) -> Any:
        present = [value for value, count in state if count > 0]
        return present[0] if len(present) == 1 else None

    def merge(one: list[Any], other: list[Any]) -> list[Any]:
        for value, count in other:
            one = moved(one, value, count)
        return one

    return Aggregation(
        initial=list,
        add=lambda state, value: moved(state, value, 1),
        result=result,
        merge=merge,
        undo=lambda state, value: moved(state, value, -1),
    )


# -- EARLIEST_BY_OFFSET and LATEST_BY_OFFSET: the state is the values kept


def _at_least_one(count: int) -> int:
    if count < 1:
        raise ValueError(f"The number of values to keep is at least 1, not {count}.")
    return count


def _by_offset(keep: Callable[[list[Any], int], list[Any]]) -> Callable[..., Aggregation]:
    def make(*constants: Any) -> Aggregation:
        count = next((c for c in constants if not isinstance(c, bool)), None)
        ignore_nulls = next((c for c in constants if isinstance(c, bool)), True)
        size = 1 if count is None else _at_least_one(count)

        def add(state: list[Any], value: Any) -> list[Any]:
            if value is None and ignore_nulls:
                return state
            return keep([*state, value], size)

        return Aggregation(
            initial=list,
            add=add,
            result=lambda s: s if count is not None else (s[0] if s else None),
            merge=lambda one, other: keep([*one, *other], size),
        )

    return make


def _first(values: list[Any], size: int) -> list[Any]:
    return values[:size]


def _last(values: list[Any], size: int) -> list[Any]:
    return values[-size:]


def _offset_variants(keep: Callable[[list[Any], int], list[Any]]) -> tuple[Variant, ...]:
    make = _by_offset(keep)
    return (
        variant("value T", "T", make),
        variant("value T, ignoreNulls BOOLEAN CONSTANT", "T", make),
        variant("value T, n INT CONSTANT", "ARRAY<T>", make),
        variant("value T, n INT CONSTANT, ignoreNulls BOOLEAN CONSTANT", "ARRAY<T>", make),
    )


# -- TOPK and TOPKDISTINCT


def _top(count: int) -> Aggregation:
    size = _at_least_one(count)

    def best(values: list[Any]) -> list[Any]:
        return sorted(values, key=order, reverse=True)[:size]

    return Aggregation(
        initial=list,
        add=lambda state, value: state if value is None else best([*state, value]),
        result=lambda state: state,
        merge=lambda one, other: best([*one, *other]),
    )


def _top_distinct(count: int) -> Aggregation:
    size = _at_least_one(count)

    def best(values: list[Any]) -> list[Any]:
        return sorted(_merge_sets([], values), key=order, reverse=True)[:size]

    return Aggregation(
        initial=list,
        add=lambda state, value: state if value is None else best([*state, value]),
        result=lambda state: state,
        merge=lambda one, other: best([*one, *other]),
    )


def _top_rows(count: int) -> Aggregation:
    size = _at_least_one(count)

    def best(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda row: order(row["sort_col"]), reverse=True)[:size]

    def add(state: list[dict[str, Any]], value: Any, *others: Any) -> list[dict[str, Any]]:
        if value is None:
            return state
        row = {"sort_col": value} | {f"col{at}": other for at, other in enumerate(others)}
        return best([*state, row])

    return Aggregation(
        initial=list,
        add=add,
        result=lambda state: state,
        merge=lambda one, other: best([*one, *other]),
    )


def _row_type(types: Sequence[Type]) -> Type:
    columns = [Field(f"col{at}", kind) for at, kind in enumerate(types[1:-1])]
    return Array(Struct((Field("sort_col", types[0]), *columns)))


def _aggregate(
    name: str, description: str, variants: tuple[Variant, ...], *examples: Example
) -> Function:
    return Function(name, _CATEGORY, description, variants, examples, Kind.AGGREGATE)


FUNCTIONS = (
    _aggregate(
        "ATTR",
        "The one value that a column has in a group; NULL if it has several.",
        (variant("value T", "T", _attr),),
        Example("ATTR('a', 'a')", "a"),
    ),
    _aggregate(
        "COLLECT_LIST",
        "All values as an array, NULLs too.",
        (variant("value T", "ARRAY<T>", lambda: collect_list(NO_LIMIT)),),
        Example("COLLECT_LIST(1, NULL, 1)", [1, None, 1]),
    ),
    _aggregate(
        "COLLECT_SET",
        "The values as an array, each once.",
        (variant("value T", "ARRAY<T>", lambda: collect_set(NO_LIMIT)),),
        Example("COLLECT_SET(1, 2, 1)", [1, 2]),
    ),
    _aggregate(
        "COUNT_DISTINCT",
        "The number of different values that are not NULL.",
        (variant("value T", "BIGINT", _count_distinct),),
        Example("COUNT_DISTINCT(1, 2, 1)", 2),
    ),
    _aggregate(
        "EARLIEST_BY_OFFSET",
        "The first value, or the first n, in the order of arrival; NULLs are passed over unless "
        "ignoreNulls is FALSE.",
        _offset_variants(_first),
        Example("EARLIEST_BY_OFFSET(1, 2, 3)", 1),
    ),
    _aggregate(
        "LATEST_BY_OFFSET",
        "The last value, or the last n, in the order of arrival; NULLs are passed over unless "
        "ignoreNulls is FALSE.",
        _offset_variants(_last),
        Example("LATEST_BY_OFFSET(1, 2, NULL)", 2),
    ),
    _aggregate(
        "HISTOGRAM",
        f"How often each text occurs, NULL aside; of the first {_MOST_BINS:,} different ones.",
        (variant("value STRING", "MAP<STRING, BIGINT>", _histogram),),
        Example("HISTOGRAM('a', 'b', NULL, 'a')", {"a": 2, "b": 1}),
    ),
    _aggregate(
        "TOPK",
        "The n greatest values, greatest first; with more columns, their rows as structs of "
        "sort_col, col0, col1 and so on.",
        (
            *(
                variant(f"value {kind}, n INT CONSTANT", f"ARRAY<{kind}>", _top)
                for kind in _ORDERED
            ),
            *(
                variant(
                    f"value {kind}, column ANY, more ANY..., n INT CONSTANT", _row_type, _top_rows
                )
                for kind in _ORDERED
            ),
        ),
    ),
    _aggregate(
        "TOPKDISTINCT",
        "The n greatest different values, greatest first.",
        tuple(
            variant(f"value {kind}, n INT CONSTANT", f"ARRAY<{kind}>", _top_distinct)
            for kind in _ORDERED
        ),
    ),
)
