"""Answers to whole SQL over rows, held against those of another engine."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from tests.unit.views.given import ORDERS, USERS

from orion.command import FormatRules
from orion.model import OrionError
from orion.sql import (
    Catalogue,
    Planner,
    Source,
    built_in_functions,
    parse_statements,
    tree,
    typed,
)
from orion.views import QuestionPlan, plan_pull
from orion.views.pull import keys_of
from orion.views.question import answer_question

FUNCTIONS = built_in_functions()
TABLES = """
CREATE SOURCE TABLE users (id STRING PRIMARY KEY, city STRING, age BIGINT)
  WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON');
CREATE SOURCE TABLE orders (id BIGINT PRIMARY KEY, buyer STRING, amount BIGINT)
  WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON');
CREATE TABLE bare (id BIGINT PRIMARY KEY) WITH (KAFKA_TOPIC='bare', VALUE_FORMAT='JSON');
"""


def _declare() -> Catalogue:
    catalogue = Catalogue()
    planner = Planner(FUNCTIONS, FormatRules(None), {})
    for number, statement in enumerate(parse_statements(TABLES)):
        catalogue = planner.plan(statement, catalogue, number=number).apply(catalogue)
    return catalogue


CATALOGUE = _declare()


def rows_of(source: Source, _where: object) -> Iterator[dict[str, Any]]:
    names = [column.name for column in source.columns]
    tables: dict[str, list[Any]] = {"USERS": [*USERS], "ORDERS": [*ORDERS]}
    given = tables[source.name]
    return (dict(zip(names, values, strict=True)) for values in given)


def plan(text: str) -> QuestionPlan:
    (statement,) = parse_statements(text)
    assert isinstance(statement, tree.SelectStatement)
    found = plan_pull(statement.query, CATALOGUE, FUNCTIONS, {})
    assert isinstance(found, QuestionPlan)
    return found


def ask(text: str) -> list[list[Any]]:
    return [list(values) for values in answer_question(plan(text).plan, rows_of)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, age FROM users ORDER BY age DESC NULLS LAST, id LIMIT 5 OFFSET 2",
        "SELECT id FROM users ORDER BY age NULLS FIRST, id DESC",
        "SELECT id, age * 2 AS twice FROM users WHERE age > 20 ORDER BY twice, 1",
        "SELECT DISTINCT city FROM users ORDER BY city NULLS FIRST",
        "SELECT city, COUNT(*) AS n, MAX(age) AS oldest FROM users"
        " GROUP BY city ORDER BY n DESC, city NULLS FIRST",
        "SELECT amount % 3 AS g, SUM(amount) AS s FROM orders"
        " GROUP BY amount % 3 HAVING COUNT(*) > 10 ORDER BY g",
        "SELECT COUNT(*) AS n, SUM(amount) AS s FROM orders",
        "SELECT COUNT(*) AS n FROM orders WHERE amount > 100",
        "SELECT buyer FROM orders GROUP BY buyer ORDER BY COUNT(*) DESC, buyer NULLS FIRST",
        "SELECT COUNT(*) AS n FROM orders HAVING COUNT(*) > 3",
        "SELECT u.id, o.amount FROM users u JOIN orders o ON u.id = o.buyer ORDER BY o.id",
        "SELECT u.id, o.id FROM users u LEFT JOIN orders o ON u.id = o.buyer AND o.amount > 5"
        " ORDER BY u.id, o.id NULLS LAST",
        "SELECT u.id, o.id FROM users u RIGHT JOIN orders o ON u.id = o.buyer ORDER BY o.id",
        "SELECT u.id, o.id FROM users u FULL JOIN orders o ON u.id = o.buyer"
        " ORDER BY u.id NULLS LAST, o.id NULLS LAST",
        "SELECT a.id, b.id FROM users a JOIN users b ON a.age < b.age AND a.city = b.city"
        " ORDER BY a.id, b.id",
        "SELECT a.id, b.id FROM users a JOIN users b ON a.age < b.age ORDER BY a.id, b.id",
        "SELECT u.city, SUM(o.amount) AS s FROM users u JOIN orders o ON u.id = o.buyer"
        " GROUP BY u.city ORDER BY s, u.city NULLS FIRST",
        "WITH big AS (SELECT buyer, amount FROM orders WHERE amount > 4),"
        " counted AS (SELECT buyer, COUNT(*) AS n FROM big GROUP BY buyer)"
        " SELECT u.city, c.n FROM counted c JOIN users u ON u.id = c.buyer ORDER BY u.id",
        "SELECT s.n, COUNT(*) AS many FROM"
        " (SELECT buyer, COUNT(*) AS n FROM orders GROUP BY buyer) AS s GROUP BY s.n ORDER BY s.n",
        "SELECT id FROM users WHERE id IN (SELECT buyer FROM orders WHERE amount > 6) ORDER BY id",
        "SELECT id FROM users WHERE EXISTS (SELECT id FROM orders WHERE amount > 7) ORDER BY id",
        "SELECT id, amount FROM orders WHERE amount = (SELECT MAX(amount) FROM orders) ORDER BY id",
        "SELECT id, (SELECT COUNT(*) FROM users) AS users FROM orders ORDER BY id LIMIT 3",
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY buyer ORDER BY amount, id) AS n"
        " FROM orders ORDER BY id",
        "SELECT id, RANK() OVER (ORDER BY amount) AS r,"
        " DENSE_RANK() OVER (ORDER BY amount DESC) AS d FROM orders ORDER BY id",
        "SELECT id, amount - LAG(amount, 1, 0) OVER (ORDER BY id) AS step,"
        " LEAD(amount) OVER (PARTITION BY buyer ORDER BY id) AS following FROM orders ORDER BY id",
        "SELECT id, SUM(amount) OVER (PARTITION BY buyer) AS whole,"
        " SUM(amount) OVER (ORDER BY amount) AS running FROM orders ORDER BY id",
        "SELECT id, FIRST_VALUE(amount) OVER (PARTITION BY buyer ORDER BY id) AS f,"
        " LAST_VALUE(amount) OVER (PARTITION BY buyer ORDER BY id) AS l FROM orders ORDER BY id",
        "SELECT buyer, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place"
        " FROM orders GROUP BY buyer ORDER BY place, buyer NULLS FIRST",
        "SELECT id, (SELECT COUNT(*) FROM orders o WHERE o.buyer = u.id) AS n FROM users u"
        " ORDER BY n, id",
        "SELECT id FROM users u WHERE EXISTS"
        " (SELECT id FROM orders WHERE buyer = u.id AND amount > 6) ORDER BY id",
        "SELECT id FROM users u WHERE NOT EXISTS (SELECT id FROM orders WHERE buyer = u.id)"
        " ORDER BY id",
        "SELECT id, amount FROM orders o WHERE amount ="
        " (SELECT MAX(amount) FROM orders p WHERE p.buyer = o.buyer) ORDER BY id",
        "SELECT id FROM users u WHERE age > 0 AND age NOT IN"
        " (SELECT amount * 5 FROM orders WHERE buyer = u.id AND amount > 0)"
        " ORDER BY (SELECT MAX(amount) FROM orders WHERE buyer = u.id) NULLS LAST, id",
        "SELECT city, COUNT(*) AS n FROM users u WHERE"
        " (SELECT COUNT(*) FROM orders WHERE buyer = u.id) > 2 GROUP BY city"
        " ORDER BY n, city NULLS FIRST",
        "SELECT id FROM users u WHERE EXISTS (SELECT id FROM orders o WHERE o.buyer = u.id AND"
        " EXISTS (SELECT id FROM orders p WHERE p.buyer = u.id AND p.amount > o.amount))"
        " ORDER BY id",
        "SELECT city AS c FROM users UNION SELECT buyer FROM orders ORDER BY c NULLS FIRST",
        "SELECT id FROM users WHERE age > 20 UNION ALL SELECT buyer FROM orders"
        " UNION ALL SELECT city FROM users ORDER BY id NULLS FIRST LIMIT 20 OFFSET 3",
        "SELECT amount AS a FROM orders UNION ALL SELECT amount FROM orders"
        " UNION SELECT age FROM users ORDER BY 1 NULLS FIRST",
        "WITH o AS (SELECT buyer FROM orders UNION SELECT id FROM users)"
        " SELECT COUNT(*) AS n FROM o",
        "SELECT id FROM users WHERE id IN (SELECT buyer FROM orders WHERE amount > 7"
        " UNION ALL SELECT 'u3' FROM users) ORDER BY id",
        "SELECT city, COUNT(*) AS n FROM users GROUP BY city UNION ALL"
        " SELECT 'all', COUNT(*) FROM users ORDER BY n, city NULLS FIRST",
    ],
)
def test_answers_are_those_of_another_engine(other: sqlite3.Connection, text: str) -> None:
    expected = [list(row) for row in other.execute(text)]
    assert expected
    assert ask(text + ";") == expected


def test_no_row_is_an_answer_and_a_missing_value_is_null() -> None:
    assert ask("SELECT id FROM users WHERE id = 'nobody' ORDER BY id;") == []
    text = "SELECT (SELECT age FROM users WHERE id = 'nobody') AS a FROM orders LIMIT 1;"
    assert ask(text) == [[None]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT id, city FROM users GROUP BY city;", "neither grouped by nor in an aggregate"),
        ("SELECT id FROM users WHERE COUNT(*) > 1 ORDER BY id;", "Use HAVING"),
        ("SELECT id FROM users HAVING age > 1;", "neither grouped by"),
        ("SELECT id FROM users ORDER BY COUNT(*);", "neither grouped by"),
        ("SELECT id FROM users ORDER BY nothing;", "NOTHING"),
        ("SELECT id FROM users ORDER BY 2;", "no column 2: its columns are 1 to 1"),
        ("SELECT id FROM users UNION SELECT buyer FROM orders ORDER BY 0;", "no column 0"),
        ("SELECT id, id FROM users ORDER BY id;", "Two columns"),
        ("SELECT * FROM users u JOIN users u ON u.id = u.id;", "named twice"),
        ("SELECT id FROM users WHERE id = (SELECT id, age FROM users);", "one column"),
        ("SELECT id FROM users WHERE id IN (SELECT amount FROM orders);", "STRING"),
        ("SELECT id FROM users WHERE RANK() OVER (ORDER BY id) = 1;", "OVER stands in SELECT"),
        ("SELECT RANK() OVER () AS r FROM users;", "needs an ORDER BY"),
        ("SELECT UCASE(id) OVER () AS r FROM users;", "cannot stand before OVER"),
        ("SELECT LAG() OVER (ORDER BY id) AS r FROM users;", "argument"),
        ("SELECT * FROM bare ORDER BY id;", "CREATE SOURCE TABLE"),
        ("SELECT COUNT(*) AS n FROM users WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY id;", "no WINDOW"),
        ("SELECT id FROM users UNION SELECT id, buyer FROM orders;", "as many columns"),
        ("SELECT id FROM users UNION SELECT id FROM orders;", "STRING"),
        ("SELECT id FROM users UNION SELECT id FROM users EMIT CHANGES;", "INSERT INTO one"),
        ("WITH a AS (SELECT id FROM b) SELECT * FROM a;", "'B'"),
        (
            "SELECT id FROM users WHERE id = (SELECT MAX(buyer) FROM orders WHERE id = city);",
            "BIGINT",
        ),
        ("SELECT id FROM users u WHERE age = (SELECT MAX(nope) FROM orders);", "NOPE"),
        ("SELECT id FROM users u WHERE age = (SELECT MAX(x.id) FROM orders);", "'X'"),
        (
            "SELECT city FROM users u GROUP BY city"
            " HAVING COUNT(*) > (SELECT COUNT(*) FROM orders WHERE buyer = u.id);",
            "'U'",
        ),
        (
            "SELECT u.id FROM users u JOIN orders o"
            " ON o.amount = (SELECT MAX(amount) FROM orders WHERE buyer = u.id);",
            "'U'",
        ),
    ],
)
def test_what_cannot_be_asked_says_why(text: str, words: str) -> None:
    with pytest.raises(OrionError, match=words):
        ask(text)


def test_a_query_that_stands_for_a_value_gives_one_row() -> None:
    with pytest.raises(OrionError, match="several rows"):
        ask("SELECT id FROM users WHERE id = (SELECT buyer FROM orders);")


def test_a_condition_on_the_key_needs_no_other_rows() -> None:
    asked: list[object] = []

    def rows(source: Source, where: typed.Typed | None) -> Iterator[dict[str, Any]]:
        asked.append(keys_of(source, where))
        return rows_of(source, where)

    text = "SELECT id FROM users WHERE id = (SELECT MAX(buyer) FROM orders) ORDER BY id;"
    answer_question(plan(text).plan, rows)
    assert asked == [None, ((max(buyer for _, buyer, _ in ORDERS if buyer),),)]


def test_a_query_for_each_row_reads_its_sources_once() -> None:
    asked: list[object] = []

    def rows(source: Source, where: typed.Typed | None) -> Iterator[dict[str, Any]]:
        asked.append((source.name, keys_of(source, where)))
        return rows_of(source, where)

    text = "SELECT id, (SELECT COUNT(*) FROM orders WHERE buyer = u.id) AS n FROM users u LIMIT 9;"
    answer_question(plan(text).plan, rows)
    assert asked == [("USERS", None), ("ORDERS", None)]
    asked.clear()
    text = "SELECT (SELECT city FROM users WHERE id = o.buyer) AS c FROM orders o ORDER BY id;"
    answer_question(plan(text).plan, rows)
    # By the key, and once for each buyer.
    buyers = dict.fromkeys(buyer for _, buyer, _ in ORDERS)
    assert asked == [("ORDERS", None), *(("USERS", ((buyer,),)) for buyer in buyers)]
