"""Records from rows: INSERT VALUES, and the objects of /inserts-stream."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from orion.command import key_spec, value_spec
from orion.formats import Format as FormatName
from orion.formats import FormatSpec, codec_of, plain_rows, plain_values
from orion.log import Record
from orion.model import Struct
from orion.serve.sql.request import BadRequestError
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.value import dump
from orion.sql import InsertedRow, Source, plan_row, tree


def insert_values(rooms: SqlRooms, statement: tree.InsertValues) -> None:
    """Write the record of a statement; it is stored when this returns."""
    row = plan_row(statement, rooms.catalogue, rooms.functions)
    rooms.write(row.source.topic, encode_row(rooms, row))


def encode_row(rooms: SqlRooms, row: InsertedRow) -> Record:
    """Return the bytes of a row by the formats of its source."""
    source = row.source
    return Record(
        _encode(rooms, value_spec(source), row.value),
        _encode(rooms, key_spec(source), row.key),
        timestamp_ms=row.timestamp_ms,
    )


def _encode(rooms: SqlRooms, spec: FormatSpec, row: Mapping[str, Any] | None) -> bytes | None:
    if row is None or not spec.columns:
        return None
    encoded = codec_of(spec, rooms.schemas).encode(plain_rows([row], spec.columns))
    body: bytes | None = encoded[0].as_py()
    return body


def find_target(rooms: SqlRooms, name: str) -> Source:
    """Return the stream or table that rows go into; names count as SQL reads them."""
    quoted = len(name) > 1 and name[0] == name[-1] == "`"
    text = name[1:-1] if quoted else name.upper()
    source = rooms.catalogue.source(tree.Name(text))
    if source.is_source or source.windowed is not None:
        raise BadRequestError(f"'{source.name}' cannot be inserted into.")
    return source


def read_row(source: Source, body: Any) -> InsertedRow:
    """Return a JSON object as a row; names are compared without case, nothing unknown is taken."""
    if not isinstance(body, dict):
        raise BadRequestError("A row is a JSON object.")
    known = {column.name for column in (*source.key, *source.value)}
    given = {_named(str(name), known): value for name, value in body.items()}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise BadRequestError(f"Column '{unknown[0]}' is not in {source.name}.")
    columns = tuple(column.field for column in (*source.key, *source.value))
    spec = replace(value_spec(source), format=FormatName.JSON, columns=columns, wrap=True)
    # The tolerant reader of JSON gives every column its type, or says why not.
    decoded = codec_of(spec, None).decode(pa.array([dump(given)], pa.binary()))
    reason = decoded.reasons[0].as_py()
    if reason:
        raise BadRequestError(f"The row does not fit {source.name}: {reason}.")
    (values,) = plain_values(decoded.rows, Struct(columns))
    key = {column.name: values[column.name] for column in source.key}
    if source.is_table and any(value is None for value in key.values()):
        raise BadRequestError(f"The primary key of {source.name} must have a value.")
    value = {column.name: values[column.name] for column in source.value}
    has_key = any(part is not None for part in key.values())
    return InsertedRow(source, key if has_key else None, value, None)


def _named(name: str, known: Collection[str]) -> str:
    """Return the column that a name means: as it is in backticks, in upper case without."""
    is_quoted = len(name) > 1 and name[0] == name[-1] == "`"
    plain = name[1:-1] if is_quoted else name
    means = (plain, plain.upper()) if is_quoted else (plain.upper(), plain)
    return next((each for each in means if each in known), means[0])
