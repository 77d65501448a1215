"""Plans are found again by the shape of a question, and never where another would be right."""

import pytest

from orion.command import FormatRules
from orion.sql import Catalogue, Planner, built_in_functions, parse_statements, tree
from orion.views import PlanCache, PullPlan, plan_rows

FUNCTIONS = built_in_functions()
TABLES = """
CREATE SOURCE TABLE users (id STRING PRIMARY KEY, n BIGINT, name STRING)
  WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON');
CREATE SOURCE TABLE counts (id BIGINT PRIMARY KEY, n BIGINT)
  WITH (KAFKA_TOPIC='counts', VALUE_FORMAT='JSON');
CREATE SOURCE TABLE lists (id ARRAY<INT> PRIMARY KEY, n BIGINT)
  WITH (KAFKA_TOPIC='lists', KEY_FORMAT='JSON', VALUE_FORMAT='JSON');
"""


def declare(text: str) -> Catalogue:
    catalogue = Catalogue()
    planner = Planner(FUNCTIONS, FormatRules(None), {})
    for number, statement in enumerate(parse_statements(text)):
        catalogue = planner.plan(statement, catalogue, number=number).apply(catalogue)
    return catalogue


CATALOGUE = declare(TABLES)


def plan(text: str) -> PullPlan:
    (statement,) = parse_statements(text)
    assert isinstance(statement, tree.SelectStatement)
    return plan_rows(statement.query, CATALOGUE, FUNCTIONS, {})


def kept(text: str) -> PlanCache:
    cache = PlanCache()
    cache.keep(text, {}, CATALOGUE, plan(text))
    return cache


@pytest.mark.parametrize(
    ("first", "second", "keys"),
    [
        (
            "SELECT * FROM users WHERE id = 'a';",
            "SELECT * FROM users WHERE id = 'it''s';",
            (("it's",),),
        ),
        ("SELECT n FROM users WHERE 'a' = id", "SELECT n FROM users WHERE '' = id", (("",),)),
        ("SELECT n FROM counts WHERE id = 7;", "SELECT n FROM counts WHERE id = 123;", ((123,),)),
    ],
)
def test_another_key_needs_no_plan(
    first: str, second: str, keys: tuple[tuple[object, ...], ...]
) -> None:
    found = kept(first).find(second, {}, CATALOGUE)
    assert found is not None
    assert found[1] == keys == plan(second).keys


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT * FROM users WHERE id = 'a';", "SELECT n FROM users WHERE id = 'a';"),
        (
            "SELECT * FROM users WHERE id = UCASE('A');",
            "SELECT * FROM users WHERE id = UCASE('b');",
        ),
        ("SELECT * FROM users WHERE name = 'a';", "SELECT * FROM users WHERE name = 'b';"),
        ("SELECT 'a' FROM users;", "SELECT 'b' FROM users;"),
        (
            "SELECT * FROM users WHERE id = 'a' LIMIT 1;",
            "SELECT * FROM users WHERE id = 'a' LIMIT 2;",
        ),
        ("SELECT n FROM counts WHERE id = 7;", "SELECT n FROM counts WHERE id = 7.5;"),
        ("SELECT n FROM counts WHERE id = 7;", "SELECT n FROM counts WHERE id = 12345678901;"),
        ("SELECT n FROM counts WHERE id = 7;", "SELECT n FROM counts WHERE id = '7';"),
        ("SELECT * FROM users WHERE id = 'a';", "SELECT * FROM users WHERE id = 'b' -- 'c'"),
        ("SELECT * FROM users WHERE id = 'a';", "SELECT * FROM users WHERE id = '${b}';"),
    ],
)
def test_another_question_is_planned_anew(first: str, second: str) -> None:
    assert kept(first).find(second, {}, CATALOGUE) is None


def test_the_same_text_is_found_whatever_it_asks() -> None:
    text = "SELECT name FROM users WHERE n > 3 AND name LIKE 'a%';"
    found = kept(text).find(text, {}, CATALOGUE)
    assert found is not None
    assert found[1] is None


def test_properties_and_catalogue_are_part_of_the_question() -> None:
    text = "SELECT * FROM users WHERE id = 'a';"
    cache = kept(text)
    assert cache.find(text, {"ksql.query.pull.table.scan.enabled": "false"}, CATALOGUE) is None
    assert cache.find(text, {}, declare(TABLES)) is None


def test_a_key_may_be_a_list() -> None:
    found = plan("SELECT * FROM lists WHERE id = ARRAY[1, 2] OR id = ARRAY[1, 2];")
    assert found.keys == (([1, 2],),)


def test_keys_that_depend_on_the_moment_are_computed_each_time() -> None:
    text = "SELECT * FROM counts WHERE id = UNIX_TIMESTAMP();"
    assert kept(text).find(text, {}, CATALOGUE) is None
    text = "SELECT * FROM counts WHERE id IN (1, 2);"
    found = kept(text).find(text, {}, CATALOGUE)
    assert found is not None
    assert found[1] == ((1,), (2,))
