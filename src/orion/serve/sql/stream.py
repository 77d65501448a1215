"""Rows and lines as they go over the wire, in the forms of /query and /query-stream."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from orion.model import OrionError
from orion.serve.sql.protobuf_row import ProtobufRows
from orion.serve.sql.push import PushQueries
from orion.serve.sql.push_query import PushQuery
from orion.serve.sql.request import describe_error
from orion.serve.sql.value import dump
from orion.views import ChangedRow

Chunks = AsyncIterator[bytes]


async def array_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield one JSON array over time: header, rows, and a last word."""
    header = dump({"header": {"queryId": query.id, "schema": query.schema_text}})
    async for chunk in _array(pushes, query, header, _row_object):
        yield chunk


async def protobuf_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield one JSON array over time whose rows are messages in base64."""
    rows = ProtobufRows(query.columns)
    header = rows.header(query.id, query.schema_text)
    async for chunk in _array(pushes, query, header, lambda row: rows.row(row.values)):
        yield chunk


async def _array(pushes: PushQueries, query: PushQuery, header: bytes, write: Any) -> Chunks:
    async with aclosing(pushes.rows(query)) as rows:
        # The header says that the query has begun: whoever writes now will see it.
        await anext(rows, None)
        yield b"[" + header + b",\n"
        try:
            async for row in rows:
                yield b"\n" if row is None else write(row) + b",\n"
        except OrionError as error:
            yield dump({"errorMessage": describe_error(error)[1]}) + b"]\n"
            return
    word = "Query Completed" if query.limit is None else "Limit Reached"
    yield dump({"finalMessage": word}) + b"]\n"


def _row_object(row: ChangedRow) -> bytes:
    body: dict[str, Any] = {"columns": row.values}
    if row.is_tombstone:
        body["tombstone"] = True
    return dump({"row": body})


async def delimited_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield a line of JSON for the header and for each row."""
    async with aclosing(pushes.rows(query)) as rows:
        await anext(rows, None)
        yield dump(_header(query)) + b"\n"
        try:
            async for row in rows:
                # An empty line would end some readers; silence keeps the connection as well.
                if row is not None:
                    yield dump(row.values) + b"\n"
        except OrionError as error:
            yield dump(describe_error(error)[1]) + b"\n"


async def plain_array_form(pushes: PushQueries, query: PushQuery) -> Chunks:
    """Yield one JSON array over time: the header object, then the rows as arrays."""
    async with aclosing(pushes.rows(query)) as rows:
        await anext(rows, None)
        yield b"[" + dump(_header(query))
        try:
            async for row in rows:
                yield b"\n" if row is None else b",\n" + dump(row.values)
        except OrionError as error:
            yield b",\n" + dump(describe_error(error)[1])
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
