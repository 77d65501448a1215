"""Rows that go to followers: what a condition lets through, and what must be taken back."""

from typing import Any

from orion.command import FormatRules
from orion.sql import Catalogue, Planner, built_in_functions, parse_statements, plan_query, tree
from orion.views import ChangedRow, FollowedQuery, followed_source
from orion.views.reader import RowChange

FUNCTIONS = built_in_functions()
SOURCES = """
CREATE TABLE users (id STRING PRIMARY KEY, n BIGINT) WITH (KAFKA_TOPIC='u', VALUE_FORMAT='JSON');
CREATE STREAM plays (id STRING KEY, n BIGINT) WITH (KAFKA_TOPIC='p', VALUE_FORMAT='JSON');
"""


def _declare() -> Catalogue:
    catalogue = Catalogue()
    planner = Planner(FUNCTIONS, FormatRules(None), {})
    for number, statement in enumerate(parse_statements(SOURCES)):
        catalogue = planner.plan(statement, catalogue, number=number).apply(catalogue)
    return catalogue


CATALOGUE = _declare()


def plan(text: str) -> Any:
    (statement,) = parse_statements(text)
    assert isinstance(statement, tree.SelectStatement)
    return plan_query(statement.query, CATALOGUE, FUNCTIONS)


def change(key: str, n: int | None) -> RowChange:
    row = None if n is None else {"ID": key, "N": n}
    return RowChange((key,), (), row, {"ID": key})


def shown(text: str, *changes: RowChange) -> list[ChangedRow]:
    return FollowedQuery(plan(text)).rows(list(changes))


def test_a_table_tells_its_rows_and_which_are_gone() -> None:
    found = shown("SELECT n, id FROM users EMIT CHANGES;", change("a", 1), change("a", None))
    assert found == [ChangedRow((1, "a")), ChangedRow((None, "a"), is_tombstone=True)]


def test_a_row_that_no_longer_fits_is_taken_back_once_and_only_if_it_was_shown() -> None:
    text = "SELECT id, n + 1 AS m FROM users WHERE n > 5 EMIT CHANGES;"
    changes = [change("a", 1), change("a", 6), change("a", 2), change("a", 3), change("b", None)]
    gone = ChangedRow(("a", None), is_tombstone=True)
    assert shown(text, *changes) == [ChangedRow(("a", 7)), gone]


def test_a_stream_only_leaves_out() -> None:
    text = "SELECT * FROM plays WHERE n > 5 EMIT CHANGES;"
    assert shown(text, change("a", 1), change("a", 6)) == [ChangedRow(("a", 6))]


def test_what_needs_more_than_one_record_is_for_the_engine() -> None:
    assert followed_source(plan("SELECT * FROM plays WHERE n > 5 EMIT CHANGES;")) is not None
    for text in (
        "SELECT id, COUNT(*) AS c FROM plays GROUP BY id EMIT CHANGES;",
        "SELECT p.n FROM plays p JOIN users u ON p.id = u.id EMIT CHANGES;",
        "SELECT EXPLODE(ARRAY[n]) AS e FROM plays EMIT CHANGES;",
        "SELECT id, n FROM plays PARTITION BY n EMIT CHANGES;",
    ):
        assert followed_source(plan(text)) is None
