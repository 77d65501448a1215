"""Statements: every one of them is read, and reads again from what is written of it."""

import pytest

from orion.sql.parse import (
    SqlSyntaxError,
    format_statement,
    parse_statement,
    parse_statements,
    split_statements,
    tree,
)

STATEMENTS = """
SELECT * FROM plays;
SELECT p.*, tags->*, plays->song AS title, 1 + 1 one FROM plays p EMIT CHANGES LIMIT 3;
SELECT id, COUNT(*) FROM plays
  WINDOW TUMBLING (SIZE 1 HOUR, RETENTION 2 DAYS, GRACE PERIOD 5 MINUTES)
  WHERE a > 1 GROUP BY id HAVING COUNT(*) > 2 EMIT FINAL;
SELECT id FROM plays WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS)
  GROUP BY (id, a + b) EMIT CHANGES;
SELECT id FROM plays WINDOW w SESSION (1 MINUTE) GROUP BY (id) EMIT CHANGES;
SELECT a.x FROM a JOIN b WITHIN 1 DAY GRACE PERIOD 2 DAYS ON a.x = b.x
  LEFT JOIN c AS d ON a.x = d.x EMIT CHANGES;
SELECT a.x FROM a FULL OUTER JOIN b WITHIN (1 DAY, 2 DAYS) ON a.x = b.x EMIT CHANGES;
CREATE STREAM plays (id BIGINT KEY, song STRUCT<title STRING, tags ARRAY<STRING>>,
  h ARRAY<STRUCT<`KEY` STRING, `VALUE` BYTES>> HEADERS, one BYTES HEADER('trace'))
  WITH (kafka_topic = 'plays', value_format = 'JSON', partitions = 3, wrap = true);
CREATE OR REPLACE SOURCE TABLE t (id INT PRIMARY KEY, n VARCHAR(255), m MAP<STRING, DOUBLE>,
  l INT ARRAY)
  WITH ('kafka_topic' = 't');
CREATE TABLE IF NOT EXISTS totals WITH (partitions = 1) AS
  SELECT id, SUM(ms) AS ms FROM plays GROUP BY id EMIT CHANGES;
CREATE STREAM rekeyed AS SELECT * FROM plays PARTITION BY song->title;
CREATE STREAM inferred WITH (kafka_topic = 'x', value_format = 'AVRO');
INSERT INTO plays SELECT * FROM more;
INSERT INTO plays WITH (query_id = 'q') SELECT * FROM more;
INSERT INTO plays (id, song) VALUES (1, STRUCT(title := 'x'));
INSERT INTO plays VALUES (-1, NULL, ARRAY[1.5, 2e0]);
DROP STREAM IF EXISTS plays DELETE TOPIC;
DROP TABLE totals;
ALTER STREAM plays ADD COLUMN a INT, ADD b ARRAY<INT>;
CREATE TYPE IF NOT EXISTS address AS STRUCT<street STRING, city STRING>;
DROP TYPE IF EXISTS address;
CREATE SOURCE CONNECTOR IF NOT EXISTS c WITH ("connector.class" = 'x', 'tasks.max' = '1');
CREATE SINK CONNECTOR c WITH ('a.b' = 1);
DROP CONNECTOR IF EXISTS c;
SHOW PROPERTIES;
LIST ALL TOPICS EXTENDED;
SHOW STREAMS EXTENDED;
SHOW TABLES;
SHOW FUNCTIONS;
SHOW SOURCE CONNECTORS;
SHOW CONNECTORS;
SHOW CONNECTOR PLUGINS;
SHOW TYPES;
SHOW VARIABLES;
SHOW QUERIES EXTENDED;
DESCRIBE plays EXTENDED;
DESCRIBE STREAMS EXTENDED;
DESCRIBE TABLES;
DESCRIBE FUNCTION abs;
DESCRIBE CONNECTOR c;
EXPLAIN SELECT * FROM plays;
EXPLAIN ctas_totals_1;
PRINT 'my-topic' FROM BEGINNING INTERVAL 2 LIMIT 5;
PRINT plays SAMPLE 3;
TERMINATE ALL;
TERMINATE q_1;
PAUSE q_1;
RESUME ALL;
SET 'auto.offset.reset' = 'earliest';
UNSET 'auto.offset.reset';
ALTER SYSTEM 'a.b' = 'c';
DEFINE topic = 'plays';
UNDEFINE topic;
RUN SCRIPT 'setup.sql';
ASSERT TOPIC plays WITH (partitions = 3) TIMEOUT 10 SECONDS;
ASSERT NOT EXISTS TOPIC 'plays';
ASSERT SCHEMA SUBJECT 'plays-value' ID 3 TIMEOUT 1 MINUTE;
ASSERT NOT EXISTS SCHEMA ID 3;
ASSERT VALUES plays (id, n) VALUES (1, 'x');
ASSERT NULL VALUES totals (id) KEY (1);
ASSERT STREAM plays (id INT) WITH (kafka_topic = 'plays');
ASSERT TABLE totals;
"""


@pytest.mark.parametrize("text", split_statements(STATEMENTS))
def test_statements_read_and_write(text: str) -> None:
    statement = parse_statement(text)
    written = format_statement(statement)
    assert parse_statement(written) == statement
    assert statement.text == text


def test_every_kind_of_statement_is_among_them() -> None:
    seen = {type(statement) for statement in parse_statements(STATEMENTS)}
    assert seen == set(tree.Statement.__args__)


def test_a_script_keeps_comments_with_their_statements() -> None:
    script = "-- first\nSHOW TABLES; /* second; */ SHOW STREAMS -- no semicolon"
    first, second = parse_statements(script)
    assert first.text == "-- first\nSHOW TABLES;"
    assert second.text == "/* second; */ SHOW STREAMS -- no semicolon"
    assert (second.place.line, second.place.column) == (2, 28)


def test_pull_and_push_queries_differ_by_emit() -> None:
    pull, push = parse_statements("SELECT * FROM t; SELECT * FROM t EMIT CHANGES;")
    assert isinstance(pull, tree.SelectStatement)
    assert isinstance(push, tree.SelectStatement)
    assert pull.query.is_pull
    assert not push.query.is_pull


def test_keywords_serve_as_names_where_nothing_else_fits() -> None:
    (statement,) = parse_statements(
        "CREATE STREAM `select` (key STRING KEY, source INT, type STRING, date DATE, emit INT);"
    )
    assert isinstance(statement, tree.CreateSource)
    assert [str(element.name) for element in statement.elements] == [
        "KEY",
        "SOURCE",
        "TYPE",
        "DATE",
        "EMIT",
    ]
    (query,) = parse_statements("SELECT a AS emit FROM x emit EMIT CHANGES;")
    assert isinstance(query, tree.SelectStatement)
    assert query.query.source == tree.AliasedSource(tree.Name("X"), tree.Name("EMIT"))


def test_a_within_of_one_span_reaches_both_ways() -> None:
    (statement,) = parse_statements("SELECT 1 FROM a JOIN b WITHIN 2 HOURS ON x = y;")
    assert isinstance(statement, tree.SelectStatement)
    assert isinstance(statement.query.source, tree.Join)
    within = statement.query.source.within
    assert within is not None
    assert within.before.ms == within.after.ms == 7_200_000


@pytest.mark.parametrize(
    "text",
    [
        "CREATE STREAM s (a INT) AS SELECT * FROM x;",
        "INSERT INTO x (a) SELECT * FROM y;",
        "SELECT COUNT(*) FROM x GROUP BY a, (b, c);",
        "SELECT COUNT(*) FROM x GROUP BY a AND b;",
        "SELECT * FROM explode(a);",
        "SELECT * FROM x; SELECT",
        "CREATE STREAM s (a STRING (KEY));",
        "CREATE STREAM s ();",
        "SHOW;",
        "SET a = b;",
        "DROP plays;",
        "WITH a AS (SELECT 1) SELECT * FROM a;",
        "WITH a AS (SELECT * FROM x) SELECT * FROM a EMIT CHANGES;",
        "SELECT DISTINCT a FROM x EMIT CHANGES;",
        "SELECT * FROM x EMIT CHANGES ORDER BY a;",
        "CREATE TABLE t AS SELECT * FROM x ORDER BY a;",
        "CREATE TABLE t AS SELECT * FROM (SELECT * FROM x) AS y;",
        "INSERT INTO t SELECT a FROM x OFFSET 3;",
        "INSERT INTO t (a) VALUES ((SELECT a FROM x));",
        "SELECT a FROM x WHERE a IN (SELECT b FROM y) EMIT CHANGES;",
        "SELECT SUM(a) OVER (ORDER BY b) AS s FROM x EMIT CHANGES;",
        "SELECT * FROM (SELECT * FROM x EMIT CHANGES) AS y;",
    ],
)
def test_what_is_no_statement_is_refused(text: str) -> None:
    with pytest.raises(SqlSyntaxError):
        parse_statements(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DISTINCT a FROM x ORDER BY a DESC NULLS FIRST, b LIMIT 3 OFFSET 2;",
        "WITH a AS (SELECT * FROM x), b AS (SELECT * FROM a) SELECT * FROM b;",
        "SELECT * FROM (SELECT a FROM x WHERE a > 1) AS y LEFT JOIN z ON y.a = z.a;",
        "SELECT a FROM x WHERE a IN (SELECT b FROM y) AND NOT EXISTS (SELECT * FROM z);",
        "SELECT a, (SELECT MAX(b) FROM y) AS m FROM x WHERE a NOT IN (SELECT c FROM z);",
        "SELECT a - LAG(a) OVER (PARTITION BY b, c ORDER BY d) AS step FROM x;",
        "SELECT ROW_NUMBER() OVER () AS n FROM x;",
    ],
)
def test_answers_have_more_words_and_come_back_as_text(text: str) -> None:
    (statement,) = parse_statements(text)
    assert isinstance(statement, tree.SelectStatement)
    assert statement.query.is_pull
    (again,) = parse_statements(format_statement(statement))
    assert isinstance(again, tree.SelectStatement)
    assert format_statement(again) == format_statement(statement)
