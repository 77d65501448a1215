"""The keys that a condition names: all that can fulfil it, found without looking at every way."""

from typing import Any

import pytest

from orion.command import FormatRules
from orion.sql import (
    Catalogue,
    Planner,
    StatementError,
    built_in_functions,
    parse_statements,
    tree,
)
from orion.views import plan_rows

FUNCTIONS = built_in_functions()
TABLES = """
CREATE SOURCE TABLE one (a INT PRIMARY KEY, n INT) WITH (KAFKA_TOPIC='one', VALUE_FORMAT='JSON');
CREATE SOURCE TABLE words (w STRING PRIMARY KEY, t STRING)
  WITH (KAFKA_TOPIC='words', VALUE_FORMAT='JSON');
CREATE SOURCE TABLE two (a INT PRIMARY KEY, b INT PRIMARY KEY, n INT)
  WITH (KAFKA_TOPIC='two', KEY_FORMAT='JSON', VALUE_FORMAT='JSON');
"""


def declare(text: str) -> Catalogue:
    catalogue = Catalogue()
    planner = Planner(FUNCTIONS, FormatRules(None), {})
    for number, statement in enumerate(parse_statements(text)):
        catalogue = planner.plan(statement, catalogue, number=number).apply(catalogue)
    return catalogue


CATALOGUE = declare(TABLES)


NO_SCANS = {"ksql.query.pull.table.scan.enabled": "false"}


def keys(
    table: str, where: str, properties: dict[str, str] | None = None
) -> tuple[tuple[Any, ...], ...] | None:
    (statement,) = parse_statements(f"SELECT * FROM {table} WHERE {where};")
    assert isinstance(statement, tree.SelectStatement)
    return plan_rows(statement.query, CATALOGUE, FUNCTIONS, properties or {}).keys


@pytest.mark.parametrize(
    ("table", "where", "found"),
    [
        ("one", "a = 1", ((1,),)),
        ("one", "2 = a OR a IN (1, 2)", ((2,), (1,))),
        ("one", "a = 1 AND n = 5", ((1,),)),
        ("one", "a = 1 OR n = 5", None),
        ("one", "(a = 1 OR n = 5) AND a = 2", ((2,),)),
        ("one", "NOT a = 1", None),
        ("one", "a > 1", None),
        ("two", "a = 1", None),
        ("two", "a IN (1, 2) AND b = 3", ((1, 3), (2, 3))),
        ("two", "a = 1 AND b = 2 OR b = 4 AND a = 3", ((1, 2), (3, 4))),
        ("two", "a = 1 AND b = 2 OR a = 3", None),
    ],
)
def test_keys_are_found(table: str, where: str, found: tuple[tuple[int, ...], ...] | None) -> None:
    assert keys(table, where) == found


def test_conditions_that_name_no_key_do_not_multiply() -> None:
    either = " AND ".join(f"(n = {n} OR n = -{n})" for n in range(1, 60))
    assert keys("one", f"a = 1 AND {either}") == ((1,),)


def test_too_many_keys_are_not_told_apart() -> None:
    many = ", ".join(str(n) for n in range(400))
    assert keys("two", f"a IN ({many}) AND b IN ({many})") is None
    assert len(keys("two", f"a IN ({many}) AND b IN (1, 2)") or ()) == 800


@pytest.mark.parametrize("where", ["w < 'm'", "'m' >= w", "w < 'm' AND t = 'x' AND t > 'a'"])
def test_one_bound_on_a_text_needs_no_scan_of_all(where: str) -> None:
    assert keys("words", where, NO_SCANS) is None


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ("words", "t < 'm'"),
        ("words", "w < 'm' OR t = 'x'"),
        ("words", "w > 'a' AND w < 'm'"),
        ("words", "w < 'm' AND LEN(w) > 3"),
        ("words", "w < t"),
        ("one", "a > 1"),
        ("two", "a > 1 AND b = 2"),
    ],
)
def test_other_conditions_look_at_every_row(table: str, where: str) -> None:
    assert keys(table, where) is None
    with pytest.raises(StatementError, match="every row, which is switched off"):
        keys(table, where, NO_SCANS)


def test_a_range_may_be_switched_off_too() -> None:
    off = {**NO_SCANS, "ksql.query.pull.range.scan.enabled": "false"}
    with pytest.raises(StatementError, match="every row, which is switched off"):
        keys("words", "w < 'm'", off)
