"""DELIMITED: the values of a record in one line, quoted where they must be."""

import base64
import csv
import io
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from orion.formats.column import ParsedBatch
from orion.formats.number import spell_decimal, spell_double
from orion.formats.spec import Decoded, FormatSpec
from orion.formats.temporal import as_numbers
from orion.model import Decimal, Scalar, Struct, Type

_QUOTE = '"'
# A first value that begins with anything but a letter or digit, or any value that begins at or
# below '#', is quoted: the rule of the CSV library that ksqlDB uses.
_LAST_QUOTED_START = "#"


class DelimitedCodec:
    """Lines of separated values; the number of values must be that of the columns."""

    def __init__(self, spec: FormatSpec) -> None:
        self._spec = spec

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these lines."""
        parsed, reasons = [], []
        for body in values.to_pylist():
            document, reason = (None, None) if body is None else self._parse(body)
            parsed.append(document)
            reasons.append(reason)
        lacking = [document is None for document in parsed]
        return ParsedBatch(parsed, reasons).to_rows(
            self._spec.columns, wrapped=True, lacking=lacking
        )

    def _parse(self, body: bytes) -> tuple[dict[str, str | None] | None, str | None]:
        try:
            line = body.decode()
        except UnicodeDecodeError:
            return None, "the body is not valid UTF-8"
        try:
            lines = csv.reader(io.StringIO(line), delimiter=self._spec.separator, strict=True)
            found = next((row for row in lines if row), None)
        except csv.Error as error:
            return None, f"the body is not a line of separated values: {error}"
        if found is None:
            return None, "the body is empty"
        names = [field.name for field in self._spec.columns]
        if len(found) != len(names):
            return None, f"the body has {len(found)} values, there are {len(names)} columns"
        return {n: value or None for n, value in zip(names, found, strict=True)}, None

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return these rows as lines."""
        spellers = [(field.name, _speller(field.type)) for field in self._spec.columns]
        separator = self._spec.separator
        bodies: list[bytes | None] = []
        for row in as_numbers(rows, Struct(self._spec.columns)).to_pylist():
            if row is None:
                bodies.append(None)
                continue
            texts = [None if row[name] is None else spell(row[name]) for name, spell in spellers]
            parts = [
                "" if text is None else quote(text, separator, is_first=position == 0)
                for position, text in enumerate(texts)
            ]
            bodies.append(separator.join(parts).encode())
        return pa.array(bodies, pa.binary())


def quote(text: str, separator: str, *, is_first: bool) -> str:
    """Return a value as it stands in a line.

    >>> quote("plain", ",", is_first=True), quote("a,b", ",", is_first=False)
    ('plain', '"a,b"')
    """
    return _QUOTE + text.replace('"', '""') + _QUOTE if _needs(text, separator, is_first) else text


def _needs(text: str, separator: str, is_first: bool) -> bool:
    if not text:
        return is_first
    start = text[0]
    odd_start = is_first and not (start.isascii() and start.isalnum())
    if start <= _LAST_QUOTED_START or odd_start or text[-1] <= " ":
        return True
    return any(mark in text for mark in (separator, _QUOTE, "\r", "\n"))


def _speller(kind: Type) -> Callable[[Any], str]:
    match kind:
        case Scalar.DOUBLE:
            return spell_double
        case Scalar.BOOLEAN:
            return lambda value: "true" if value else "false"
        case Scalar.TIMESTAMP:
            return lambda value: str(value // 1_000)
        case Scalar.BYTES:
            return _spell_bytes
        case Decimal():
            return spell_decimal
        case _:
            return str


def _spell_bytes(value: bytes) -> str:

    return base64.b64encode(value).decode()
