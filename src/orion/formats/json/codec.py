"""JSON bodies to rows and back: the clean path first, then what it left."""

import functools
import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal as Exact
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from orion.formats.arrow import rows_of
from orion.formats.coerce import keep_digits
from orion.formats.column import ParsedBatch
from orion.formats.json.encode import encode_rows
from orion.formats.json.fast import FastReader, fast_columns, spelling_of
from orion.formats.json.transform import to_text
from orion.formats.spec import Decoded, FormatSpec

NOT_JSON = "the body is not valid JSON"
# Below this, planning DuckDB's query costs more than parsing the rows.
_FAST_ROWS = 400
# After a batch without one clean row, this many are not tried.
_DISCOURAGED_BATCHES = 16


class JsonCodec:
    """JSON as ksqlDB reads and writes it; see the module `coerce` for what a column takes."""

    def __init__(self, spec: FormatSpec) -> None:
        self._spec = spec
        self._fast = spec.is_wrapped and fast_columns(spec.columns)
        self._discouraged = 0

    @functools.cached_property
    def _reader(self) -> FastReader:
        return FastReader(self._spec.columns)

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these bodies."""
        if not self._fast or len(values) < _FAST_ROWS or self._discouraged:
            self._discouraged = max(0, self._discouraged - 1)
            return self._decode_tolerant(values)
        texts, _ = to_text(values)
        spelling = spelling_of(_sample(values), self._spec.columns)
        arrays, doubt = self._reader.read(texts, spelling)
        nothing = pa.nulls(len(values), pa.string())
        if not doubt.true_count:
            return Decoded(rows_of(arrays, self._spec.columns, doubt), nothing)
        if doubt.true_count == len(values):
            self._discouraged = _DISCOURAGED_BATCHES
            return self._decode_tolerant(values)
        clear = rows_of(arrays, self._spec.columns, doubt)
        again = self._decode_tolerant(values.filter(doubt))
        reasons = pc.replace_with_mask(nothing, doubt, again.reasons)
        return Decoded(_patch(clear, doubt, again.rows), reasons)

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return these rows as JSON bodies."""
        return encode_rows(rows, self._spec)

    def _decode_tolerant(self, values: pa.Array) -> Decoded:
        bodies = values.to_pylist()
        with _without_collection():
            found = [(None, None) if body is None else self._parse(body) for body in bodies]
        parsed: list[Any] = [document for document, _ in found]
        reasons: list[str | None] = [reason for _, reason in found]
        lacking = [document is None for document in parsed]
        documents = ParsedBatch(parsed, reasons, _exactly(bodies, parsed))
        return documents.to_rows(self._spec.columns, wrapped=self._spec.is_wrapped, lacking=lacking)

    def _parse(self, body: bytes) -> tuple[Any, str | None]:
        try:
            return orjson.loads(body), None
        except orjson.JSONDecodeError:
            return self._parse_leniently(body)

    def _parse_leniently(self, body: bytes) -> tuple[Any, str | None]:
        """Parse what the clean path takes beyond the standard, so that both agree."""
        if not body:
            return None, "the body is empty"
        try:
            text = self._reader.normalise(body.decode())
        except UnicodeDecodeError:
            return None, "the body is not valid UTF-8"
        return (None, NOT_JSON) if text is None else (json.loads(text), None)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Make many small objects without looking for cycles among them: JSON has none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _sample(values: pa.Array) -> Any:
    """Return the first document, to learn how fields are spelled."""
    for value in values[:10]:
        try:
            return orjson.loads(value.as_py() or b"")
        except orjson.JSONDecodeError:
            continue
    return None


def _exactly(bodies: list[bytes | None], parsed: list[Any]) -> Callable[[int], Any]:
    def parse(row: int) -> Any:
        try:
            return json.loads(bodies[row] or b"null", parse_float=Exact, parse_constant=Exact)
        except ValueError:
            # Read by the lenient parser, which keeps no digits.
            return keep_digits(parsed[row])

    return parse


def _patch(rows: pa.Array, mask: pa.Array, values: pa.Array) -> pa.Array:
    """Return the rows with the values at the mask's places."""
    # Arrow cannot replace nested values in place: take each row from where it is right.
    own = pa.array(range(len(rows)), pa.int64())
    other = pc.add(pc.cumulative_sum(mask.cast(pa.int64())), len(rows) - 1)
    return pa.concat_arrays([rows, values]).take(pc.if_else(mask, other, own))
