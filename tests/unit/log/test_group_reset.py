"""Reset plans stay inside the log, whatever is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orion.log.group_reset import Move, ResetTarget, UncommittedShiftError, plan_moves

KEY = ("orders", 0)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (ResetTarget("earliest"), Move(*KEY, 7, 5)),
        (ResetTarget("latest"), Move(*KEY, 7, 20)),
        (ResetTarget("offset", 9), Move(*KEY, 7, 9)),
        (ResetTarget("offset", 99), Move(*KEY, 7, 20, clamped=True)),
        (ResetTarget("offset", 1), Move(*KEY, 7, 5, clamped=True)),
        (ResetTarget("shift", 3), Move(*KEY, 7, 10)),
        (ResetTarget("shift", -10), Move(*KEY, 7, 5, clamped=True)),
        (ResetTarget("datetime", 1), Move(*KEY, 7, 12)),
    ],
)
def test_each_target_gives_its_offset(target: ResetTarget, expected: Move) -> None:
    assert plan_moves(target, {KEY: (5, 20)}, {KEY: 7}, {KEY: 12}) == [expected]


def test_an_instant_after_the_last_record_is_the_end() -> None:
    (move,) = plan_moves(ResetTarget("datetime", 1), {KEY: (5, 20)}, {KEY: 7}, {})
    assert (move.new, move.clamped) == (20, False)


def test_a_difference_needs_a_current_offset() -> None:
    (move,) = plan_moves(ResetTarget("earliest"), {KEY: (5, 20)}, {}, {})
    assert move.difference is None
    assert Move(*KEY, 7, 5).difference == -2


def test_a_shift_needs_a_current_offset() -> None:
    with pytest.raises(UncommittedShiftError, match="partition 0 of topic 'orders'"):
        plan_moves(ResetTarget("shift", 1), {KEY: (5, 20)}, {}, {})


@given(
    st.sampled_from(["earliest", "latest", "offset", "shift", "datetime"]),
    st.integers(-(10**6), 10**6),
    st.integers(0, 1000),
    st.integers(0, 1000),
)
def test_no_plan_leaves_the_log(kind: str, number: int, first: int, length: int) -> None:
    bounds = {KEY: (first, first + length)}
    target = ResetTarget(kind, number)  # type: ignore[arg-type]
    (move,) = plan_moves(target, bounds, {KEY: first}, {})
    assert first <= move.new <= first + length
