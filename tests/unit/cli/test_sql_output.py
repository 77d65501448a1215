"""Answers of SQL fit the screen, and say the same in every form."""

import json
from typing import Any

import pytest

from orion.cli.sql_output import Form, Printer, describe, type_text
from orion.cli.sql_session import _parts
from orion.cli.sql_shell import is_whole

STREAMS = {
    "@type": "streams",
    "streams": [
        {
            "type": "STREAM",
            "name": "A_STREAM_WITH_QUITE_A_LONG_NAME_INDEED",
            "topic": "and-a-topic-whose-name-is-longer-than-any-column-would-like",
            "keyFormat": "KAFKA",
            "valueFormat": "JSON",
            "isWindowed": False,
        }
    ],
}


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_tables_fit_the_screen(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    Printer(Form.TABLE).entity(STREAMS)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= max(width, 56)
    rule = next(number for number, line in enumerate(lines) if line.startswith("+"))
    cells = "".join(line.split("|")[1].strip() for line in lines[rule + 1 :])
    assert cells == "A_STREAM_WITH_QUITE_A_LONG_NAME_INDEED"


def test_rows_look_as_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    names, row = ["ID", "V"], [1, {"a": [True, None]}]
    for form in Form:
        printer = Printer(form)
        printer.header(names)
        printer.row(names, row)
    out = capsys.readouterr().out
    assert '{"ID":1,"V":{"a":[true,null]}}' in out
    assert 'ID,V\n1,"{""a"":[true,null]}"' in out
    assert "| 1" in out


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ({"type": "BIGINT"}, "BIGINT"),
        ({"type": "ARRAY", "memberSchema": {"type": "STRING"}}, "ARRAY<STRING>"),
        ({"type": "MAP", "memberSchema": {"type": "INTEGER"}}, "MAP<STRING, INTEGER>"),
        (
            {"type": "STRUCT", "fields": [{"name": "A", "schema": {"type": "DATE"}}]},
            "STRUCT<A DATE>",
        ),
        ({"type": "DECIMAL", "parameters": {"precision": 4, "scale": 2}}, "DECIMAL(4, 2)"),
    ],
)
def test_types_read_as_sql(shape: dict[str, Any], text: str) -> None:
    assert type_text(shape) == text


def test_an_unknown_entity_is_shown_as_it_is() -> None:
    _, _, (words,) = describe({"@type": "something_new", "a": 1})
    assert json.loads(words) == {"@type": "something_new", "a": 1}


@pytest.mark.parametrize(
    ("script", "parts"),
    [
        ("SHOW STREAMS; SHOW TABLES;", ["SHOW STREAMS;", "SHOW TABLES;"]),
        ("SELECT ';' FROM a EMIT CHANGES;", ["SELECT ';' FROM a EMIT CHANGES;"]),
        ("SPOOL 'x';\nSHOW STREAMS;\nSPOOL OFF;", ["SPOOL 'x';", "SHOW STREAMS;", "SPOOL OFF;"]),
        ("SHOW STREAMS", ["SHOW STREAMS"]),
        ("  \n", []),
    ],
)
def test_scripts_are_cut_into_statements(script: str, parts: list[str]) -> None:
    found = list(_parts(script))
    assert [part.strip() for part in found] == parts
    # Each where it stands, so that the lines of errors are the script's.
    assert [part.splitlines()[-1] for part in found if part.count("\n")] == [
        line for line in script.splitlines()[1:] if line.strip(" ") and "SPOOL" not in line
    ]


@pytest.mark.parametrize(
    ("text", "whole"),
    [("SHOW STREAMS", False), ("SHOW STREAMS;", True), ("exit", True), ("", True), ("help", True)],
)
def test_a_statement_ends_with_a_semicolon(text: str, whole: bool) -> None:
    assert is_whole(text) is whole
