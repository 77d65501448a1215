"""Plain values and columns: each type there and back, moments beyond Python's calendar too."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from orion.formats import arrow_type, plain_column, plain_rows, plain_values
from orion.model import Array, Field, Map, Scalar, Struct, Type
from orion.model import Decimal as Digits

FAR = 1_700_000_000_000_000


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Scalar.TIMESTAMP, [0, None, -1, FAR, -62_135_596_800_001]),
        (Scalar.DATE, [0, None, -5, 2**31 - 1, -(2**31)]),
        (Scalar.TIME, [0, None, 86_399_999]),
        (Scalar.DOUBLE, [1.0, None, 2.5]),
        (Array(Scalar.DATE), [[1, None, 2**31 - 1], None, []]),
        (Map(Scalar.STRING, Scalar.TIMESTAMP), [{"a": FAR, "b": None}, None, {}]),
        (Map(Scalar.DATE, Map(Scalar.INTEGER, Scalar.DOUBLE)), [{1: {2: 3.0}}, None]),
        (
            Struct((Field("A", Scalar.TIMESTAMP), Field("B", Array(Digits(5, 2))))),
            [{"A": FAR, "B": [Decimal("1.50"), None]}, None, {"A": None, "B": None}],
        ),
        (
            Array(Map(Scalar.STRING, Struct((Field("D", Scalar.DATE),)))),
            [[{"k": {"D": 3}}, None], None],
        ),
    ],
)
def test_values_go_into_columns_and_back(kind: Type, values: list[Any]) -> None:
    misfits: list[int] = []
    made = plain_column(values, kind, lambda at, _: misfits.append(at))
    assert (made.type, misfits) == (arrow_type(kind), [])
    assert plain_values(made, kind) == values
    assert plain_values(made.slice(1), kind) == values[1:]
    assert plain_values(pa.chunked_array([made, made]), kind) == values * 2
    rows = [None, *({"X": value} for value in values)]
    columns = (Field("X", kind),)
    assert plain_values(plain_rows([*rows], columns), Struct(columns)) == rows


@pytest.mark.parametrize("kind", [Scalar.TIMESTAMP, Scalar.DATE])
def test_what_a_type_cannot_hold_is_null(kind: Type) -> None:
    misfits: list[int] = []
    made = plain_column([1, "x", 2**62, None], kind, lambda at, _: misfits.append(at))
    assert (plain_values(made, kind), misfits) == ([1, None, None, None], [1, 2])
