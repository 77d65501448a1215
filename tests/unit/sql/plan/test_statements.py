"""Statements against a catalogue: the columns they give, or the reason they are refused."""

import pytest

from orion.command import FormatRules
from orion.formats import MemorySchemas, Schema, SchemaKind
from orion.model import OrionError
from orion.sql import (
    Catalogue,
    Planner,
    SourceNotFoundError,
    Started,
    built_in_functions,
    parse_statements,
    plan_query,
    step,
    tree,
)

FUNCTIONS = built_in_functions()
DECLARED = """
CREATE STREAM s (id INT KEY, name STRING, n BIGINT, d DECIMAL(4,2), tags ARRAY<STRING>,
  m MAP<STRING, INT>, place STRUCT<town STRING, zip INT>)
  WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');
CREATE STREAM s2 (id INT KEY, name STRING, other INT) WITH (KAFKA_TOPIC='s2', VALUE_FORMAT='JSON');
CREATE STREAM keyless (a INT, b INT) WITH (KAFKA_TOPIC='keyless', VALUE_FORMAT='JSON');
CREATE TABLE t (id INT PRIMARY KEY, v STRING, ref INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');
CREATE TABLE t2 (id INT PRIMARY KEY, w STRING) WITH (KAFKA_TOPIC='t2', VALUE_FORMAT='JSON');
CREATE SOURCE STREAM fixed (id INT KEY, a INT) WITH (KAFKA_TOPIC='fixed', VALUE_FORMAT='JSON');
CREATE TYPE address AS STRUCT<street STRING, town STRING>;
"""


def catalogue(text: str = DECLARED) -> Catalogue:
    found = Catalogue()
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    for number, statement in enumerate(parse_statements(text)):
        found = planner.plan(statement, found, number=number).apply(found)
    return found


KNOWN = catalogue()


def plan(text: str) -> Started:
    (statement,) = parse_statements(text)
    change = Planner(FUNCTIONS, FormatRules(MemorySchemas())).plan(statement, KNOWN, number=9)
    assert isinstance(change, Started)
    return change


@pytest.mark.parametrize(
    ("select", "columns"),
    [
        ("STREAM AS SELECT * FROM s2", "`ID` INTEGER KEY, `NAME` STRING, `OTHER` INTEGER"),
        ("STREAM AS SELECT id, n + 1 FROM s", "`ID` INTEGER KEY, `KSQL_COL_0` BIGINT"),
        ("STREAM AS SELECT id AS k, name FROM s", "`K` INTEGER KEY, `NAME` STRING"),
        ("STREAM AS SELECT id, place->town FROM s", "`ID` INTEGER KEY, `TOWN` STRING"),
        ("STREAM AS SELECT id, place->* FROM s", "`ID` INTEGER KEY, `TOWN` STRING, `ZIP` INTEGER"),
        ("STREAM AS SELECT id, d * d AS x FROM s", "`ID` INTEGER KEY, `X` DECIMAL(9, 4)"),
        ("STREAM AS SELECT id, d + 1 AS x FROM s", "`ID` INTEGER KEY, `X` DECIMAL(13, 2)"),
        ("STREAM AS SELECT id, tags[1] AS x FROM s", "`ID` INTEGER KEY, `X` STRING"),
        ("STREAM AS SELECT id, m['a'] AS x FROM s", "`ID` INTEGER KEY, `X` INTEGER"),
        ("STREAM AS SELECT id, ARRAY[1, n] AS x FROM s", "`ID` INTEGER KEY, `X` ARRAY<BIGINT>"),
        ("STREAM AS SELECT id, ARRAY[1, '2'] AS x FROM s", "`ID` INTEGER KEY, `X` ARRAY<INTEGER>"),
        (
            "STREAM AS SELECT id, CASE WHEN n > 1 THEN 1 ELSE 2.5 END AS x FROM s",
            "`ID` INTEGER KEY, `X` DECIMAL(11, 1)",
        ),
        (
            "STREAM AS SELECT id, TRANSFORM(tags, t => LEN(t)) AS x FROM s",
            "`ID` INTEGER KEY, `X` ARRAY<INTEGER>",
        ),
        ("STREAM AS SELECT id, EXPLODE(tags) AS x FROM s", "`ID` INTEGER KEY, `X` STRING"),
        ("STREAM AS SELECT * FROM keyless PARTITION BY a", "`A` INTEGER KEY, `B` INTEGER"),
        ("STREAM AS SELECT name, id FROM s2 PARTITION BY name", "`NAME` STRING KEY, `ID` INTEGER"),
        ("STREAM AS SELECT id, name FROM s2 PARTITION BY NULL", "`ID` INTEGER, `NAME` STRING"),
        (
            "STREAM AS SELECT name AS k, id FROM s2 PARTITION BY name",
            "`K` STRING KEY, `ID` INTEGER",
        ),
        (
            "TABLE AS SELECT name, COUNT(*) AS c FROM s GROUP BY name",
            "`NAME` STRING PRIMARY KEY, `C` BIGINT",
        ),
        (
            "TABLE AS SELECT UCASE(name) AS k, SUM(n) FROM s GROUP BY UCASE(name)",
            "`K` STRING PRIMARY KEY, `KSQL_COL_0` BIGINT",
        ),
        (
            "TABLE WITH (KEY_FORMAT='JSON') AS SELECT name, id, MAX(n) AS m FROM s"
            " GROUP BY name, id",
            "`NAME` STRING PRIMARY KEY, `ID` INTEGER PRIMARY KEY, `M` BIGINT",
        ),
        ("TABLE AS SELECT id, v FROM t WHERE ref > 1", "`ID` INTEGER PRIMARY KEY, `V` STRING"),
        (
            "STREAM AS SELECT s.id, n, w FROM s JOIN t2 ON s.id = t2.id",
            "`S_ID` INTEGER KEY, `N` BIGINT, `W` STRING",
        ),
        (
            "STREAM AS SELECT s.id AS id, other FROM s JOIN s2 WITHIN 1 HOUR ON s.id = s2.id",
            "`ID` INTEGER KEY, `OTHER` INTEGER",
        ),
        (
            "TABLE AS SELECT t.id AS id, v, w FROM t JOIN t2 ON t.ref = t2.id",
            "`ID` INTEGER PRIMARY KEY, `V` STRING, `W` STRING",
        ),
        (
            "TABLE AS SELECT ROWKEY, v, w FROM t FULL OUTER JOIN t2 ON t.id = t2.id",
            "`ROWKEY` INTEGER PRIMARY KEY, `V` STRING, `W` STRING",
        ),
    ],
)
def test_a_query_gives_these_columns(select: str, columns: str) -> None:
    kind, _, rest = select.partition(" ")
    assert plan(f"CREATE {kind} out {rest};").sink.schema_text() == columns


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("CREATE STREAM o AS SELECT name FROM s;", "key column 'ID' must be selected"),
        (
            "CREATE STREAM o AS SELECT w FROM s JOIN t ON s.id = t.id JOIN t2 ON t.ref = t2.id;",
            "Add it: SELECT T.REF, …",
        ),
        ("CREATE STREAM o AS SELECT id, id AS b, name FROM s;", "more than once"),
        ("CREATE STREAM o AS SELECT id FROM s;", "No value column"),
        ("CREATE STREAM o AS SELECT id, nmae FROM s;", "Did you mean 'NAME'?"),
        ("CREATE STREAM o AS SELECT id, name AS rowtime FROM s;", "reserved"),
        ("CREATE STREAM o AS SELECT id, name + 1 FROM s;", "Texts are joined with texts"),
        ("CREATE STREAM o AS SELECT id, name = 1 AS x FROM s;", "cannot be compared"),
        ("CREATE STREAM o AS SELECT id, n = NULL AS x FROM s;", "IS NULL"),
        ("CREATE STREAM o AS SELECT id, NULL AS x FROM s;", "CAST(NULL AS STRING)"),
        ("CREATE STREAM o AS SELECT id, CAST(name AS ARRAY<INT>) AS x FROM s;", "cannot be cast"),
        ("CREATE STREAM o AS SELECT id, place->twon FROM s;", "Did you mean 'TOWN'?"),
        ("CREATE STREAM o AS SELECT id, UCSE(name) FROM s;", "Did you mean 'UCASE'?"),
        ("CREATE STREAM o AS SELECT id, name FROM s WHERE n;", "WHERE needs a condition"),
        ("CREATE STREAM o AS SELECT id, name FROM s WHERE COUNT(*) > 1;", "Use HAVING"),
        ("CREATE STREAM o AS SELECT id, v FROM t;", "gives a table"),
        ("CREATE TABLE o AS SELECT id, name FROM s;", "gives a stream"),
        ("CREATE TABLE o AS SELECT id, v FROM t PARTITION BY v;", "PARTITION BY is for streams"),
        ("CREATE TABLE o AS SELECT COUNT(*) FROM s;", "needs a GROUP BY"),
        ("CREATE TABLE o AS SELECT name, n, COUNT(*) FROM s GROUP BY name;", "neither grouped by"),
        ("CREATE TABLE o AS SELECT name, UCASE(name) FROM s GROUP BY name;", "needs an aggregate"),
        ("CREATE TABLE o AS SELECT name, id, COUNT(*) FROM s GROUP BY name, id;", "KAFKA"),
        ("CREATE TABLE o AS SELECT v, MAX(ref) FROM t GROUP BY v;", "cannot take back"),
        ("CREATE TABLE o AS SELECT id, COUNT(*) FROM s GROUP BY id EMIT FINAL;", "needs a WINDOW"),
        ("CREATE STREAM o AS SELECT s.id, other FROM s JOIN s2 ON s.id = s2.id;", "WITHIN"),
        ("CREATE STREAM o AS SELECT s.id, w FROM s RIGHT JOIN t2 ON s.id = t2.id;", "no events"),
        ("CREATE STREAM o AS SELECT s.id, w FROM s JOIN t2 ON s.id = t2.w;", "INTEGER"),
        ("CREATE STREAM o AS SELECT s.id, v FROM s JOIN t ON s.id = t.ref;", "primary key"),
        (
            "CREATE STREAM o AS SELECT id, other FROM s JOIN s2 WITHIN 1 HOUR ON s.id = s2.id;",
            "ambiguous",
        ),
        ("CREATE STREAM o WITH (VALUE_FORMAT='KAFKA') AS SELECT id, tags FROM s;", "KAFKA"),
        ("CREATE STREAM o WITH (VALUE_FORMAT='DELIMITED') AS SELECT id, m FROM s;", "DELIMITED"),
        (
            "CREATE STREAM o WITH (PARTITONS=2) AS SELECT id, n FROM s;",
            "Did you mean 'PARTITIONS'?",
        ),
        ("CREATE STREAM s (a INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON');", "already exists"),
        ("CREATE TABLE o (a INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON');", "PRIMARY KEY"),
        (
            "CREATE STREAM o (a INT PRIMARY KEY, b INT)"
            " WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON');",
            "marked KEY",
        ),
        ("CREATE STREAM o (a INT) WITH (KAFKA_TOPIC='x');", "VALUE_FORMAT"),
        ("CREATE STREAM o (rowtime INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON');", "reserved"),
        ("CREATE STREAM o (a INT, a INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON');", "twice"),
        (
            "CREATE STREAM o (a INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON', TIMESTAMP='b');",
            "does not exist",
        ),
        ("CREATE TABLE o WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON');", "No column"),
        ("CREATE STREAM o (a INT) WITH (VALUE_FORMAT='JSON', PARTITIONS=0);", "at least 1"),
        (
            "CREATE STREAM o (a INT, b STRING) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON',"
            " TIMESTAMP='b', TIMESTAMP_FORMAT='no pattern');",
            "cannot be read",
        ),
        (
            "CREATE STREAM o (a INT) WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON',"
            " WINDOW_TYPE='SESSION');",
            "needs a KEY column",
        ),
        ("INSERT INTO t SELECT id, v, ref FROM t;", "only its query writes it"),
        ("INSERT INTO fixed SELECT id, other AS a FROM s2;", "read-only"),
        ("INSERT INTO s2 SELECT id, name FROM s;", "Select the same columns"),
        ("DROP STREAM t;", "is a TABLE"),
        ("DROP STREAM nothing;", "does not exist"),
        ("ALTER STREAM s ADD COLUMN name INT;", "exists already"),
        ("CREATE TYPE address AS INT;", "already exists"),
        ("TERMINATE nothing;", "SHOW QUERIES"),
    ],
)
def test_a_statement_is_refused_with_its_reason(statement: str, reason: str) -> None:
    (parsed,) = parse_statements(statement)
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    with pytest.raises(OrionError) as refused:
        planner.plan(parsed, KNOWN, number=9)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE STREAM o AS SELECT s.id, w FROM s JOIN t2 ON MAX(s.id) = t2.id;",
        "CREATE STREAM o AS SELECT id, n FROM s WHERE EXPLODE(tags) = 'a';",
        "CREATE STREAM o AS SELECT id, n FROM s PARTITION BY COUNT(n);",
        "CREATE STREAM o AS SELECT id, n FROM s PARTITION BY EXPLODE(tags);",
        "CREATE TABLE o AS SELECT SUM(n), COUNT(*) FROM s GROUP BY SUM(n);",
        "CREATE TABLE o AS SELECT name, COUNT(EXPLODE(tags)) AS c FROM s GROUP BY name;",
        "CREATE TABLE o AS SELECT name, EXPLODE(tags) AS e, COUNT(*) FROM s GROUP BY name;",
        "CREATE TABLE o AS SELECT name, COUNT(*) FROM s GROUP BY name HAVING EXPLODE(tags) = 'a';",
    ],
)
def test_what_looks_at_several_rows_stands_only_where_there_are_several(statement: str) -> None:
    (parsed,) = parse_statements(statement)
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    with pytest.raises(OrionError, match="cannot stand here"):
        planner.plan(parsed, KNOWN, number=9)


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        ("TUMBLING (SIZE 0 SECONDS)", "SIZE of a window cannot be 0"),
        ("SESSION (0 SECONDS)", "gap of a window cannot be 0"),
        ("HOPPING (SIZE 1 HOUR, ADVANCE BY 0 SECONDS)", "ADVANCE BY"),
        ("HOPPING (SIZE 1 HOUR, ADVANCE BY 61 MINUTES)", "ADVANCE BY"),
        ("TUMBLING (SIZE 1 HOUR, RETENTION 59 MINUTES)", "RETENTION"),
        ("TUMBLING (SIZE 1 HOUR, RETENTION 1 HOUR, GRACE PERIOD 1 SECOND)", "RETENTION"),
        ("SESSION (1 HOUR, RETENTION 1 MINUTE)", "RETENTION"),
    ],
)
def test_a_window_holds_every_record_while_it_is_open(window: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        plan(f"CREATE TABLE o AS SELECT id, COUNT(*) AS c FROM s WINDOW {window} GROUP BY id;")


@pytest.mark.parametrize("kind", ["RIGHT", "FULL"])
def test_rows_without_a_key_are_not_asked_of_a_join(kind: str) -> None:
    with pytest.raises(OrionError, match=f"cannot be {kind}.*Use INNER or LEFT"):
        plan(f"CREATE TABLE o AS SELECT t.id, w FROM t {kind} JOIN t2 ON t.ref = t2.id;")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("TOPK(n, 0)", "at least 1, not 0"),
        ("TOPK(n, id)", "must be a literal"),
        ("TOPKDISTINCT(n, -1)", "at least 1, not -1"),
        ("TOPK(n, name, 0)", "at least 1, not 0"),
        ("LATEST_BY_OFFSET(n, 0)", "at least 1, not 0"),
        ("EARLIEST_BY_OFFSET(n, id)", "must be a literal"),
        ("LATEST_BY_OFFSET(n, 2, n = 1)", "must be a literal"),
    ],
)
def test_what_shapes_an_aggregate_is_the_same_for_all_rows(call: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        plan(f"CREATE TABLE o AS SELECT name, {call} AS x FROM s GROUP BY name;")


def test_a_query_without_an_end_has_no_limit() -> None:
    with pytest.raises(OrionError, match="LIMIT ends an answer"):
        plan("CREATE STREAM o AS SELECT id, name FROM s LIMIT 3;")


def test_a_query_knows_the_statement_that_asked_for_it() -> None:
    for text in ("INSERT INTO s2 SELECT * FROM s2;", "CREATE STREAM q AS SELECT * FROM s2;"):
        assert plan(text).statement == text


@pytest.mark.parametrize(
    ("properties", "collapses"),
    [
        ({}, False),
        ({"cache.max.bytes.buffering": "0"}, False),
        ({"cache.max.bytes.buffering": "much"}, False),
        ({"cache.max.bytes.buffering": "10000000"}, True),
        ({"ksql.streams.cache.max.bytes.buffering": "1"}, True),
    ],
)
def test_groups_collapse_where_there_is_room_for_changes(
    properties: dict[str, str], collapses: bool
) -> None:
    (statement,) = parse_statements("CREATE TABLE c AS SELECT id, COUNT(*) FROM s GROUP BY id;")
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()), properties)
    change = planner.plan(statement, KNOWN, number=9)
    assert isinstance(change, Started)
    assert change.collapses is collapses


def test_an_unknown_source_names_the_nearest() -> None:
    with pytest.raises(SourceNotFoundError, match="Did you mean 'KEYLESS'"):
        plan("CREATE STREAM o AS SELECT * FROM keyles;")


def test_a_source_in_use_cannot_be_dropped() -> None:
    with_query = catalogue(DECLARED + "CREATE STREAM o AS SELECT id, name FROM s2;")
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    (drop_source,) = parse_statements("DROP STREAM s2;")
    with pytest.raises(OrionError, match="read by the queries CSAS_O_7"):
        planner.plan(drop_source, with_query, number=10)
    (drop_sink,) = parse_statements("DROP STREAM o;")
    left = planner.plan(drop_sink, with_query, number=10).apply(with_query)
    assert "O" not in left.sources
    assert not left.queries


def test_a_replacement_may_add_columns_and_nothing_else() -> None:
    with_query = catalogue(DECLARED + "CREATE STREAM o AS SELECT id, name FROM s2;")
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    (grown,) = parse_statements("CREATE OR REPLACE STREAM o AS SELECT id, name, other FROM s2;")
    change = planner.plan(grown, with_query, number=10)
    assert isinstance(change, Started)
    assert (change.query, change.replaces) == ("CSAS_O_7", True)
    (lost,) = parse_statements("CREATE OR REPLACE STREAM o AS SELECT id, other FROM s2;")
    with pytest.raises(OrionError, match="column 'NAME' would change"):
        planner.plan(lost, with_query, number=10)


def test_a_replacement_keeps_what_the_state_means() -> None:
    counted = "CREATE TABLE o AS SELECT name, COUNT(*) AS c FROM s2 GROUP BY name;"
    with_query = catalogue(DECLARED + counted)
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    (filtered,) = parse_statements(
        "CREATE OR REPLACE TABLE o AS SELECT name, COUNT(*) AS c FROM s2 WHERE other > 1"
        " GROUP BY name;"
    )
    assert isinstance(planner.plan(filtered, with_query, number=10), Started)
    (summed,) = parse_statements(
        "CREATE OR REPLACE TABLE o AS SELECT name, COUNT(*) AS c, SUM(other) AS s FROM s2"
        " GROUP BY name;"
    )
    with pytest.raises(OrionError, match="its state would mean something else"):
        planner.plan(summed, with_query, number=10)


@pytest.mark.parametrize(
    ("named", "columns"), [("", ["A"]), (", VALUE_SCHEMA_FULL_NAME='Second'", ["B", "C"])]
)
def test_a_named_message_gives_the_columns(named: str, columns: list[str]) -> None:
    schemas = MemorySchemas()
    text = """syntax = "proto3";
        message First { string a = 1; }
        message Second { string b = 1; int64 c = 2; }"""
    schemas.register("t-value", Schema(SchemaKind.PROTOBUF, text))
    (statement,) = parse_statements(
        f"CREATE STREAM s WITH (KAFKA_TOPIC='t', VALUE_FORMAT='PROTOBUF'{named});"
    )
    change = Planner(FUNCTIONS, FormatRules(schemas)).plan(statement, Catalogue(), number=1)
    source = change.apply(Catalogue()).sources["S"]
    assert [column.name for column in source.value] == columns


def test_without_a_sink_all_rows_may_be_one_group() -> None:
    text = "SELECT COUNT(*) AS n FROM s EMIT CHANGES;"
    (statement,) = parse_statements(text)
    assert isinstance(statement, tree.SelectStatement)
    found = plan_query(statement.query, KNOWN, FUNCTIONS)
    assert [named.name for named in found.value] == ["N"]
    assert isinstance(found.step.input, step.Aggregate)
    with pytest.raises(OrionError, match="needs a GROUP BY"):
        plan(f"CREATE TABLE counted AS {text}")


@pytest.mark.parametrize(
    "select",
    [
        "CREATE TABLE x WITH (LATE_TOPIC='late') AS SELECT id, COUNT(*) AS c FROM s"
        " WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY id;",
        "CREATE STREAM x WITH (LATE_TOPIC='late') AS SELECT s.id, s2.other FROM s JOIN s2"
        " WITHIN 1 HOUR ON s.id = s2.id;",
    ],
)
def test_late_records_may_go_to_a_topic(select: str) -> None:
    assert plan(select).late_topic == "late"


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ("WITH (LATE_TOPIC='l') AS SELECT id, COUNT(*) AS c FROM s GROUP BY id", "no record is"),
        ("WITH (LATE_TOPIC='s') AS SELECT id, COUNT(*) AS c FROM s {w} GROUP BY id", "itself"),
        ("WITH (LATE_TOPIC='X') AS SELECT id, COUNT(*) AS c FROM s {w} GROUP BY id", "itself"),
        ("WITH (LATE_TOPIC='') AS SELECT id, COUNT(*) AS c FROM s {w} GROUP BY id", "itself"),
    ],
)
def test_a_topic_of_late_records_must_make_sense(select: str, reason: str) -> None:
    window = "WINDOW TUMBLING (SIZE 1 HOUR)"
    with pytest.raises(OrionError, match=reason):
        plan(f"CREATE TABLE x {select.format(w=window)};")


RANKED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY n DESC) AS rn FROM s"


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        (
            f"TABLE x WITH (KEY_FORMAT='JSON') AS SELECT name, rn, n FROM ({RANKED}) WHERE rn <= 3",
            "`NAME` STRING PRIMARY KEY, `RN` BIGINT PRIMARY KEY, `N` BIGINT",
        ),
        (
            f"TABLE x AS SELECT name, n FROM ({RANKED}) q WHERE 1 >= q.rn AND n > 2",
            "`NAME` STRING PRIMARY KEY, `N` BIGINT",
        ),
        (
            f"STREAM x AS SELECT name, n, rn FROM ({RANKED}) WHERE rn < 4",
            "`NAME` STRING KEY, `N` BIGINT, `RN` BIGINT",
        ),
        (
            "TABLE x AS SELECT * FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY n) AS rn FROM s)"
            " WHERE rn <= 10",
            "`RN` BIGINT PRIMARY KEY, `ID` INTEGER",
        ),
        (
            "TABLE x AS SELECT v, id FROM (SELECT *,"
            " ROW_NUMBER() OVER (PARTITION BY v ORDER BY ref) AS rn FROM t) WHERE rn = 1",
            "`V` STRING PRIMARY KEY, `ID` INTEGER",
        ),
    ],
)
def test_rankings_are_keyed_by_what_they_are_partitioned_by(statement: str, columns: str) -> None:
    assert plan(f"CREATE {statement};").sink.schema_text() == columns


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("TABLE x AS SELECT id FROM (SELECT id FROM s)", "create a stream of it"),
        (f"TABLE x AS SELECT name, rn FROM ({RANKED})", "Nothing bounds the rank"),
        (f"TABLE x AS SELECT name, rn FROM ({RANKED}) WHERE rn > 3", "Nothing bounds the rank"),
        (f"TABLE x AS SELECT name, rn FROM ({RANKED}) WHERE rn <= 0", "1 to 10000 places"),
        (f"TABLE x AS SELECT rn, n FROM ({RANKED}) WHERE rn <= 2", "'NAME' must be selected"),
        (
            f"TABLE x AS SELECT name, COUNT(*) FROM ({RANKED}) WHERE rn < 3 GROUP BY name",
            "selected as they are",
        ),
        (
            "TABLE x AS SELECT id, r FROM (SELECT id, RANK() OVER (ORDER BY n) AS r FROM s)"
            " WHERE r < 3",
            "Only ROW_NUMBER",
        ),
        (
            "STREAM x AS SELECT v, r FROM (SELECT v, ROW_NUMBER() OVER (ORDER BY id) AS r FROM t)"
            " WHERE r < 3",
            "a table is a table",
        ),
        (
            "TABLE x AS SELECT n, r FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY id ORDER BY n)"
            " AS r FROM s) WHERE r < 3",
            "must be selected beside it",
        ),
        (
            "TABLE x AS SELECT n, r FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY tags) AS r FROM s)"
            " WHERE r < 3",
            "has no order",
        ),
        (
            "TABLE x AS SELECT n, r FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY n) AS r FROM s"
            " LIMIT 5) WHERE r < 3",
            "SELECT, FROM and WHERE only",
        ),
        (f"TABLE x AS SELECT name, rn FROM ({RANKED}) WHERE rn < 3 ORDER BY n", "no end to sort"),
    ],
)
def test_rankings_that_cannot_go_on_say_why(statement: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        plan(f"CREATE {statement};")


def test_a_ranking_is_replaced_only_by_one_with_the_same_places() -> None:
    made = f"CREATE TABLE x AS SELECT name, n FROM ({RANKED}) WHERE rn = 1;"
    known = catalogue(DECLARED + made)
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    for changed in (made.replace("name, n FROM", "name, n, id FROM"), made):
        (statement,) = parse_statements(changed.replace("CREATE", "CREATE OR REPLACE"))
        assert isinstance(planner.plan(statement, known, number=9), Started)
    (statement,) = parse_statements(
        made.replace("CREATE", "CREATE OR REPLACE").replace("n DESC", "n ASC")
    )
    with pytest.raises(OrionError, match="groups, windows or joins otherwise"):
        planner.plan(statement, known, number=9)


@pytest.mark.parametrize(
    ("select", "columns"),
    [
        (
            "STREAM x AS SELECT s.id, n FROM s JOIN s2 WITHIN 1 HOUR"
            " ON n < s2.other AND s.id = s2.id",
            "`S_ID` INTEGER KEY, `N` BIGINT",
        ),
        (
            "STREAM x AS SELECT s.id AS a, n FROM s FULL JOIN s2 WITHIN 1 HOUR ON n < s2.other",
            "`A` INTEGER, `N` BIGINT",
        ),
        (
            "STREAM x AS SELECT s.id, v FROM s LEFT JOIN t ON s.id = t.id AND n > 3",
            "`S_ID` INTEGER KEY, `V` STRING",
        ),
    ],
)
def test_joins_may_have_further_conditions(select: str, columns: str) -> None:
    found = plan(f"CREATE {select};")
    assert found.sink.schema_text() == columns
    join = found.plan.step.input
    assert isinstance(join, step.JoinStep)
    assert join.condition is not None


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ("STREAM x AS SELECT s.id, v FROM s JOIN t ON s.n > 3", "two expressions are equal"),
        (
            "TABLE x AS SELECT t.id, w FROM t FULL JOIN t2 ON t.id = t2.id AND v < w",
            "would share one key",
        ),
        (
            "STREAM x AS SELECT s.id, n FROM s JOIN s2 WITHIN 1 HOUR ON s.id = s2.id"
            " AND s.name = s2.name",
            "there are more",
        ),
    ],
)
def test_joins_whose_conditions_cannot_be_kept_say_why(select: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        plan(f"CREATE {select};")


MADE = "CREATE TABLE made AS SELECT id, COUNT(*) AS c FROM s GROUP BY id;"


def replaced(text: str) -> Started:
    (statement,) = parse_statements(text)
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    change = planner.plan(statement, catalogue(DECLARED + MADE), number=40)
    assert isinstance(change, Started)
    return change


def test_a_table_that_means_something_else_is_made_anew_beside_the_old_one() -> None:
    change = replaced(
        "CREATE OR REPLACE TABLE made WITH (REBUILD=true) AS"
        " SELECT id, SUM(n) AS c, MAX(n) AS m FROM s WHERE n > 1 GROUP BY id;"
    )
    assert (change.query, change.replaces, change.start) == ("CTAS_MADE_40", False, "earliest")
    assert change.predecessor is not None
    assert change.predecessor.query == "CTAS_MADE_7"
    assert change.predecessor.sink.schema_text() == "`ID` INTEGER PRIMARY KEY, `C` BIGINT"
    known = change.apply(catalogue(DECLARED + MADE))
    assert known.writers_of("MADE") == ["CTAS_MADE_40"]


def test_a_table_may_be_made_anew_again_before_its_query_is_in_place() -> None:
    anew = "CREATE OR REPLACE TABLE made WITH (REBUILD=true) AS SELECT id, {} FROM s GROUP BY id;"
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    known = catalogue(DECLARED + MADE)
    chains = []
    for number, text in enumerate(
        (
            anew.format("SUM(n) AS c"),
            anew.format("MAX(n) AS c"),
            "CREATE OR REPLACE TABLE made AS SELECT id, MAX(n) AS c FROM s WHERE n > 1"
            " GROUP BY id;",
        )
    ):
        (statement,) = parse_statements(text)
        change: Started | None = planner.plan(statement, known, number=40 + number)  # type: ignore[assignment]
        assert isinstance(change, Started)
        known = change.apply(known)
        chain = []
        while change is not None:
            chain.append((change.query, change.replaces))
            change = change.predecessor
        chains.append(chain)
    assert chains == [
        [("CTAS_MADE_40", False), ("CTAS_MADE_7", False)],
        [("CTAS_MADE_41", False), ("CTAS_MADE_40", False), ("CTAS_MADE_7", False)],
        [("CTAS_MADE_41", True), ("CTAS_MADE_40", False), ("CTAS_MADE_7", False)],
    ]


def test_an_incompatible_replacement_names_the_way_to_make_it_anew() -> None:
    with pytest.raises(OrionError, match="REBUILD=true"):
        replaced("CREATE OR REPLACE TABLE made AS SELECT id, SUM(n) AS c FROM s GROUP BY id;")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "TABLE made WITH (REBUILD=true) AS SELECT id, MAX(name) AS c FROM s GROUP BY id",
            "change",
        ),
        (
            "TABLE t WITH (REBUILD=true, KAFKA_TOPIC='t') AS SELECT id, v, ref FROM t",
            "no query writes it",
        ),
    ],
)
def test_what_is_made_anew_keeps_its_columns_and_its_topic(text: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        replaced(f"CREATE OR REPLACE {text};")


def test_a_stream_is_not_made_anew() -> None:
    made = "CREATE STREAM copied AS SELECT id, n FROM s;"
    (statement,) = parse_statements(
        "CREATE OR REPLACE STREAM copied WITH (REBUILD=true) AS SELECT id, n FROM s WHERE n > 1;"
    )
    planner = Planner(FUNCTIONS, FormatRules(MemorySchemas()))
    with pytest.raises(OrionError, match="what it has written stays"):
        planner.plan(statement, catalogue(DECLARED + made), number=40)
