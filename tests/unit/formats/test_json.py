"""What JSON bodies mean to columns, as ksqlDB has it."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal as Exact
from typing import Any

import pyarrow as pa
import pytest

from orion.formats import Format, FormatSpec, codec_of, row_type
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

POINT = Struct((Field("X", Scalar.INTEGER), Field("Name", Scalar.STRING)))


def decode(kind: Type, body: bytes, *, wrap: bool = True) -> tuple[Any, str | None]:
    spec = FormatSpec(Format.JSON, (Field("A", kind),), wrap=wrap)
    decoded = codec_of(spec).decode(pa.array([body], pa.binary()))
    row = decoded.rows[0].as_py()
    return row and row["A"], decoded.reasons[0].as_py()


def encode(kind: Type, value: Any, *, wrap: bool = True) -> bytes | None:
    spec = FormatSpec(Format.JSON, (Field("A", kind),), wrap=wrap)
    found = codec_of(spec).encode(pa.array([{"A": value}], row_type(spec.columns)))
    body: bytes | None = found[0].as_py()
    return body


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Scalar.INTEGER, "5.0", 5),
        (Scalar.INTEGER, '"5"', 5),
        (Scalar.BIGINT, "9223372036854775807", 2**63 - 1),
        (Scalar.DOUBLE, '"2.5"', 2.5),
        (Scalar.DOUBLE, "3", 3.0),
        (Scalar.BOOLEAN, '"TRUE"', True),
        (Scalar.STRING, "1.10", "1.10"),
        (Scalar.STRING, "true", "true"),
        (Scalar.STRING, '{"b": 1.0, "a": [1, null]}', '{"b":1.0,"a":[1,null]}'),
        (Scalar.BYTES, '"AQI="', b"\1\2"),
        (Scalar.TIME, "61000", 61000),
        (Scalar.DATE, "1", date(1970, 1, 2)),
        (Scalar.TIMESTAMP, "1500", datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)),
        (Scalar.TIMESTAMP, '"1970-01-01T00:00:01.5Z"', datetime.fromtimestamp(1.5, UTC)),
        (
            Decimal(30, 10),
            "12345678901234567890.0123456789",
            Exact("12345678901234567890.0123456789"),
        ),
        (Decimal(4, 2), '"1.5"', Exact("1.50")),
        (Array(Scalar.STRING), "[1, null]", ["1", None]),
        (Map(Scalar.STRING, Scalar.INTEGER), '{"k": 1, "j": null}', [("k", 1), ("j", None)]),
        (POINT, '{"x": 1, "NAME": "n", "other": 2}', {"X": 1, "Name": "n"}),
        (POINT, "{}", {"X": None, "Name": None}),
    ],
)
def test_values_are_taken(kind: Type, text: str, expected: Any) -> None:
    assert decode(kind, f'{{"a": {text}}}'.encode()) == (expected, None)
    assert decode(kind, text.encode(), wrap=False) == (expected, None)


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (Scalar.INTEGER, "1.5", "field 'A' is not INTEGER: 1.5"),
        (Scalar.INTEGER, "2147483648", "field 'A' is not INTEGER: 2147483648"),
        (Scalar.INTEGER, "true", "field 'A' is not INTEGER: true"),
        (Scalar.BIGINT, "1e999999999", "field 'A' is not BIGINT: 1E+999999999"),
        (Scalar.BIGINT, '"0x10"', "field 'A' is not BIGINT: \"0x10\""),
        (Decimal(3, 1), "1e999999999", "field 'A' is not DECIMAL(3, 1): 1E+999999999"),
        (Scalar.BOOLEAN, "1", "field 'A' is not BOOLEAN: 1"),
        (Scalar.BYTES, '"?"', "field 'A' is not BYTES: \"?\""),
        (Decimal(3, 1), "1.25", "field 'A' is not DECIMAL(3, 1): 1.25"),
        (Array(Scalar.INTEGER), '[1, "x"]', "field 'A[1]' is not INTEGER: \"x\""),
        (POINT, '{"x": []}', "field 'A.X' is not INTEGER: []"),
        (POINT, "3", "field 'A' is not STRUCT: 3"),
    ],
)
def test_values_that_do_not_fit_are_told(kind: Type, text: str, reason: str) -> None:
    body = f'{{"A": {text}}}'.encode()
    assert decode(kind, body) == (None, reason)
    # The same in a batch that is large enough for the clean path.
    spec = FormatSpec(Format.JSON, (Field("A", kind),))
    good = codec_of(spec).encode(pa.array([{"A": None}] * 500, row_type(spec.columns)))
    decoded = codec_of(spec).decode(pa.concat_arrays([good, pa.array([body], pa.binary())]))
    assert decoded.reasons.to_pylist() == [None] * 500 + [reason]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "the body is empty"),
        (b"{", "the body is not valid JSON"),
        (b"\xff", "the body is not valid UTF-8"),
        (b"[1]", "the body is not an object: [1]"),
        (b"null", None),
    ],
)
def test_bodies_that_are_no_row(body: bytes, reason: str | None) -> None:
    assert decode(Scalar.INTEGER, body) == (None, reason)


def test_a_codec_reads_on_after_a_body_that_cannot_be_read() -> None:
    spec = FormatSpec(Format.JSON, (Field("A", Scalar.INTEGER),))
    codec = codec_of(spec)
    for _ in range(2):
        decoded = codec.decode(pa.array([b'{"A": 1}', b'{"A": 1', b'{"A": "x"}'], pa.binary()))
        assert decoded.rows.to_pylist()[0] == {"A": 1}
        assert decoded.reasons.is_valid().to_pylist() == [False, True, True]


def test_the_exact_name_wins() -> None:
    assert decode(Scalar.INTEGER, b'{"a": 1, "A": 2}') == (2, None)


@pytest.mark.parametrize(
    ("name", "rare"), [("A", rb"\u0041"), ('A"B', rb"A\"B"), ("A/B", rb"A\/B"), ("Ä", rb"\u00c4")]
)
def test_the_exact_name_wins_however_it_is_written(name: str, rare: bytes) -> None:
    codec = codec_of(FormatSpec(Format.JSON, (Field(name, Scalar.INTEGER),)))
    common = json.dumps({name.lower(): 1}).encode()
    both = common[:-1] + b', "' + rare + b'": 2}'
    # The first body tells how the names are spelled.
    rows = codec.decode(pa.array([common, both, common], pa.binary())).rows.to_pylist()
    assert [row[name] for row in rows] == [1, 2, 1]


def test_a_missing_field_is_null() -> None:
    assert decode(Scalar.INTEGER, b'{"b": 1}') == (None, None)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Scalar.DOUBLE, 1.0, "1.0"),
        (Scalar.DOUBLE, 1e10, "1.0E10"),
        (Scalar.DOUBLE, float("nan"), '"NaN"'),
        (Decimal(5, 2), Exact("1.50"), "1.50"),
        (Scalar.DATE, date(1970, 1, 2), "1"),
        (Scalar.TIMESTAMP, datetime(1969, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), "-1"),
        (Scalar.BYTES, b"\1\2", '"AQI="'),
        (Array(Scalar.DATE), [date(1970, 1, 1), None], "[0,null]"),
        (POINT, {"X": None, "Name": "é"}, '{"X":null,"Name":"é"}'),
    ],
)
def test_values_are_written(kind: Type, value: Any, text: str) -> None:
    assert encode(kind, value) == f'{{"A":{text}}}'.encode()
    assert encode(kind, value, wrap=False) == text.encode()
    json.loads(text)


def test_a_null_is_written_but_not_as_the_whole_body() -> None:
    assert encode(Scalar.INTEGER, None) == b'{"A":null}'
    assert encode(Scalar.INTEGER, None, wrap=False) is None
