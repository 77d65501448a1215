"""Expressions in Python: what CAST makes of values, and what goes on where a part fails."""

import math
from decimal import Decimal as Number
from itertools import product
from typing import Any

import pytest

from orion.model import Decimal, Scalar
from orion.sql import built_in_functions, evaluate_or_null, tree
from orion.sql.parse import parse_expression
from orion.sql.plan.errors import TypeMismatchError
from orion.sql.plan.resolve import Resolver
from orion.sql.plan.typed import Input, Typed

COLUMNS = {"I": Scalar.INTEGER, "S": Scalar.STRING, "F": Scalar.DOUBLE, "T": Scalar.TIME}
ROW = {"I": 3, "S": "x", "F": math.inf, "T": 37_805_123}


class Columns:
    def find(self, reference: tree.ColumnRef) -> Typed:
        name = reference.name.text
        return Input(COLUMNS[name], name)


def value(text: str) -> Any:
    node = Resolver(Columns(), built_in_functions()).resolve(parse_expression(text))
    return evaluate_or_null(node, ROW)


@pytest.mark.parametrize(
    ("literal", "kind"),
    [("0.5", Decimal(2, 1)), ("0.005", Decimal(4, 3)), ("12.50", Decimal(4, 2))],
)
def test_a_literal_has_a_digit_before_its_point(literal: str, kind: Decimal) -> None:
    assert Resolver(Columns(), built_in_functions()).resolve(parse_expression(literal)).type == kind


def test_logic_knows_three_values() -> None:
    words = {None: "CAST(NULL AS BOOLEAN)", True: "TRUE", False: "FALSE"}
    for one, other in product(words, words):
        both = {one, other}
        least = False if False in both else None if None in both else True
        most = True if True in both else None if None in both else False
        assert value(f"{words[one]} AND {words[other]}") is least
        assert value(f"{words[one]} OR {words[other]}") is most


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("CAST(' +12 ' AS INT)", 12),
        ("CAST('1.0' AS INT)", None),
        ("CAST('1e3' AS BIGINT)", None),
        ("CAST('2147483648' AS INT)", None),
        ("CAST('1e3' AS DOUBLE)", 1000.0),
        ("CAST('NaN' AS DOUBLE)", None),
        ("CAST('-Infinity' AS DOUBLE)", None),
        ("CAST('1e999' AS DOUBLE)", None),
        ("CAST(' Ye ' AS BOOLEAN)", True),
        ("CAST('maybe' AS BOOLEAN)", False),
        ("CAST('' AS BOOLEAN)", False),
        ("CAST('AQI' AS BYTES)", b"\x01\x02"),
        ("CAST('?' AS BYTES)", None),
        ("CAST(1.005e0 AS DECIMAL(18, 2))", Number("1.01")),
        ("CAST(0.1e0 AS DECIMAL(20, 18))", Number("0.100000000000000000")),
        ("CAST(1e300 AS BIGINT)", 2**63 - 1),
        ("CAST(3000000000 AS INT)", -1294967296),
        ("CAST(T AS STRING)", "10:30:05"),
        ("F % 2", math.nan),
        ("5 % 0e0", math.nan),
    ],
)
def test_numbers_are_read_and_rounded_as_java_does(expression: str, result: Any) -> None:
    assert repr(value(expression)) == repr(result)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("COALESCE(CAST(S AS INT), 0)", 0),
        ("CAST(S AS INT) IS NULL", True),
        ("ARRAY[I / 0, 2]", [None, 2]),
        ("MAP('a' := I / 0, 'b' := 2)", {"a": None, "b": 2}),
        ("STRUCT(a := CAST(S AS INT), b := 2)", {"A": None, "B": 2}),
        ("TRANSFORM(ARRAY['1', 'x'], s => CAST(s AS INT))", [1, None]),
        ("TRANSFORM(ARRAY[1, 0], x => I / x)", None),
        ("IFNULL(I / 0, 5)", 5),
    ],
)
def test_a_part_that_fails_is_null_and_the_others_stay(expression: str, result: Any) -> None:
    assert value(expression) == result


def test_what_has_no_cast_is_refused() -> None:
    with pytest.raises(TypeMismatchError, match="cannot be cast"):
        value("CAST(TO_BYTES(S, 'utf8') AS STRING)")


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("(0e0 / 0e0) = (0e0 / 0e0)", True),
        ("(0e0 / 0e0) IS DISTINCT FROM (0e0 / 0e0)", False),
        ("(0e0 / 0e0) > 1e300", True),
        ("ARRAY[0e0 / 0e0] = ARRAY[0e0 / 0e0]", True),
        ("NULLIF(-(0e0 / 0e0), 0e0 / 0e0)", None),
        ("-0e0 = 0e0", True),
    ],
)
def test_nan_equals_itself_and_follows_all_numbers(expression: str, result: Any) -> None:
    assert value(expression) == result


def test_decimals_have_one_zero() -> None:
    assert str(value("CAST(CAST(-0.01 AS DECIMAL(5, 2)) AS DECIMAL(5, 1))")) == "0.0"
    assert str(value("-1.25 * 0.00")) == "0.0000"
