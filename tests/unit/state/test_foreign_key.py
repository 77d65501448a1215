"""Joins by a foreign key tell what changes, and nothing of rows that were never there."""

from pathlib import Path
from typing import Any

import pytest

from orion.model import Field, Scalar
from orion.state import LEFT, RIGHT, FollowOperator, ForeignKeyOperator, JoinLayout
from orion.state.store import StateStore, store_key

Row = tuple[Any, ...]
# Of an output: the left row's own key, both columns, its time; None: it is gone.
Told = tuple[str, tuple[int | None, int | None] | None, int]


class Join:
    """A join whose changes come one by one, each a batch."""

    def __init__(self, folder: Path, *, left: bool) -> None:
        columns = (Field("L", Scalar.BIGINT),), (Field("R", Scalar.BIGINT),)
        layout = JoinLayout(Scalar.STRING, *columns, keeps_left=left, keeps_right=False)
        self._follow = FollowOperator(Scalar.STRING, Scalar.STRING, layout.left)
        self._join = ForeignKeyOperator(layout, Scalar.STRING)
        self._paths = folder / "follow.db", folder / "join.db"
        self.batch = 0

    def left(self, own: str, key: str | None, number: int | None, time: int) -> list[Told]:
        """Take a change of a left row; without a number it is gone."""
        facts = (time, [self.batch], number is None, None, "l/0")
        told = self._run(self._follow, [(own, key, number, *facts)], self._paths[0])
        return self._told([(LEFT, *row[:4], None, *row[4:]) for row in told])

    def right(self, key: str, number: int | None, time: int) -> list[Told]:
        """Take a change of a right row; without a number it is gone."""
        facts = (time, [self.batch], number is None, None, "r/0")
        self._run(self._follow, [], self._paths[0])
        return self._told([(RIGHT, key, None, False, None, number, *facts)])

    def _told(self, rows: list[Row]) -> list[Told]:
        found = self._run(self._join, rows, self._paths[1])
        self.batch += 1
        return [(row[0], None if row[5] else row[1:3], row[3]) for row in found]

    def _run(self, operator: Any, rows: list[Row], path: Path) -> list[Row]:
        state = StateStore(path, self.batch)
        found = list(operator.run(rows, state))
        state.commit()
        return found


@pytest.fixture
def inner(tmp_path: Path) -> Join:
    return Join(tmp_path, left=False)


@pytest.fixture
def outer(tmp_path: Path) -> Join:
    return Join(tmp_path, left=True)


def test_a_row_that_meets_nobody_is_not_told(inner: Join) -> None:
    assert inner.left("a", "x", 1, 10) == []
    assert inner.left("a", "x", 2, 11) == []
    assert inner.left("b", None, 3, 12) == []
    assert inner.left("b", None, None, 13) == []
    assert inner.left("c", "x", None, 14) == []
    assert inner.right("x", 7, 15) == [("a", (2, 7), 15)]


def test_a_row_that_loses_its_partner_is_taken_back_once(inner: Join) -> None:
    inner.right("x", 7, 1)
    assert inner.left("a", "x", 1, 2) == [("a", (1, 7), 2)]
    assert inner.left("a", "y", 1, 3) == [("a", None, 3)]
    assert inner.left("a", "x", 1, 4) == [("a", (1, 7), 4)]
    assert inner.left("a", None, 1, 5) == [("a", None, 5)]
    assert inner.left("a", "x", 1, 6) == [("a", (1, 7), 6)]
    assert inner.right("x", None, 7) == [("a", None, 7)]
    assert inner.left("a", "x", None, 8) == [("a", None, 8)]


def test_a_row_that_stays_is_told_once_whatever_it_names(outer: Join) -> None:
    outer.right("x", 7, 1)
    assert outer.left("a", None, 1, 2) == [("a", (1, None), 2)]
    assert outer.left("a", "x", 1, 3) == [("a", (1, 7), 3)]
    assert outer.left("a", None, 2, 4) == [("a", (2, None), 4)]
    assert outer.left("a", None, None, 5) == [("a", None, 5)]
    assert outer.left("a", None, None, 6) == []


def test_a_result_has_the_later_time_of_its_rows(inner: Join) -> None:
    inner.right("x", 7, 100)
    assert inner.left("a", "x", 1, 50) == [("a", (1, 7), 100)]
    assert inner.right("x", 8, 60) == [("a", (1, 8), 60)]
    assert inner.left("a", "x", 2, 55) == [("a", (2, 8), 60)]


def test_state_of_earlier_versions_tells_no_time(inner: Join, tmp_path: Path) -> None:
    state = StateStore(tmp_path / "join.db", 0)
    state.put(store_key(("x", "right")), ((7,), 0, 1))
    state.commit()
    inner.batch = 1
    assert inner.left("a", "x", 1, 5) == [("a", (1, 7), 5)]
