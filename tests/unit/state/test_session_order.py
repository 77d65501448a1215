"""Sessions that become one: which is taken back first, and what their aggregates see first."""

from pathlib import Path
from typing import Any

from orion.model import Field, Scalar
from orion.sql import built_in_functions, step, typed
from orion.state import GroupLayout, SessionOperator, SessionWindows
from orion.state.store import StateStore
from orion.state.task import run_partition
from orion.state.value import read_rows, write_rows

Row = tuple[Any, ...]


def call(name: str) -> step.AggregateCall:
    function = built_in_functions().resolve(name, [Scalar.BIGINT])
    return step.AggregateCall(name, function, (typed.Input(Scalar.BIGINT, "N"),))


def sessions(*names: str) -> SessionOperator:
    layout = GroupLayout((Field("ID", Scalar.STRING),), tuple(call(name) for name in names))
    return SessionOperator(layout, SessionWindows(30, 1_000))


def run(operator: SessionOperator, times: list[int], path: Path) -> list[list[Row]]:
    """Return what each event, a batch of its own, changes; its number is its value."""
    width, found = len(operator.layout.calls), []
    for number, time in enumerate(times):
        row = ("k", *[number] * width, 1, time, [number], False, None, "t/0")
        state = StateStore(path, number)
        made = run_partition(operator, [write_rows([row], operator.inputs)], width + 3, state)
        found.append(read_rows(list(made), operator.outputs))
        state.commit()
    return found


def test_the_earlier_session_is_taken_back_first_whichever_came_first(tmp_path: Path) -> None:
    changes = run(sessions("COLLECT_LIST"), [100, 50, 75], tmp_path / "s.db")[-1]
    # Bounds, whether it is gone, what it holds.
    told = [(row[4:6], row[8], row[1]) for row in changes]
    assert told == [
        ((50, 50), True, [1]),
        ((100, 100), True, [0]),
        ((50, 100), False, [1, 0, 2]),
    ]


def test_what_came_first_is_first_whatever_changed_since(tmp_path: Path) -> None:
    # The first session grows after the second has begun, then both become one.
    operator = sessions("EARLIEST_BY_OFFSET", "LATEST_BY_OFFSET")
    (*_, last) = run(operator, [0, 60, 10, 35], tmp_path / "s.db")
    assert last[-1][1:3] == (0, 3)
    plain = sessions("EARLIEST_BY_OFFSET", "COLLECT_LIST")
    (*_, last) = run(plain, [0, 60, 10, 35], tmp_path / "plain.db")
    assert last[-1][1:3] == (0, [0, 2, 1, 3])
