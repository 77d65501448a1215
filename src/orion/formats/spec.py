"""What a topic's bytes are: the format, the columns and the properties that shape them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from orion.model import Field, InvalidInputError, nearest

# Words for delimiters that are hard to see in a statement.
DELIMITER_WORDS: Mapping[str, str] = {"SPACE": " ", "TAB": "\t"}


class Format(enum.StrEnum):
    """The formats by the names that streaming SQL gives them."""

    JSON = "JSON"
    JSON_SR = "JSON_SR"
    AVRO = "AVRO"
    PROTOBUF = "PROTOBUF"
    PROTOBUF_NOSR = "PROTOBUF_NOSR"
    DELIMITED = "DELIMITED"
    KAFKA = "KAFKA"
    NONE = "NONE"

    @property
    def has_schema(self) -> bool:
        """Whether each record names its schema in a registry."""
        return self in (Format.AVRO, Format.JSON_SR, Format.PROTOBUF)

    @property
    def can_choose_wrapping(self) -> bool:
        """Whether a single column may be the whole body or a field of it."""
        return self in (Format.JSON, Format.JSON_SR, Format.AVRO)


class Nullable(enum.StrEnum):
    """How Protobuf tells a null from a default value."""

    NONE = ""
    OPTIONAL = "OPTIONAL"
    WRAPPER = "WRAPPER"


class UnknownFormatError(InvalidInputError):
    """Raised when a format is named that does not exist."""

    def __init__(self, name: str) -> None:
        self.name = name
        hint = nearest(name.upper(), list(Format)) or f"Use one of {', '.join(Format)}."
        super().__init__(f"Format '{name}' is not known.", fix=hint)


def format_named(name: str) -> Format:
    """Return the format of this name, in any case.

    >>> format_named("json_sr")
    <Format.JSON_SR: 'JSON_SR'>
    """
    try:
        return Format(name.upper())
    except ValueError as error:
        raise UnknownFormatError(name) from error


@dataclass(frozen=True)
class FormatSpec:
    """How the columns of a key or a value lie in bytes.

    Args:
        delimiter: DELIMITED only: one character, or the words SPACE and TAB.
        wrap: Whether a single column is a field of the body (True) or the body itself (False);
            None leaves it to the format, see `is_wrapped`.
        full_name: The record's or message's full name in the schema; empty: the default one.
        subject: Where the schema is registered when rows are written.
        schema_id: The schema that rows are written with; None: made from the columns.
        nullable: PROTOBUF only.
        is_key: Whether this is the record's key.
    """

    format: Format
    columns: tuple[Field, ...]
    delimiter: str = ","
    wrap: bool | None = None
    full_name: str = ""
    subject: str = ""
    schema_id: int | None = None
    nullable: Nullable = Nullable.NONE
    is_key: bool = False

    @property
    def is_wrapped(self) -> bool:
        """Whether the body holds the columns by name; else the one column is the body."""
        if self.format is Format.KAFKA:
            return False
        if len(self.columns) != 1 or not self.format.can_choose_wrapping:
            return True
        return not self.is_key if self.wrap is None else self.wrap

    @property
    def separator(self) -> str:
        """The character between the values of DELIMITED."""
        return DELIMITER_WORDS.get(self.delimiter, self.delimiter)

    @property
    def part(self) -> str:
        """What the bytes are of a record, for messages."""
        return "key" if self.is_key else "value"


@dataclass(frozen=True)
class Decoded:
    """Rows of a batch, and why some could not be read.

    Args:
        rows: A struct a value; null where the value is null or cannot be read.
        reasons: Null unless the value cannot be read.
    """

    rows: pa.StructArray
    reasons: pa.Array


class Codec(Protocol):
    """Bytes to rows and back, a batch at a time; not for several threads at once."""

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these bytes; a null value is a null row without a reason."""

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return the bytes of these rows; a null row is a null value."""
