"""Columns and properties that a format cannot carry are refused before anything runs."""

import pytest

from orion.formats import (
    Format,
    FormatPropertyError,
    FormatSpec,
    MapKeyError,
    Nullable,
    UnknownFormatError,
    UnsupportedColumnsError,
    UnsupportedTypeError,
    check,
    format_named,
)
from orion.model import Array, Decimal, Field, InvalidInputError, Map, Scalar, Struct, Type

TEXTS = Map(Scalar.STRING, Scalar.INTEGER)


def spec(format: Format, *kinds: Type, **properties: object) -> FormatSpec:
    columns = tuple(Field(f"C{n}", kind) for n, kind in enumerate(kinds))
    return FormatSpec(format, columns, **properties)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("refused", "error", "text"),
    [
        (spec(Format.KAFKA, TEXTS), UnsupportedTypeError, "KAFKA cannot carry column 'C0'"),
        (spec(Format.KAFKA, Scalar.BOOLEAN), UnsupportedTypeError, "BOOLEAN"),
        (spec(Format.KAFKA, Scalar.STRING, Scalar.STRING), UnsupportedColumnsError, "C0, C1"),
        (spec(Format.DELIMITED, Array(Scalar.STRING)), UnsupportedTypeError, "ARRAY<STRING>"),
        (spec(Format.JSON, Map(Scalar.INTEGER, Scalar.STRING)), UnsupportedTypeError, "MAP"),
        (spec(Format.AVRO, Map(Scalar.INTEGER, Scalar.STRING)), UnsupportedTypeError, "MAP"),
        (spec(Format.PROTOBUF, Array(Array(Scalar.STRING))), UnsupportedTypeError, "ARRAY"),
        (spec(Format.NONE, Scalar.STRING), UnsupportedColumnsError, "no columns"),
        (spec(Format.JSON, TEXTS, is_key=True), MapKeyError, "Key column 'C0'"),
        (spec(Format.JSON, Scalar.STRING, delimiter="|"), FormatPropertyError, "delimiter = '|'"),
        (spec(Format.DELIMITED, Scalar.STRING, delimiter=" "), FormatPropertyError, "SPACE or TAB"),
        (spec(Format.DELIMITED, Scalar.STRING, delimiter=""), FormatPropertyError, "delimiter"),
        (spec(Format.KAFKA, Scalar.STRING, wrap=True), FormatPropertyError, "wrapping = 'True'"),
        (spec(Format.PROTOBUF, Scalar.STRING, wrap=False), FormatPropertyError, "wrapping"),
        (spec(Format.JSON, Scalar.STRING, Scalar.STRING, wrap=True), FormatPropertyError, "single"),
        (
            spec(Format.JSON, Scalar.STRING, nullable=Nullable.OPTIONAL),
            FormatPropertyError,
            "nullable representation",
        ),
        (FormatSpec(Format.AVRO, (Field("a b", Scalar.STRING),)), FormatPropertyError, "'a b'"),
    ],
)
def test_what_cannot_be_carried(
    refused: FormatSpec, error: type[InvalidInputError], text: str
) -> None:
    with pytest.raises(error, match=text.replace("|", r"\|")):
        check(refused)


@pytest.mark.parametrize(
    "allowed",
    [
        spec(Format.KAFKA, Scalar.DOUBLE, wrap=False),
        spec(Format.DELIMITED, Decimal(3, 1), Scalar.BYTES, delimiter="TAB"),
        spec(Format.JSON, TEXTS, wrap=False),
        spec(Format.AVRO, TEXTS),
        spec(Format.PROTOBUF, Array(Struct((Field("x", Scalar.TIME),))), wrap=True),
        spec(Format.NONE),
    ],
)
def test_what_can_be_carried(allowed: FormatSpec) -> None:
    check(allowed)


def test_single_keys_are_the_whole_body() -> None:
    assert spec(Format.JSON, Scalar.STRING).is_wrapped
    assert not spec(Format.JSON, Scalar.STRING, is_key=True).is_wrapped
    assert spec(Format.JSON, Scalar.STRING, Scalar.STRING, is_key=True).is_wrapped
    assert spec(Format.PROTOBUF, Scalar.STRING, is_key=True).is_wrapped


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(UnknownFormatError, match="Did you mean 'AVRO'"):
        format_named("avrro")
