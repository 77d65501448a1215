"""Errors: they show the place, what could stand there, and the nearest word; and they come fast."""

import time

import pytest

from orion.model import Array, Decimal, Field, InvalidInputError, Map, OrionError, Scalar, Struct
from orion.sql.parse import (
    DuplicateFieldError,
    SqlSyntaxError,
    SqlTooDeepError,
    SqlTooLongError,
    UnknownTypeError,
    UnknownVariableError,
    VariableValueError,
    parse_expression,
    parse_statement,
    parse_statements,
    parse_type,
    resolve_type,
    tree,
)


def error_of(text: str) -> SqlSyntaxError:
    with pytest.raises(SqlSyntaxError) as caught:
        parse_statements(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "column", "hint"),
    [
        ("SELECT a FORM plays;", 1, 15, "Did you mean 'FROM'?"),
        ("SELCT * FROM plays;", 1, 1, "Did you mean 'SELECT'?"),
        ("SHOW TABLES;\nCREATE STREEM s;", 2, 8, "Did you mean 'STREAM'?"),
        ("SELECT *\n  FROM plays\n  WHER a = 1;", 3, 8, "Did you mean 'WHERE'?"),
        ("SELECT a FROM x EMIT CHANGE;", 1, 22, "Did you mean 'CHANGES'?"),
        ("CREATE STREAM s (at INT);", 1, 18, "As a name, write it in backquotes: `AT`."),
    ],
)
def test_an_error_names_place_and_nearest_word(
    text: str, line: int, column: int, hint: str
) -> None:
    error = error_of(text)
    assert (error.line, error.column, error.fix) == (line, column, hint)
    assert f"line {line}, column {column}" in str(error)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("CREATE STREAM s (a DECIMAL(39, 2));", "39", "1 to 38, not 39"),
        (
            "SELECT COUNT(*) FROM s WINDOW TUMBLING (SIZE 100000001 DAYS) GROUP BY a;",
            "100000001",
            "at most 100,000,000 days",
        ),
    ],
)
def test_what_is_too_large_is_shown_where_it_stands(text: str, place: str, reason: str) -> None:
    error = error_of(text)
    assert reason in str(error)
    assert error.column == text.index(place) + 1


def test_an_error_underlines_what_it_found() -> None:
    error = error_of("SELECT a\nFROM plays GROUP id;")
    assert error.excerpt == "  FROM plays GROUP id;\n             ^^^^^"
    assert error.found == "'GROUP'"
    assert "GROUP BY" in error.expected


def test_a_long_line_is_shown_around_the_place() -> None:
    error = error_of("SELECT " + "a, " * 500 + "= FROM x;")
    assert all(len(line) < 80 for line in error.excerpt.splitlines())
    shown, marks = error.excerpt.splitlines()
    assert shown[marks.index("^")] == "="


@pytest.mark.parametrize("text", ["SELECT 'a", 'SELECT "a', "SELECT `a", "SELECT /* a", "a § b"])
def test_what_never_ends_is_said_where_it_begins(text: str) -> None:
    assert error_of(text).column > 1


def test_deep_nesting_is_refused_in_time() -> None:
    texts = [
        "(" * 4000 + "1" + ")" * 4000,
        "NOT " * 5000 + "a",
        "- " * 5000 + "a",
        " + ".join(["a"] * 4000),
        "a" + "->b" * 4000,
        "a" + "[1]" * 3000,
        "f(" * 3000,
        "CASE WHEN " * 3000,
    ]
    for text in texts:
        start = time.process_time()
        with pytest.raises(SqlTooDeepError):
            parse_expression(text)
        assert time.process_time() - start < 1
    with pytest.raises(SqlTooDeepError):
        parse_type("ARRAY<" * 3000)
    with pytest.raises(SqlTooDeepError):
        parse_statements("EXPLAIN " * 3000)


def test_long_texts_are_refused() -> None:
    with pytest.raises(SqlTooLongError):
        parse_statements("SELECT '" + "a" * (1 << 20) + "' FROM x;")
    with pytest.raises(SqlTooLongError):
        parse_statements("SELECT " + ", ".join(["a"] * 10_000) + " FROM x;")


def test_variables_are_filled_in_statement_by_statement() -> None:
    script = "DEFINE t = 'plays'; SELECT ${n}, '${t}-${other}' FROM ${T}; UNDEFINE t; SHOW TABLES;"
    _, select, _, _ = parse_statements(script, {"n": "-5"})
    assert select.text == "SELECT -5, 'plays-${other}' FROM plays;"


def test_a_variable_cannot_add_to_a_statement() -> None:
    with pytest.raises(VariableValueError):
        parse_statements("SELECT * FROM ${t};", {"t": "a; DROP TABLE b"})
    (select,) = parse_statements("SELECT '${t}' FROM x;", {"t": "it's"})
    assert select.text == "SELECT 'it''s' FROM x;"


def test_an_unknown_variable_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UnknownVariableError, match="Did you mean 'TOPIC'"):
        parse_statements("SELECT * FROM ${TOPC};", {"topic": "x"})


def test_one_statement_is_one_statement() -> None:
    for text in ("", "SHOW TABLES; SHOW STREAMS;"):
        with pytest.raises(InvalidInputError, match="one statement"):
            parse_statement(text)


def test_types_are_resolved() -> None:
    written = parse_type("STRUCT<a INT, b MAP<VARCHAR, DECIMAL(4, 1)>, c address ARRAY, d STRING>")
    made = {"ADDRESS": Scalar.BYTES}
    assert resolve_type(written, made) == Struct(
        (
            Field("A", Scalar.INTEGER),
            Field("B", Map(Scalar.STRING, Decimal(4, 1))),
            Field("C", Array(Scalar.BYTES)),
            Field("D", Scalar.STRING),
        )
    )


def test_unknown_and_doubled_names_in_types_are_said() -> None:
    with pytest.raises(UnknownTypeError, match="Did you mean 'STRING'"):
        resolve_type(parse_type("STRIN"))
    with pytest.raises(DuplicateFieldError, match="'A'"):
        resolve_type(parse_type("STRUCT<a INT, A INT>"))
    for text in ("DECIMAL(0, 0)", "DECIMAL(2, 3)", "DECIMAL"):
        with pytest.raises(SqlSyntaxError):
            parse_type(text)


def test_errors_are_orion_errors_with_their_values() -> None:
    error = UnknownTypeError("X", tree.Place(), [])
    assert isinstance(error, OrionError)
    assert error.name == "X"
