"""Rows as Protobuf: what the header's schema reads is what the row held."""

import base64
import json
from typing import Any

import pyarrow as pa
import pytest

from orion.formats import Format, FormatSpec, codec_of
from orion.model import Array, Field, Scalar, Struct, Type
from orion.serve.sql.protobuf_row import ProtobufRows


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Scalar.BIGINT, 7),
        (Scalar.STRING, "tea"),
        (Scalar.DOUBLE, 1.5),
        (Scalar.BOOLEAN, True),
        (Array(Scalar.INTEGER), [1, 2]),
        (Struct((Field("A", Scalar.STRING),)), {"A": "x"}),
    ],
)
def test_a_row_is_read_back(kind: Type, value: Any) -> None:
    rows = ProtobufRows([("ID", Scalar.STRING), ("V", kind)])
    header = json.loads(rows.header("q", "`ID` STRING"))["header"]
    assert "message" in header["protoSchema"]
    row = json.loads(rows.row(["k", value]))["row"]
    body = base64.b64decode(row["protobufBytes"])
    fields = (Field("ID", Scalar.STRING), Field("V", kind))
    codec = codec_of(FormatSpec(format=Format.PROTOBUF_NOSR, columns=fields))
    decoded = codec.decode(pa.array([body], pa.binary())).rows.to_pylist()
    assert decoded == [{"ID": "k", "V": value}]
