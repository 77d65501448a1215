"""Aggregates: what is added can be merged, and where there is an undo, taken out again."""

import math
import random
from decimal import Decimal as Number
from typing import Any

import pytest

from orion.model import Array, Decimal, InvalidInputError, Scalar, Type
from orion.sql.function import Aggregation, built_in_functions, limit_functions

FUNCTIONS = built_in_functions()
UNDOABLE = {
    *("ATTR", "AVG", "COLLECT_LIST", "CORRELATION", "COUNT", "HISTOGRAM"),
    *("STDDEV_SAMP", "STDDEV_SAMPLE", "SUM", "SUM_LIST"),
}


def steps(name: str, *types: Type, constants: tuple[Any, ...] = ()) -> Aggregation:
    return FUNCTIONS.resolve(name, list(types)).aggregation(*constants)


def over(made: Aggregation, rows: list[tuple[Any, ...]]) -> Any:
    state = made.initial()
    for row in rows:
        state = made.add(state, *row)
    return made.result(state)


def one(values: list[Any]) -> list[tuple[Any, ...]]:
    return [(value,) for value in values]


def test_sums_wrap_around_as_their_types_do() -> None:
    assert over(steps("SUM", Scalar.INTEGER), one([2**31 - 1, 1])) == -(2**31)
    assert over(steps("SUM", Scalar.BIGINT), one([2**63 - 1, 1])) == -(2**63)
    assert over(steps("SUM", Decimal(4, 2)), one([Number("1.50"), None, Number("2.25")])) == Number(
        "3.75"
    )
    assert over(steps("SUM", Scalar.DOUBLE), []) == 0.0


def test_groups_without_values_have_their_own_results() -> None:
    assert over(steps("AVG", Scalar.INTEGER), one([None])) == 0.0
    assert over(steps("MAX", Scalar.STRING), one([None])) is None
    assert over(steps("STDDEV_SAMPLE", Scalar.INTEGER), one([5])) == 0.0
    assert math.isnan(over(steps("CORRELATION", Scalar.DOUBLE, Scalar.DOUBLE), []))
    assert over(steps("LATEST_BY_OFFSET", Scalar.STRING), []) is None
    assert over(steps("ATTR", Scalar.STRING), one(["a", "b"])) is None


def test_correlation_is_that_of_pearson() -> None:
    rows = [(1.0, 2.0), (2.0, 4.0), (None, 1.0), (3.0, 6.0)]
    made = steps("CORRELATION", Scalar.DOUBLE, Scalar.DOUBLE)
    assert over(made, list(rows)) == pytest.approx(1.0)


def test_first_and_last_count_or_pass_over_nulls() -> None:
    values = one([None, 1, 2, None, 3, None])
    kinds = (Scalar.INTEGER, Scalar.BOOLEAN)
    assert over(steps("EARLIEST_BY_OFFSET", *kinds, constants=(False,)), values) is None
    assert over(steps("EARLIEST_BY_OFFSET", *kinds, constants=(True,)), values) == 1
    assert over(steps("LATEST_BY_OFFSET", *kinds, constants=(False,)), values) is None
    counted = (Scalar.INTEGER, Scalar.INTEGER)
    assert over(steps("LATEST_BY_OFFSET", *counted, constants=(2,)), values) == [2, 3]
    assert over(steps("EARLIEST_BY_OFFSET", *counted, constants=(2,)), values) == [1, 2]
    both = (*counted, Scalar.BOOLEAN)
    assert over(steps("LATEST_BY_OFFSET", *both, constants=(2, False)), values) == [3, None]


def test_the_greatest_few_are_kept_in_order() -> None:
    kinds = (Scalar.INTEGER, Scalar.INTEGER)
    values = one([3, 1, None, 5, 5, 2])
    assert over(steps("TOPK", *kinds, constants=(3,)), values) == [5, 5, 3]
    assert over(steps("TOPKDISTINCT", *kinds, constants=(3,)), values) == [5, 3, 2]
    made = steps("TOPK", Scalar.INTEGER, Scalar.STRING, Scalar.INTEGER, constants=(2,))
    assert over(made, [(1, "a"), (3, "b"), (2, "c")]) == [
        {"sort_col": 3, "col0": "b"},
        {"sort_col": 2, "col0": "c"},
    ]


@pytest.mark.parametrize("name", sorted(UNDOABLE - {"CORRELATION", "SUM_LIST"}))
def test_what_is_taken_out_was_never_there(name: str) -> None:
    kind = Scalar.STRING if name == "HISTOGRAM" else Scalar.INTEGER
    made = steps(name, kind)
    values: list[Any] = ["a", "b", "a"] if kind is Scalar.STRING else [4, 4, 7]
    extra: Any = "b" if kind is Scalar.STRING else 9
    state = made.initial()
    for value in values:
        state = made.add(state, value)
    assert made.undo is not None
    with_extra = made.undo(made.add(state, extra), extra)
    assert made.result(with_extra) == pytest.approx(made.result(state))


def test_the_last_of_equal_values_is_taken_out_of_a_list() -> None:
    made = steps("COLLECT_LIST", Scalar.INTEGER)
    assert made.undo is not None
    assert made.undo([1, 2, 1, 3], 1) == [1, 2, 3]
    assert made.undo([1, 2], 4) == [1, 2]


def test_only_some_can_be_undone() -> None:
    found = set()
    for function in FUNCTIONS:
        if function.kind.name != "AGGREGATE":
            continue
        arguments = {"TOPK": (1,), "TOPKDISTINCT": (1,)}.get(function.name, ())
        made = steps_of(function.name, arguments)
        if made.undo is not None:
            found.add(function.name)
    assert found == UNDOABLE


def steps_of(name: str, constants: tuple[Any, ...]) -> Aggregation:
    kinds: dict[str, list[Type]] = {
        "CORRELATION": [Scalar.DOUBLE, Scalar.DOUBLE],
        "HISTOGRAM": [Scalar.STRING],
        "SUM_LIST": [Array(Scalar.INTEGER)],
        "TOPK": [Scalar.INTEGER, Scalar.INTEGER],
        "TOPKDISTINCT": [Scalar.INTEGER, Scalar.INTEGER],
    }
    found = FUNCTIONS.resolve(name, kinds.get(name, [Scalar.INTEGER]))
    return found.aggregation(*constants)


@pytest.mark.parametrize(
    "name", ["AVG", "COUNT", "MAX", "MIN", "SUM", "STDDEV_SAMP", "COLLECT_LIST", "COUNT_DISTINCT"]
)
def test_two_halves_make_the_whole(name: str) -> None:
    values = one(random.Random(3).choices([1, 2, 3, 5, 8, None], k=40))
    made = steps_of(name, ())
    left, right = made.initial(), made.initial()
    for row in values[:20]:
        left = made.add(left, *row)
    for row in values[20:]:
        right = made.add(right, *row)
    assert made.result(made.merge(left, right)) == pytest.approx(over(made, values))


def test_properties_limit_what_is_collected() -> None:
    properties = {"ksql.functions.collect_list.limit": "2", "ksql.functions.collect_set.limit": "1"}
    limited = limit_functions(FUNCTIONS, properties)
    values = one([1, 1, 2])
    listed = limited.resolve("COLLECT_LIST", [Scalar.INTEGER]).aggregation()
    assert over(listed, values) == [1, 1]
    assert over(limited.resolve("COLLECT_SET", [Scalar.INTEGER]).aggregation(), values) == [1]
    assert listed.merge([1], [2, 3]) == [1, 2]
    assert limit_functions(FUNCTIONS, {}) is FUNCTIONS
    with pytest.raises(InvalidInputError, match=r"collect_set\.limit"):
        limit_functions(FUNCTIONS, {"ksql.functions.collect_set.limit": "few"})
