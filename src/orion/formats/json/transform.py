"""A batch of JSON bodies as text, and DuckDB's look at all of it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa

# Batches smaller than this are decoded value by value once they hold a value that is not UTF-8.
_SMALL = 64
_PARTS = 8


def to_text(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return bytes as text, null where they are not UTF-8, and which of them were."""
    try:
        return values.cast(pa.string()), pa.repeat(True, len(values))
    except pa.ArrowInvalid:
        pass
    if len(values) > _SMALL:
        size = -(-len(values) // _PARTS)
        parts = [to_text(values.slice(start, size)) for start in range(0, len(values), size)]
        return pa.concat_arrays([p[0] for p in parts]), pa.concat_arrays([p[1] for p in parts])
    bodies = values.to_pylist()
    found = [_text_or_none(body) for body in bodies]
    is_text = [body is None or text is not None for text, body in zip(found, bodies, strict=True)]
    return pa.array(found, pa.string()), pa.array(is_text)


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True)
class Shape:
    """What to take of a text.

    Args:
        wanted: DuckDB's description of a type.
        marks: Only texts that hold one of these are looked into; none: all of them.
    """

    wanted: object
    marks: Sequence[str] = ()

    @property
    def expression(self) -> str:
        """What takes it, in SQL."""
        taken = f"json_transform(v, {_quoted(json.dumps(self.wanted))})"
        if not self.marks:
            return taken
        held = " OR ".join(f"contains(v, {_quoted(mark)})" for mark in self.marks)
        return f"CASE WHEN {held} THEN {taken} END"


def transform(
    connection: duckdb.DuckDBPyConnection, batch: pa.Table, shapes: Sequence[Shape]
) -> list[pa.Array]:
    """Return what the texts `v` hold of each shape; null where a text is not JSON.

    The batch stays registered under that name.
    """
    connection.register("batch", batch)
    taken = [shape.expression for shape in shapes]
    try:
        return _select(connection, taken)
    except duckdb.InvalidInputException:
        # Asking each text first whether it is JSON parses all of them twice; `TRY` is slower still.
        return _select(connection, [f"CASE WHEN json_valid(v) THEN {each} END" for each in taken])


def _select(connection: duckdb.DuckDBPyConnection, expressions: Sequence[str]) -> list[pa.Array]:
    found = connection.sql(f"SELECT {', '.join(expressions)} FROM batch").to_arrow_table()
    return [c.combine_chunks() if c.num_chunks != 1 else c.chunk(0) for c in found.columns]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
