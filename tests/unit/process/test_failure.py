"""Failures of expressions as an observation tells them."""

from orion.model import FailedExpression
from orion.process.failure import read_failures


def test_only_what_failed_is_told_with_a_row_for_example() -> None:
    example = {"name": "A cast", "reason": "the text is no INTEGER", "row": '{"T":"x"}'}
    # A null example is no part of what Spark gives.
    observed = {"c0": 0, "c2": 0, "c4": 3, "c5": example}
    assert read_failures(observed) == [
        FailedExpression("A cast", "the text is no INTEGER, in 3 row(s)", '{"T":"x"}')
    ]
    assert read_failures({"c0": 0}) == []
