"""DELIMITED lines and KAFKA primitives as others write them."""

from typing import Any

import pyarrow as pa
import pytest

from orion.formats import Format, FormatSpec, codec_of, row_type
from orion.model import Field, Scalar

TWO = (Field("A", Scalar.STRING), Field("B", Scalar.INTEGER))


@pytest.mark.parametrize(
    ("body", "row", "reason"),
    [
        (b"x,1", {"A": "x", "B": 1}, None),
        (b'"a,""b""", 2', {"A": 'a,"b"', "B": 2}, None),
        (b",", {"A": None, "B": None}, None),
        (b"x,1\nignored,2", {"A": "x", "B": 1}, None),
        (b"x", None, "the body has 1 values, there are 2 columns"),
        (b"", None, "the body is empty"),
        (b"x,y", None, "field 'B' is not INTEGER: \"y\""),
        (b'"x,1', None, "the body is not a line of separated values: unexpected end of data"),
        (b"\xff,1", None, "the body is not valid UTF-8"),
    ],
)
def test_lines_are_read(body: bytes, row: Any, reason: str | None) -> None:
    decoded = codec_of(FormatSpec(Format.DELIMITED, TWO)).decode(pa.array([body], pa.binary()))
    assert decoded.rows.to_pylist() == [row]
    assert decoded.reasons.to_pylist() == [reason]


@pytest.mark.parametrize(
    ("value", "delimiter", "line"),
    [
        ("x", ",", b"x,1"),
        ("a,b", ",", b'"a,b",1'),
        ("a,b", "|", b"a,b|1"),
        ("a b", "SPACE", b'"a b" 1'),
        ("x", "TAB", b"x\t1"),
        ('say "x"', ",", b'"say ""x""",1'),
        ("#x", ",", b'"#x",1'),
        ("", ",", b'"",1'),
        (None, ",", b",1"),
    ],
)
def test_lines_are_written(value: str | None, delimiter: str, line: bytes) -> None:
    spec = FormatSpec(Format.DELIMITED, TWO, delimiter=delimiter)
    rows = pa.array([{"A": value, "B": 1}], row_type(TWO))
    assert codec_of(spec).encode(rows).to_pylist() == [line]


@pytest.mark.parametrize(
    ("kind", "body", "value"),
    [
        (Scalar.INTEGER, b"\xff\xff\xff\xfe", -2),
        (Scalar.BIGINT, b"\0\0\0\0\0\0\1\0", 256),
        (Scalar.DOUBLE, b"\x3f\xf8\0\0\0\0\0\0", 1.5),
        (Scalar.STRING, "é".encode(), "é"),
        (Scalar.BYTES, b"\0", b"\0"),
    ],
)
def test_primitives_are_the_whole_body(kind: Scalar, body: bytes, value: Any) -> None:
    spec = FormatSpec(Format.KAFKA, (Field("A", kind),))
    codec = codec_of(spec)
    decoded = codec.decode(pa.array([body, None], pa.binary()))
    assert decoded.rows.to_pylist() == [{"A": value}, None]
    assert codec.encode(decoded.rows).to_pylist() == [body, None]


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (Scalar.INTEGER, b"", "the body has 0 bytes, INTEGER has 4"),
        (Scalar.BIGINT, b"123", "the body has 3 bytes, BIGINT has 8"),
        (Scalar.STRING, b"\xff", "the body is not valid UTF-8"),
    ],
)
def test_primitives_of_the_wrong_size_are_told(kind: Scalar, body: bytes, reason: str) -> None:
    codec = codec_of(FormatSpec(Format.KAFKA, (Field("A", kind),)))
    decoded = codec.decode(pa.array([body, None], pa.binary()))
    assert decoded.reasons.to_pylist() == [reason, None]
    assert decoded.rows.null_count == 2
