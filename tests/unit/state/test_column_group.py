"""Groups over whole columns give what groups row by row give, and leave the same state."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from orion.model import Array, Field, Scalar, Type
from orion.sql import built_in_functions, step, typed
from orion.state import GroupLayout, GroupOperator
from orion.state.column_group import sorted_table
from orion.state.store import StateStore
from orion.state.task import read_rows, write_rows

FUNCTIONS = built_in_functions()


def call(name: str, function: str, kind: Type) -> step.AggregateCall:
    resolved = FUNCTIONS.resolve(function, [kind])
    return step.AggregateCall(name, resolved, (typed.Input(kind, "N"),))


def layout(keys: int) -> GroupLayout:
    fields = (Field("A", Scalar.STRING), Field("B", Scalar.INTEGER))[:keys]
    calls = (
        call("C", "COUNT", Scalar.STRING),
        call("I", "SUM", Scalar.INTEGER),
        call("L", "SUM", Scalar.BIGINT),
        call("V", "AVG", Scalar.BIGINT),
    )
    return GroupLayout(fields, calls)


def random_rows(rng: random.Random, keys: int, count: int) -> list[tuple[Any, ...]]:
    def number(limit: int) -> int | None:
        return None if rng.random() < 0.1 else rng.randint(-limit, limit)

    return [
        (
            *(f"k{rng.randrange(5)}", rng.randrange(3))[:keys],
            rng.choice(["x", None]),
            number(2**31 - 1),
            number(2**62),
            number(1000),
            1,
            rng.randrange(10**12),
            [rng.randrange(4), place],
            False,
            None,
            "t/0",
        )
        for place in range(count)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_columns_and_rows_agree(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    keys = rng.choice([1, 2])
    operator = GroupOperator(layout(keys))
    order = [field.name for field in operator.inputs].index("$seq")
    for batch in range(3):
        rows = random_rows(rng, keys, rng.randint(1, 40))
        table = sorted_table(pa.Table.from_batches([write_rows(rows, operator.inputs)]), order)
        assert table is not None
        by_column = StateStore(tmp_path / "columns.db", batch)
        found = operator.run_table(table, by_column)
        assert found is not None
        by_row = StateStore(tmp_path / "rows.db", batch)
        rows.sort(key=lambda row: row[order])
        wanted = list(operator.run(rows, by_row))
        assert read_rows(found.to_batches(), operator.outputs) == wanted
        assert dict(by_column.changes()) == {
            key: (list(states), latest) for key, (states, latest) in by_row.changes().items()
        }
        by_column.commit()
        by_row.commit()


def test_other_aggregates_are_left_to_rows(tmp_path: Path) -> None:
    calls = (call("S", "SUM", Scalar.DOUBLE),)
    operator = GroupOperator(GroupLayout((Field("A", Scalar.STRING),), calls))
    rows = [("a", 0.1, 1, 5, [0], False, None, "t/0")]
    table = pa.Table.from_batches([write_rows(rows, operator.inputs)])
    assert operator.run_table(table, StateStore(tmp_path / "s.db", 0)) is None


def test_keys_that_are_no_plain_values_are_left_to_rows(tmp_path: Path) -> None:
    key = Field("A", Array(Scalar.STRING))
    operator = GroupOperator(GroupLayout((key,), (call("C", "COUNT", Scalar.STRING),)))
    rows = [(["a"], "x", 1, 5, [0], False, None, "t/0")]
    table = pa.Table.from_batches([write_rows(rows, operator.inputs)])
    assert operator.run_table(table, StateStore(tmp_path / "s.db", 0)) is None
