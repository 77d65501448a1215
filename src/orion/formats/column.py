"""Parsed documents to rows: each column converted at once where its values are of one kind."""

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

import pyarrow as pa

from orion.formats.arrow import arrow_type, rows_of
from orion.formats.coerce import FieldNames, InexactError, MisfitError, converter, keep_digits, show
from orion.formats.spec import Decoded
from orion.model import Field, Scalar, Type

# Kinds of Python values that Arrow converts by itself, and as the column means them.
_BULK: dict[Type, set[type]] = {
    Scalar.BOOLEAN: {bool, NoneType},
    Scalar.INTEGER: {int, NoneType},
    Scalar.BIGINT: {int, NoneType},
    Scalar.DOUBLE: {float, NoneType},
    Scalar.STRING: {str, NoneType},
    Scalar.BYTES: {bytes, NoneType},
}

Reasons = list[str | None]
Exactly = Callable[[int], Any]


class ParsedBatch:
    """A batch of parsed values, one a row, on the way to columns.

    Args:
        parsed: What the parser gave; anything where the reason is set.
        reasons: Why a row could not be parsed; filled further while columns are made.
        exactly: Parses a row again with all digits kept.
    """

    def __init__(self, parsed: list[Any], reasons: Reasons, exactly: Exactly | None = None) -> None:
        self._parsed, self._reasons = parsed, reasons
        self._exactly = exactly or (lambda row: keep_digits(parsed[row]))

    def to_rows(self, columns: Sequence[Field], *, wrapped: bool, lacking: list[bool]) -> Decoded:
        """Return rows of these columns.

        Args:
            wrapped: Whether the columns are fields of the document, or the one column is it.
            lacking: Which rows are null, and so need no document.
        """
        raw = self._fields(columns, lacking) if wrapped else [self._parsed]
        arrays = [
            self._column(position, values, field, wrapped=wrapped)
            for position, (values, field) in enumerate(zip(raw, columns, strict=True))
        ]
        bad = [reason is not None for reason in self._reasons]
        mask = pa.array([a or b for a, b in zip(lacking, bad, strict=True)], pa.bool_())
        return Decoded(rows_of(arrays, columns, mask), pa.array(self._reasons, pa.string()))

    def _fields(self, columns: Sequence[Field], lacking: list[bool]) -> list[list[Any]]:
        names = FieldNames(tuple(columns))
        nothing: list[str | None] = [None] * len(columns)
        spelled = []
        for row, document in enumerate(self._parsed):
            if isinstance(document, dict):
                spelled.append(names.of(document))
                continue
            if not lacking[row] and self._reasons[row] is None:
                self._reasons[row] = f"the body is not an object: {show(document)}"
            spelled.append(nothing)
        self._spelled = spelled
        first = spelled[0] if spelled else nothing
        if first is not nothing and all(each is first for each in spelled):
            # Most batches spell their fields alike.
            return [
                [None] * len(spelled) if name is None else [d[name] for d in self._parsed]
                for name in first
            ]
        return [
            [
                None if name is None else document[name]
                for document, name in zip(self._parsed, column, strict=True)
            ]
            for column in zip(*spelled, strict=True)
        ] or [[] for _ in columns]

    def _column(self, position: int, values: list[Any], field: Field, *, wrapped: bool) -> pa.Array:
        kind = arrow_type(field.type)
        allowed = _BULK.get(field.type)
        if allowed is not None and set(map(type, values)) <= allowed:
            try:
                return pa.array(values, kind)
            except (pa.ArrowInvalid, OverflowError):
                pass  # A number is out of range: its row gets a reason below.
        convert, found = converter(field.type), []
        for row, value in enumerate(values):
            try:
                found.append(convert(value))
            except InexactError:
                found.append(self._again(row, position, field, wrapped=wrapped))
            except MisfitError as error:
                self._refuse(row, error.reason(field.name))
                found.append(None)
        return pa.array(found, kind)

    def _again(self, row: int, position: int, field: Field, *, wrapped: bool) -> Any:
        document = self._exactly(row)
        name = self._spelled[row][position] if wrapped else None
        value = document if name is None else document[name]
        try:
            return converter(field.type)(value)
        except MisfitError as error:
            self._refuse(row, error.reason(field.name))
            return None

    def _refuse(self, row: int, reason: str) -> None:
        self._reasons[row] = self._reasons[row] or reason
