"""Records of cases as bytes: what does not fit its columns is refused with the record."""

from decimal import Decimal as Number
from typing import Any

import pytest

from orion.cases.body import CaseValueError, encode_body
from orion.formats import Format, FormatSpec, MemorySchemas
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type


def spec(kind: Type, format: Format = Format.PROTOBUF_NOSR) -> FormatSpec:
    return FormatSpec(format=format, columns=(Field("V", kind),))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Scalar.BIGINT, "true"),
        (Scalar.BIGINT, [1]),
        (Scalar.BIGINT, 10**30),
        (Scalar.INTEGER, 2**31),
        (Scalar.DOUBLE, "2020-01-01"),
        (Scalar.BYTES, 5),
        (Scalar.DATE, "today"),
        (Scalar.TIMESTAMP, Number("1e308")),
        (Decimal(4, 2), "a"),
        (Array(Scalar.INTEGER), 5),
        (Map(Scalar.STRING, Scalar.INTEGER), "a"),
        (Struct((Field("A", Scalar.INTEGER),)), []),
    ],
)
def test_a_record_that_does_not_fit_is_named(kind: Type, value: Any) -> None:
    with pytest.raises(CaseValueError, match="cannot be written"):
        encode_body({"V": value}, spec(kind), MemorySchemas())


@pytest.mark.parametrize("value", ["a", [], {}, Number("1e308")])
def test_a_key_that_does_not_fit_is_named(value: Any) -> None:
    with pytest.raises(CaseValueError, match="cannot be written"):
        encode_body(value, spec(Scalar.BIGINT, Format.KAFKA), MemorySchemas())
