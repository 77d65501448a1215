"""INSERT INTO … VALUES: what is written, and what is refused before anything is."""

import time
from decimal import Decimal
from typing import Any

import pytest

from orion.command import FormatRules
from orion.model import InvalidInputError
from orion.sql import Catalogue, Planner, built_in_functions, parse_statements, plan_row, tree

FUNCTIONS = built_in_functions()
DECLARED = """CREATE STREAM s (k INT KEY, i INT, b BIGINT, f DOUBLE, d DECIMAL(38, 8), t STRING,
  day DATE, m MAP<STRING, INT>, a ARRAY<INT>) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');"""


def inserted(column: str, value: str) -> Any:
    declared, insert = parse_statements(f"{DECLARED}\nINSERT INTO s ({column}) VALUES ({value});")
    known = Planner(FUNCTIONS, FormatRules(None)).plan(declared, Catalogue(), number=1)
    assert isinstance(insert, tree.InsertValues)
    row = plan_row(insert, known.apply(Catalogue()), FUNCTIONS)
    assert row.value is not None
    return row.value[column.upper()]


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("i", "6 / 4", 1),
        ("i", "' 12 '", 12),
        ("b", "'1e3'", 1000),
        ("f", "1 / 0e0", float("inf")),
        ("d", "'123456789012345678901234567890.5'", Decimal("123456789012345678901234567890.5")),
        ("d", "'0e50'", Decimal(0)),
        ("m", "MAP('a' := 1)", {"a": 1}),
        ("a", "ARRAY[1, '2']", [1, 2]),
        ("t", "UCASE('a')", "A"),
    ],
)
def test_a_value_is_computed(column: str, value: str, found: object) -> None:
    assert inserted(column, value) == found


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("i", "MAX(1)", "cannot stand here"),
        ("t", "EXPLODE(ARRAY['a'])", "cannot stand here"),
        ("i", "1 / 0", "cannot be computed: integer division or modulo by zero"),
        ("d", "1.0 / 0.0", "cannot be computed: division by zero"),
        ("i", "CAST('x' AS INT)", "cannot be computed: 'x' is no number"),
        ("i", "CAST('1.5' AS INT)", "cannot be computed: '1.5' is no whole number"),
        ("i", "CAST('99999999999' AS INT)", "99999999999 does not fit INTEGER"),
        ("d", "CAST(1e300 AS DECIMAL(38, 8))", "does not fit DECIMAL(38, 8)"),
        ("i", "'99999999999'", "'99999999999' is no INTEGER"),
        ("b", "'1_000'", "'1_000' is no BIGINT"),
        ("f", "'1_000'", "'1_000' is no DOUBLE"),
        ("d", "'NaN'", "'NaN' is no DECIMAL(38, 8)"),
        ("i", "'Infinity'", "'Infinity' is no INTEGER"),
        ("m", "MAP(CAST(NULL AS STRING) := 1)", "cannot be computed: A map has no NULL"),
        ("day", "PARSE_DATE('x', 'yyyy')", "cannot be computed"),
        ("t", "REGEXP_EXTRACT('(', 'a')", "cannot be computed"),
    ],
)
def test_a_value_that_cannot_be_computed_is_refused(column: str, value: str, why: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        inserted(column, value)
    assert why in str(refused.value)
    assert "line 3" in str(refused.value)


def test_a_number_of_a_billion_digits_is_refused_at_once() -> None:
    began = time.process_time()
    with pytest.raises(InvalidInputError):
        inserted("b", "'1e999999999'")
    assert time.process_time() - began < 1
