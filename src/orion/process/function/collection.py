"""Arrays, maps, lambdas and NULLs. Maps inside of what is compared are left to Python."""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Array, Decimal, Scalar
from orion.process.format import spark_type
from orion.process.function.call import Call, Native, holds_map

_LONGEST_SERIES = 10_000_000
_JOINED = (Scalar.BOOLEAN, Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE, Scalar.STRING)


def _comparing(function: Callable[..., Column]) -> Native:
    """Return a native form that compares elements, and so must not meet maps."""
    return lambda call: None if call.has_maps() else function(*call.arguments)


def _concat(call: Call) -> Column:
    kind = spark_type(call.returns)
    left, right = call.arguments
    parts = (F.coalesce(part, F.array().cast(kind)) for part in (left, right))
    return F.when(left.isNotNull() | right.isNotNull(), F.concat(*parts))


def _contains(array: Column, value: Column) -> Column:
    found = F.exists(array, lambda element: element.eqNullSafe(value))
    return F.coalesce(found, F.lit(False))


def _remove(array: Column, value: Column) -> Column:
    return F.filter(array, lambda element: ~element.eqNullSafe(value))


def _join(call: Call) -> Column | None:
    kind = call.types[0]
    if not isinstance(kind, Array) or kind.element not in _JOINED:
        return None
    delimiter = F.coalesce(call[1], F.lit("")) if call.count > 1 else F.lit(",")
    texts = call[0].cast("array<string>")
    return F.call_function("array_join", texts, delimiter, F.lit("null"))


def _sort(call: Call) -> Column | None:
    if call.has_maps():
        return None
    array = call[0]
    if call.count == 1:
        return F.array_sort(array)
    direction = F.upper(call[1])
    return F.when(direction.isin("ASC", "ASCENDING"), F.array_sort(array)).when(
        direction.isin("DESC", "DESCENDING"), F.sort_array(array, asc=False)
    )


def _series(call: Call) -> Column:
    start, end = call[0], call[1]
    onward = F.when(end > start, F.lit(1)).otherwise(F.lit(-1))
    step = onward if call.count == 2 else call[2]
    # Twenty digits hold the distance of any two numbers of 64 bits.
    distance = end.cast("decimal(20,0)") - start.cast("decimal(20,0)")
    # Spark stops at a series that cannot be: it must not be asked for one.
    possible = (
        (step != 0)
        & (distance * F.signum(step) >= 0)
        & (F.abs(distance) <= F.abs(step.cast("bigint")) * _LONGEST_SERIES)
    )
    assert isinstance(call.returns, Array)
    return F.when(possible, F.sequence(start, end, step.cast(spark_type(call.returns.element))))


def _slice(call: Call) -> Column:
    array = call[0]
    size = F.array_size(array)
    first, last = F.coalesce(call[1], F.lit(1)), F.coalesce(call[2], size)
    inside = (first >= 1) & (last >= first - 1) & (last <= size)
    return F.when(inside, F.slice(array, first, last - first + 1))


# -- maps


def _entries(call: Call) -> Column | None:
    if holds_map(call.returns):
        return None
    structs = F.transform(
        F.map_entries(call[0]),
        lambda entry: F.struct(entry["key"].alias("K"), entry["value"].alias("V")),
    )
    return F.when(call[1], F.array_sort(structs)).otherwise(F.when(call[1].isNotNull(), structs))


def _union(call: Call) -> Column:
    left, right = call.arguments
    return (
        F.when(left.isNull(), right).when(right.isNull(), left).otherwise(F.map_concat(left, right))
    )


# -- lambdas


def _transform(call: Call) -> Column:
    change = call[1]
    if call.count == 2:
        return F.transform(call[0], lambda element: change(element))
    key, value = call[1], call[2]
    entries = F.map_entries(call[0])
    keys = F.transform(entries, lambda entry: key(entry["key"], entry["value"]))
    values = F.transform(entries, lambda entry: value(entry["key"], entry["value"]))
    whole = (
        (F.array_size(F.array_distinct(keys)) == F.array_size(keys))
        & ~F.exists(keys, lambda element: element.isNull())
        & ~F.exists(values, lambda element: element.isNull())
    )
    return F.when(whole, F.map_from_arrays(keys, values))


def _filter(call: Call) -> Column:
    keep = call[1]
    if isinstance(call.types[0], Array):
        undecided = F.exists(call[0], lambda element: keep(element).isNull())
        kept = F.filter(call[0], lambda element: keep(element))
    else:
        entries = F.map_entries(call[0])
        undecided = F.exists(entries, lambda entry: keep(entry["key"], entry["value"]).isNull())
        kept = F.map_filter(call[0], lambda key, value: keep(key, value))
        # The meaning fails where it keeps a NULL.
        undecided = undecided | F.exists(F.map_values(kept), lambda value: value.isNull())
    return F.when(~undecided, kept)


def _reduce(call: Call) -> Column | None:
    if not isinstance(call.types[0], Array):
        # Maps are gone through in an order that Spark does not know.
        return None
    kind = spark_type(call.returns)
    state, step = call[1].cast(kind), call[2]
    reduced = F.aggregate(call[0], state, lambda so_far, element: step(so_far, element).cast(kind))
    return F.when(state.isNull() | call[0].isNull(), state).otherwise(reduced)


# -- NULLs


def _coalesce(call: Call) -> Column:
    kind = call.returns
    if isinstance(kind, Decimal):
        return F.coalesce(*(part.cast(spark_type(kind)) for part in call.arguments))
    return F.coalesce(*call.arguments)


def _itself(call: Call) -> Column:
    column: Column = call[0]
    return column


NATIVE: dict[str, Native] = {
    "ARRAY_CONCAT": _concat,
    "ARRAY_CONTAINS": _comparing(_contains),
    "ARRAY_DISTINCT": _comparing(F.array_distinct),
    "ARRAY_EXCEPT": _comparing(F.array_except),
    "ARRAY_INTERSECT": _comparing(F.array_intersect),
    "ARRAY_UNION": _comparing(F.array_union),
    "ARRAY_JOIN": _join,
    "ARRAY_LENGTH": lambda call: F.array_size(call[0]),
    "ARRAY_MAX": _comparing(F.array_max),
    "ARRAY_MIN": _comparing(F.array_min),
    "ARRAY_REMOVE": _comparing(_remove),
    "ARRAY_SORT": _sort,
    "GENERATE_SERIES": _series,
    "SLICE": _slice,
    "ENTRIES": _entries,
    "MAP_KEYS": lambda call: F.map_keys(call[0]),
    "MAP_VALUES": lambda call: F.map_values(call[0]),
    "MAP_UNION": _union,
    "TRANSFORM": _transform,
    "FILTER": _filter,
    "REDUCE": _reduce,
    "COALESCE": _coalesce,
    "IFNULL": _coalesce,
    "NULLIF": _comparing(F.nullif),
    "AS_VALUE": _itself,
}
