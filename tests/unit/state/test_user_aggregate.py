"""Aggregates of users, which may give their state as it is and change it with the next row."""

from types import ModuleType

from orion.model import Field, Scalar
from orion.sql import step, typed
from orion.sql.function import Functions
from orion.sql.function.user import udaf, user_functions
from orion.state import GroupLayout, GroupOperator, TimeWindows, WindowOperator
from orion.state.store import StateStore


@udaf(parameters="value BIGINT", returns="ARRAY<BIGINT>")
class Gathered:
    """All values."""

    def initial(self) -> list[int]:
        return []

    def add(self, state: list[int], value: int) -> list[int]:
        state.append(value)
        return state

    def result(self, state: list[int]) -> list[int]:
        return state

    def merge(self, one: list[int], other: list[int]) -> list[int]:
        return [*one, *other]


def test_each_row_shows_what_was_there_when_it_came() -> None:
    module = ModuleType("own")
    module.__dict__["Gathered"] = Gathered
    called = Functions(user_functions(module)).resolve("GATHERED", [Scalar.BIGINT])
    call = step.AggregateCall("G", called, (typed.Input(Scalar.BIGINT, "N"),))
    layout = GroupLayout((Field("ID", Scalar.STRING),), (call,))
    rows = [("k", n, 1, n, [n], False, None, "t/0") for n in range(3)]
    for operator in (GroupOperator(layout), WindowOperator(layout, TimeWindows(10, 10))):
        found = list(operator.run(rows, StateStore(None, 0)))
        assert [row[1] for row in found] == [[0], [0, 1], [0, 1, 2]]
        assert [row[2] for row in found] == [[], [0], [0, 1]]
