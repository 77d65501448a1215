"""Rows and lines as they go over the wire, in the forms of /query and /query-stream."""

from collections.abc import AsyncIterator
from typing import Any

import orjson

from orion.model import OrionError
from orion.serve.sql.protobuf_row import ProtobufRows
from orion.serve.sql.push import PushQueries, PushQuery
from orion.serve.sql.request import describe_error

Chunks = AsyncIterator[bytes]


def _dump(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)


async def array_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield one JSON array over time: header, rows, and a last word."""
    header = {"header": {"queryId": query.id, "schema": query.schema_text}}
    yield b"[" + _dump(header) + b",\n"
    try:
        async for row in pushes.rows(query):
            yield b"\n" if row is None else _dump({"row": {"columns": row}}) + b",\n"
    except OrionError as error:
        yield _dump({"errorMessage": describe_error(error)[1]}) + b"]\n"
        return
    word = "Query Completed" if query.limit is None else "Limit Reached"
    yield _dump({"finalMessage": word}) + b"]\n"


async def protobuf_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield one JSON array over time whose rows are messages in base64."""
    rows = ProtobufRows(query.columns)
    yield b"[" + rows.header(query.id, query.schema_text) + b",\n"
    try:
        async for row in pushes.rows(query):
            yield b"\n" if row is None else rows.row(row) + b",\n"
    except OrionError as error:
        yield _dump({"errorMessage": describe_error(error)[1]}) + b"]\n"
        return
    word = "Query Completed" if query.limit is None else "Limit Reached"
    yield _dump({"finalMessage": word}) + b"]\n"


async def delimited_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield a line of JSON for the header and for each row."""
    yield _dump(_header(query)) + b"\n"
    try:
        async for row in pushes.rows(query):
            # An empty line would end some readers; silence keeps the connection as well.
            if row is not None:
                yield _dump(row) + b"\n"
    except OrionError as error:
        yield _dump(describe_error(error)[1]) + b"\n"


async def plain_array_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield one JSON array over time: the header object, then the rows as arrays."""
    yield b"[" + _dump(_header(query))
    try:
        async for row in pushes.rows(query):
            yield b"\n" if row is None else b",\n" + _dump(row)
    except OrionError as error:
        yield b",\n" + _dump(describe_error(error)[1])
    yield b"]"


def _header(query: PushQuery) -> dict[str, Any]:
    return {
        "queryId": query.id,
        "columnNames": [name for name, _ in query.columns],
        "columnTypes": [str(kind or "STRING") for _, kind in query.columns],
    }


async def lines_form(lines: AsyncIterator[str | None]) -> Chunks:
    """Yield lines of text."""
    async for line in lines:
        yield b"\n" if line is None else line.encode() + b"\n"
