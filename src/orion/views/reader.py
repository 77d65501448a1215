"""Records of a source's topic to rows, by key and window; the unreadable are left out."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orion.command import key_spec, own_time, value_spec
from orion.formats import (
    Codec,
    FormatSpec,
    SchemaSource,
    codec_of,
    plain_values,
)
from orion.log import Record
from orion.model import Struct
from orion.sql import Source, tree

_BOUND_BYTES = 8
_BOUNDS = ("WINDOWSTART", "WINDOWEND")
Row = Mapping[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class RowChange:
    """What a record says: the row of a key and window now, or that there is none any more."""

    key: Key
    window: Key
    row: Row | None
    key_columns: Row


class RowReader:
    """Reads the records of one source; used by one thread."""

    def __init__(self, source: Source, schemas: SchemaSource | None) -> None:
        self._source = source
        self._key_spec, self._value_spec = key_spec(source), value_spec(source)
        self._key = codec_of(self._key_spec, schemas) if source.key else None
        self._value = codec_of(self._value_spec, schemas)
        self._own_time = own_time(source)
        self._key_names = [column.name for column in source.key]
        # A row has all of its columns, whatever its record lacks.
        bounds = () if source.windowed is None else _BOUNDS
        self._without_key: Row = dict.fromkeys((*self._key_names, *bounds))
        self._header_columns = source.headers
        self._number = 0

    def read(self, records: list[Record]) -> Iterator[RowChange]:
        """Yield the changes of records, in their order."""
        keys, windows, unreadable = self._keys(records)
        values, damaged = _decode(self._value, [r.value for r in records], self._value_spec)
        absent = self._absent(records, values, damaged)
        for place in unreadable:
            values[place] = None
        rows = zip(records, keys, windows, values, strict=True)
        for place, (record, key, window, value) in enumerate(rows):
            if self._source.is_table:
                if key is None:
                    continue
                at = hashable(tuple(key.get(name) for name in self._key_names))
            else:
                # Every event of a stream counts: its number tells it apart.
                at = (self._number,)
                self._number += 1
            if place in absent and self._source.is_table:
                bounds = _bounds(window)
                yield RowChange(at, window, None, {**(key or {}), **bounds})
            elif value is not None:
                row = self._row(record, key or self._without_key, value, window)
                if row is None:
                    continue
                yield RowChange(at, window if self._source.is_table else (), row, key or {})

    def _absent(
        self, records: list[Record], values: list[Row | None], damaged: list[int]
    ) -> set[int]:
        """Return the places of records that say that there is no row."""
        if not self._source.value:
            return {at for at, record in enumerate(records) if record.value is None}
        # A body may hold nothing as well, as the JSON `null` does.
        return {at for at, value in enumerate(values) if value is None}.difference(damaged)

    def _row(self, record: Record, key: Row, value: Row, window: Key) -> Row | None:
        columns = {**key, **value}
        if window:
            columns |= _bounds(window)
        if self._header_columns:
            columns |= self._headers(record)
        time = record.timestamp_ms if self._own_time is None else self._own_time(columns)
        if time is None or time < 0:
            return None
        facts = {"ROWTIME": time, "ROWPARTITION": record.partition, "ROWOFFSET": record.offset}
        columns |= facts
        return columns

    def _headers(self, record: Record) -> Row:
        shown: dict[str, Any] = {}
        for column in self._header_columns:
            if column.header is None:
                shown[column.name] = [{"KEY": k, "VALUE": v} for k, v in record.headers]
            else:
                found = [body for name, body in record.headers if name == column.header]
                shown[column.name] = found[-1] if found else None
        return shown

    def _keys(self, records: list[Record]) -> tuple[list[Row | None], list[Key], list[int]]:
        """Return keys, windows, and the places of keys that cannot be read."""
        both = [self._split(record.key) for record in records]
        windows = [window for _, window in both]
        if self._key is None:
            return [None] * len(records), windows, []
        keys, unreadable = _decode(self._key, [body for body, _ in both], self._key_spec)
        return keys, windows, unreadable

    def _split(self, key: bytes | None) -> tuple[bytes | None, Key]:
        windowed = self._source.windowed
        if key is None or windowed is None:
            return key, ()
        start = int.from_bytes(key[-_BOUND_BYTES:], "big", signed=True)
        if windowed.kind is tree.WindowKind.SESSION:
            end = int.from_bytes(key[-2 * _BOUND_BYTES : -_BOUND_BYTES], "big", signed=True)
            return key[: -2 * _BOUND_BYTES], (start, end)
        return key[:-_BOUND_BYTES], (start, start + (windowed.size_ms or 0))


def _bounds(window: Key) -> Row:
    return dict(zip(_BOUNDS, window, strict=False))


def hashable(value: Any) -> Any:
    """Return a value that can be looked up: lists and maps as tuples, NaN as one that is itself."""
    if isinstance(value, Mapping):
        return tuple((name, hashable(item)) for name, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return tuple(hashable(item) for item in value)
    # No NaN equals another; a dictionary finds one only if it is the same object.
    return value if value == value else math.nan


def _decode(
    codec: Codec, bodies: list[bytes | None], spec: FormatSpec
) -> tuple[list[Row | None], list[int]]:
    """Return rows, None where there is none, and the places of those that cannot be read."""
    decoded = codec.decode(pa.array(bodies, pa.binary()))
    rows: list[Row | None] = plain_values(decoded.rows, Struct(spec.columns))
    unreadable = pc.indices_nonzero(decoded.reasons.is_valid()).to_pylist()
    return rows, unreadable
