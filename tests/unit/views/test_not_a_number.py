"""What is not a number has one place in an order, and is one group."""

import math
from collections.abc import Iterator
from typing import Any

import pytest

from orion.command import FormatRules
from orion.sql import Catalogue, Planner, Source, built_in_functions, parse_statements, tree
from orion.views import QuestionPlan, plan_pull
from orion.views.question import answer_question

FUNCTIONS = built_in_functions()
TABLE = """CREATE SOURCE TABLE t (id INT PRIMARY KEY, x DOUBLE, y INT)
  WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"""
ROWS = [(0, 3.0, 1), (1, math.nan, 2), (2, 1.0, 3), (3, float("nan"), 1), (4, None, 1), (5, 2.0, 1)]


def ask(text: str) -> list[Any]:
    (declared,) = parse_statements(TABLE)
    planner = Planner(FUNCTIONS, FormatRules(None), {})
    catalogue = planner.plan(declared, Catalogue(), number=0).apply(Catalogue())
    (statement,) = parse_statements(text)
    assert isinstance(statement, tree.SelectStatement)
    plan = plan_pull(statement.query, catalogue, FUNCTIONS, {})
    assert isinstance(plan, QuestionPlan)

    def rows(_source: Source, _where: object) -> Iterator[dict[str, Any]]:
        return (dict(zip(("ID", "X", "Y"), row, strict=True)) for row in ROWS)

    return [row[0] for row in answer_question(plan.plan, rows)]


@pytest.mark.parametrize(
    ("order", "ids"),
    [
        ("x, id", [2, 5, 0, 1, 3, 4]),
        ("x DESC, id", [1, 3, 0, 5, 2, 4]),
        ("x, y", [2, 5, 0, 3, 1, 4]),
        ("x NULLS FIRST, y DESC", [4, 2, 5, 0, 1, 3]),
    ],
)
def test_it_is_greater_than_all_numbers(order: str, ids: list[int]) -> None:
    assert ask(f"SELECT id FROM t ORDER BY {order};") == ids


def test_it_is_one_group() -> None:
    assert ask("SELECT COUNT(*) FROM t GROUP BY x;") == [1, 2, 1, 1, 1]
    assert ask("SELECT RANK() OVER (ORDER BY x) FROM t ORDER BY id;") == [3, 4, 1, 4, 6, 2]
