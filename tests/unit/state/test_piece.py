"""What goes to Spark at once is bounded by its size, whichever way it was made."""

from pathlib import Path
from typing import Any

import pytest

from orion.model import Field, Scalar
from orion.sql import built_in_functions, step, typed
from orion.state import (
    LEFT,
    RIGHT,
    SEQUENCE,
    GroupLayout,
    GroupOperator,
    IntervalOperator,
    JoinLayout,
    Operator,
)
from orion.state.store import StateStore
from orion.state.task import run_partition
from orion.state.value import write_rows

MOST_BYTES = 24 << 20
TEXTS = Field("L", Scalar.STRING), Field("R", Scalar.STRING)
LARGE = "x" * (1 << 20)


def facts(place: int) -> tuple[Any, ...]:
    return 5, [5, 7, 0, place], False, None, "t/0"


def joined_rows() -> tuple[Operator, list[tuple[Any, ...]]]:
    """Return one large event and a hundred small ones that it meets."""
    operator = IntervalOperator(
        JoinLayout(Scalar.STRING, TEXTS[:1], TEXTS[1:], False, False), 10, 10, None
    )
    large = (LEFT, "a", LARGE, None, *facts(0))
    return operator, [large, *((RIGHT, "a", None, "y", *facts(n)) for n in range(1, 101))]


def grouped_rows(function: str) -> tuple[Operator, list[tuple[Any, ...]]]:
    """Return a hundred rows of a group, each of which tells of all before it, or of a large one."""
    resolved = built_in_functions().resolve(function, [Scalar.STRING])
    call = step.AggregateCall("C", resolved, (typed.Input(Scalar.STRING, "L"),))
    operator = GroupOperator(GroupLayout((Field("K", Scalar.STRING),), (call,)))
    return operator, [("a", LARGE, 1, *facts(n)) for n in range(100)]


@pytest.mark.parametrize(
    ("operator", "rows"),
    [
        pytest.param(*joined_rows(), id="columns, one event repeated"),
        pytest.param(*grouped_rows("MAX"), id="columns"),
        pytest.param(*grouped_rows("HISTOGRAM"), id="rows"),
    ],
)
def test_large_rows_go_out_few_at_a_time(
    operator: Operator, rows: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    order = [field.name for field in operator.inputs].index(SEQUENCE)
    state = StateStore(tmp_path / "0.db", 0)
    made = run_partition(operator, [write_rows(rows, operator.inputs)], order, state)
    sizes = [(batch.num_rows, batch.nbytes) for batch in made]
    state.commit()
    assert sum(count for count, _ in sizes) == 100
    assert max(size for _, size in sizes) < MOST_BYTES
