"""Rules of statements that hold wherever a name, a key or a window stands."""

import pytest

from orion.command import FormatRules
from orion.formats import MemorySchemas
from orion.model import OrionError
from orion.sql import (
    Catalogue,
    Planner,
    Started,
    built_in_functions,
    parse_statements,
    plan_query,
    plan_row,
    step,
    tree,
)

FUNCTIONS = built_in_functions()
WITH = "WITH (KAFKA_TOPIC='x', VALUE_FORMAT='JSON'"
DECLARED = f"""
CREATE STREAM s (id INT KEY, name STRING, n BIGINT, d DECIMAL(4,2), tags ARRAY<STRING>, day DATE,
  ts TIMESTAMP, place STRUCT<town STRING, zip INT>) {WITH});
CREATE STREAM s2 (id INT KEY, other INT) {WITH});
CREATE STREAM s3 (id INT KEY, third INT) {WITH});
CREATE STREAM hourly (id INT KEY, v INT) {WITH}, WINDOW_TYPE='TUMBLING', WINDOW_SIZE='1 HOUR');
CREATE STREAM bare (id INT KEY, v INT) WITH (KAFKA_TOPIC='x', FORMAT='KAFKA');
CREATE TABLE t (id INT PRIMARY KEY, v STRING) {WITH});
CREATE TABLE pairs (a INT PRIMARY KEY, b INT PRIMARY KEY, w STRING)
  WITH (KAFKA_TOPIC='x', FORMAT='JSON');
"""


def planner() -> Planner:
    return Planner(FUNCTIONS, FormatRules(MemorySchemas()))


def after(text: str, known: Catalogue) -> Catalogue:
    for number, statement in enumerate(parse_statements(text)):
        known = planner().plan(statement, known, number=number).apply(known)
    return known


KNOWN = after(DECLARED, Catalogue())


def columns(text: str) -> str:
    (statement,) = parse_statements(f"CREATE {text};")
    change = planner().plan(statement, KNOWN, number=90)
    assert isinstance(change, Started)
    return change.sink.schema_text()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE STREAM o AS SELECT id, ROWTIME FROM s2;", "'ROWTIME' is a column that every"),
        ("CREATE STREAM o AS SELECT id, s2.ROWOFFSET FROM s2;", "'ROWOFFSET' is a column"),
        ("CREATE STREAM o AS SELECT id, other AS `rowtime` FROM s2;", "'rowtime' is a column"),
        ("CREATE STREAM o AS SELECT id, WINDOWSTART, v FROM hourly;", "'WINDOWSTART' is a column"),
        ("ALTER STREAM s2 ADD COLUMN ROWTIME BIGINT;", "'ROWTIME' is a column that every"),
        ("ALTER STREAM s2 ADD x INT, ADD COLUMN x STRING;", "'X' exists already"),
        ("ALTER STREAM bare ADD x INT;", "KAFKA carries one column"),
    ],
)
def test_a_name_is_one_columns_own(text: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        after(text, KNOWN)


def test_an_answer_shows_what_every_record_has() -> None:
    shown, renamed = parse_statements(
        "SELECT ROWTIME, id FROM s2 EMIT CHANGES; SELECT id AS ROWTIME FROM s2 EMIT CHANGES;"
    )
    assert isinstance(shown, tree.SelectStatement)
    assert isinstance(renamed, tree.SelectStatement)
    found = plan_query(shown.query, KNOWN, FUNCTIONS)
    assert [named.name for named in found.value] == ["ROWTIME", "ID"]
    with pytest.raises(OrionError, match="its name is reserved"):
        plan_query(renamed.query, KNOWN, FUNCTIONS)


@pytest.mark.parametrize(
    ("clauses", "word"),
    [
        ("FROM s WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY id HAVING WINDOWSTART > 1", "HAVING"),
        ("FROM hourly WINDOW TUMBLING (SIZE 1 HOUR) WHERE WINDOWEND > 1 GROUP BY id", "WHERE"),
        ("FROM hourly WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY id, WINDOWSTART", "GROUP BY"),
    ],
)
def test_a_windows_bounds_are_only_selected(clauses: str, word: str) -> None:
    with pytest.raises(OrionError, match=f"cannot stand in {word} beside a WINDOW"):
        columns(f"TABLE o AS SELECT id, COUNT(*) AS c {clauses}")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "TABLE o WITH (KEY_FORMAT='JSON') AS SELECT id, WINDOWSTART AS w, COUNT(*) AS c"
            " FROM hourly GROUP BY id, WINDOWSTART",
            "`ID` INTEGER PRIMARY KEY, `W` BIGINT PRIMARY KEY, `C` BIGINT",
        ),
        (
            "STREAM o AS SELECT id, CAST(id AS INT) AS copy FROM s",
            "`ID` INTEGER KEY, `COPY` INTEGER",
        ),
        (
            "STREAM o AS SELECT * FROM s2 JOIN s3 WITHIN 1 HOUR ON s2.id = s3.id"
            " JOIN plain WITHIN 1 HOUR ON s3.id = plain.id",
            "`S2_ID` INTEGER KEY, `S2_OTHER` INTEGER, `S3_ID` INTEGER, `S3_THIRD` INTEGER,"
            " `PLAIN_ID` INTEGER, `PLAIN_V` INTEGER",
        ),
        (
            "STREAM o AS SELECT s3.id, s2.id, third FROM s2 JOIN s3 WITHIN 1 HOUR"
            " ON s2.id = s3.id JOIN plain WITHIN 1 HOUR ON plain.id = s3.id",
            "`S2_ID` INTEGER KEY, `S3_ID` INTEGER, `THIRD` INTEGER",
        ),
        (
            "STREAM o AS SELECT id, day < ts AS earlier, ts BETWEEN day AND '2026' AS inside"
            " FROM s",
            "`ID` INTEGER KEY, `EARLIER` BOOLEAN, `INSIDE` BOOLEAN",
        ),
    ],
)
def test_a_query_gives_these_columns(text: str, found: str) -> None:
    known = after(f"CREATE STREAM plain (id INT KEY, v INT) {WITH});", KNOWN)
    (statement,) = parse_statements(f"CREATE {text};")
    change = planner().plan(statement, known, number=90)
    assert isinstance(change, Started)
    assert change.sink.schema_text() == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("STREAM o AS SELECT CAST(id AS INT) AS id, name FROM s", "'ID' must be selected"),
        (
            "TABLE o AS SELECT id AS name, COUNT(*) FROM s GROUP BY id, name",
            "'NAME' must be selected",
        ),
        ("TABLE o AS SELECT COUNT(*) FROM s GROUP BY id + 1", r"'\(`ID` \+ 1\)' must be selected"),
        ("STREAM o AS SELECT * FROM hourly PARTITION BY v", "not for windowed sources"),
        (
            "STREAM o WITH (KEY_FORMAT='JSON') AS SELECT name, id FROM s PARTITION BY name, s.name",
            "named twice in PARTITION BY",
        ),
        (
            "TABLE o WITH (KEY_FORMAT='JSON') AS SELECT name, COUNT(*) FROM s"
            " GROUP BY name, s.name",
            "named twice in GROUP BY",
        ),
        ("TABLE o AS SELECT a, b, v FROM pairs JOIN t ON pairs.a = t.id", "has the key A, B"),
        (
            "STREAM o AS SELECT id, CASE WHEN n > 1 THEN EXPLODE(tags) ELSE 'a' END AS e FROM s",
            "cannot stand in CASE",
        ),
        (
            "STREAM o AS SELECT id, TRANSFORM(tags, name => UCASE(name)) AS l FROM s",
            "parameter 'NAME' has the name of a column",
        ),
        (
            "STREAM o AS SELECT id, TRANSFORM(ARRAY[tags], x => TRANSFORM(x, x => x)) AS l FROM s",
            "parameter 'X' has the name",
        ),
    ],
)
def test_a_query_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        columns(text)


def test_keys_that_are_not_selected_are_told_apart_from_what_is() -> None:
    (statement,) = parse_statements(
        "SELECT id AS name, COUNT(*) FROM s GROUP BY id, name EMIT CHANGES;"
    )
    assert isinstance(statement, tree.SelectStatement)
    node = plan_query(statement.query, KNOWN, FUNCTIONS).step.input
    assert isinstance(node, step.Aggregate)
    assert [key.name for key in node.keys] == ["NAME", "NAME_1"]


def test_lambdas_side_by_side_may_name_their_parameters_alike() -> None:
    text = "TRANSFORM(tags, x => UCASE(x)) AS a, FILTER(tags, x => LEN(x) > 1) AS b"
    assert columns(f"STREAM o AS SELECT id, {text} FROM s").count("ARRAY<STRING>") == 2


def test_windows_that_are_answered_for_different_times_meet() -> None:
    made = "CREATE TABLE {} AS SELECT id, COUNT(*) AS c FROM {} WINDOW TUMBLING ({}) GROUP BY id;"
    known = after(
        made.format("a", "s2", "SIZE 1 HOUR")
        + made.format("b", "s3", "SIZE 1 HOUR, RETENTION 9 DAYS"),
        KNOWN,
    )
    joined = "CREATE TABLE o AS SELECT a.id, a.c, b.c FROM a JOIN b ON a.id = b.id;"
    assert after(joined, known).sources["O"].windowed is not None


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ("KAFKA_TOPIC='', VALUE_FORMAT='JSON'", "KAFKA_TOPIC is empty"),
        (
            "VALUE_FORMAT='JSON', WINDOW_TYPE='TUMBLING', WINDOW_SIZE='0 SECONDS'",
            "'0 SECONDS' is no duration above 0",
        ),
        (
            "VALUE_FORMAT='AVRO', VALUE_SCHEMA_FULL_NAME='a', VALUE_AVRO_SCHEMA_FULL_NAME='b'",
            "given twice",
        ),
        (
            "VALUE_FORMAT='PROTOBUF', VALUE_PROTOBUF_NULLABLE_REPRESENTATION='maybe'",
            "'maybe' is not known",
        ),
    ],
)
def test_a_property_says_something(properties: str, reason: str) -> None:
    with pytest.raises(OrionError, match=reason):
        after(f"CREATE STREAM o (id INT KEY, v INT) WITH ({properties});", KNOWN)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("INTO s2 WITH (QUERY_ID='insertquery_1')", "cannot be the id"),
        ("INTO s2 WITH (QUERY_ID='a-b')", "cannot be the id"),
        ("INTO s2 WITH (QUERY_ID='Mine')", "'MINE' exists already"),
        ("INTO hourly", "has windows in its keys"),
    ],
)
def test_an_insert_says_what_it_cannot_be(text: str, reason: str) -> None:
    known = after("INSERT INTO s2 WITH (QUERY_ID='mine') SELECT * FROM s2;", KNOWN)
    with pytest.raises(OrionError, match=reason):
        after(f"INSERT {text} SELECT * FROM s2;", known)


def test_a_value_that_does_not_fit_is_refused() -> None:
    (statement,) = parse_statements("INSERT INTO s (id, d) VALUES (1, 123);")
    assert isinstance(statement, tree.InsertValues)
    with pytest.raises(OrionError, match=r"'123' is no DECIMAL\(4, 2\)"):
        plan_row(statement, KNOWN, FUNCTIONS)


def test_a_struct_without_fields_has_nulls() -> None:
    (statement,) = parse_statements("INSERT INTO s (id, place) VALUES (1, STRUCT());")
    assert isinstance(statement, tree.InsertValues)
    row = plan_row(statement, KNOWN, FUNCTIONS)
    assert row.value is not None
    assert row.value["PLACE"] == {"TOWN": None, "ZIP": None}


@pytest.mark.parametrize(
    ("query", "form"),
    [
        ("TABLE o AS SELECT v, w, COUNT(*) FROM keyless GROUP BY v, w", "JSON"),
        ("STREAM o AS SELECT * FROM keyless PARTITION BY v", "JSON"),
        ("STREAM o AS SELECT * FROM keyless", "NONE"),
        ("TABLE o AS SELECT id, COUNT(*) FROM s2 GROUP BY id", "KAFKA"),
        ("TABLE o WITH (KEY_FORMAT='AVRO') AS SELECT v, COUNT(*) FROM keyless GROUP BY v", "AVRO"),
    ],
)
def test_a_key_where_there_was_none_has_the_default_format(query: str, form: str) -> None:
    known = after(f"CREATE STREAM keyless (v INT, w INT) {WITH}, KEY_FORMAT='NONE');", KNOWN)
    (statement,) = parse_statements(f"CREATE {query};")
    properties = {"ksql.persistence.default.format.key": "json"}
    by_default = Planner(FUNCTIONS, FormatRules(MemorySchemas()), properties)
    change = by_default.plan(statement, known, number=90)
    assert isinstance(change, Started)
    assert change.sink.key_format.name == form
