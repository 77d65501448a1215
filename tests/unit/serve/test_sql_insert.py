"""Rows of /inserts-stream: the columns that names mean, and numbers with every digit."""

from decimal import Decimal

import pytest

from orion.command import FormatRules
from orion.serve.sql.insert import read_row
from orion.serve.sql.request import BadRequestError
from orion.serve.sql.value import load
from orion.sql import Catalogue, Declared, Planner, Source, built_in_functions, parse_statements


def declared(columns: str) -> Source:
    text = f"CREATE STREAM s ({columns}) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');"
    (statement,) = parse_statements(text)
    change = Planner(built_in_functions(), FormatRules(None), {}).plan(
        statement, Catalogue(), number=1
    )
    assert isinstance(change, Declared)
    return change.source


def test_names_count_as_sql_reads_them() -> None:
    source = declared("id STRING KEY, `lower` INT, upper INT")
    row = read_row(source, {"Id": "a", "`lower`": 1, "upper": 2})
    assert (row.key, row.value) == ({"ID": "a"}, {"lower": 1, "UPPER": 2})
    assert read_row(source, {"lower": 1, "`upper`": 2}).value == row.value
    both = declared("id STRING KEY, `n` INT, n INT")
    assert read_row(both, {"`n`": 1, "n": 2}).value == {"n": 1, "N": 2}
    for name in ("other", "`Lower`"):
        with pytest.raises(BadRequestError):
            read_row(source, {name: 1})


def test_numbers_keep_every_digit() -> None:
    source = declared("id STRING KEY, d DECIMAL(38, 18), w DECIMAL(38, 0), x DOUBLE")
    line = b'{"d": 12345678901234567890.123456789012345678, "w": 12345678901234567890123, "x": 1.5}'
    row = read_row(source, load(line, [column.type for column in source.columns]))
    assert row.value == {
        "D": Decimal("12345678901234567890.123456789012345678"),
        "W": Decimal("12345678901234567890123"),
        "X": 1.5,
    }
