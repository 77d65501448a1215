"""Values in answers: nothing of a number is lost, and what is no number is told from NULL."""

import json
import math
from decimal import Decimal
from typing import Any

import pytest

from orion.model import Array, Map, Scalar, Struct, Type
from orion.model import Decimal as Digits
from orion.model import Field as Column
from orion.serve.sql.value import dump, load, show_rows, shower

MONEY = Digits(38, 18)
MANY = "12345678901234567890.123456789012345678"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Scalar.DOUBLE, math.nan, '"NaN"'),
        (Scalar.DOUBLE, -math.inf, '"-Infinity"'),
        (Scalar.DOUBLE, -0.0, "-0.0"),
        (Scalar.DOUBLE, None, "null"),
        (Array(Scalar.DOUBLE), [1.5, math.inf, None], '[1.5,"Infinity",null]'),
        (Map(Scalar.STRING, Scalar.DOUBLE), {"a": math.nan}, '{"a":"NaN"}'),
        (Struct((Column("A", Scalar.DOUBLE),)), {"A": math.inf}, '{"A":"Infinity"}'),
        (Digits(10, 8), Decimal("0E-8"), "0.00000000"),
        (Digits(10, 8), Decimal("1.2E-7"), "0.00000012"),
        (Digits(38, 0), Decimal("1E+30"), "1" + "0" * 30),
        (MONEY, Decimal(MANY), MANY),
        (Scalar.TIMESTAMP, 1_700_000_000_000_000, '"+55840-11-08T22:13:20.000"'),
        (Scalar.TIMESTAMP, -62_135_596_800_001, '"0000-12-31T23:59:59.999"'),
        (Scalar.DATE, 2**31 - 1, '"+5881580-07-11"'),
        (Scalar.DATE, -(2**31), '"-5877641-06-23"'),
        (Scalar.BIGINT, -(2**63), "-9223372036854775808"),
    ],
)
def test_a_value_is_shown(kind: Type, value: Any, text: str) -> None:
    assert dump(show_rows([kind], [(value,)])).decode() == f"[[{text}]]"
    show = shower([kind])
    assert dump((value,) if show is None else show((value,))).decode() == f"[{text}]"


def test_rows_of_numbers_are_taken_as_they_are() -> None:
    rows: list[tuple[Any, ...]] = [(1.5, None), (None, "a"), (1e308, "b")]
    assert show_rows([Scalar.DOUBLE, Scalar.STRING], rows) is rows
    # Their sum is none, and each of them is.
    large: list[tuple[Any, ...]] = [(1e308,), (1e308,)]
    assert show_rows([Scalar.DOUBLE], large) == large


def test_numbers_of_rows_with_decimals_go_on_as_they_came() -> None:
    text = f'{{"A":{MANY},"B":123456789012345678901234567890,"C":1.0E300,"D":[1,null,"x"]}}'
    assert dump(load(text.encode(), [Array(MONEY)])).decode() == text
    assert load(b'{"A":1.5}', [Scalar.DOUBLE]) == {"A": 1.5}


@pytest.mark.parametrize("text", [b"{no", b"NaN", b'"\xff"', b"[" * 5_000])
@pytest.mark.parametrize("kind", [MONEY, Scalar.STRING])
def test_what_is_no_json_is_no_value(text: bytes, kind: Type) -> None:
    with pytest.raises(ValueError, match=r"."):
        load(text, [kind])


def test_answers_are_json() -> None:
    rows: list[tuple[Any, ...]] = [(math.nan, Decimal("0E-18"))]
    shown = show_rows([Scalar.DOUBLE, MONEY], rows)
    assert json.loads(dump(shown), parse_float=str) == [["NaN", "0.000000000000000000"]]
