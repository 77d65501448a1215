"""The header of records that name their schema: a zero byte, then the schema's id."""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from orion.formats.schema_source import (
    RegisteredSchema,
    Schema,
    SchemaKind,
    SchemaNotFoundError,
    SchemaSource,
)
from orion.formats.spec import FormatSpec
from orion.model import InvalidInputError

T = TypeVar("T")

HEADER_BYTES = 5
_HEADER = struct.Struct(">bI")
_PLACE_VALUES = 256 ** np.arange(HEADER_BYTES - 1, -1, -1, dtype=np.int64)


def header(schema_id: int) -> bytes:
    """Return the bytes that stand before a body.

    >>> header(7).hex()
    '0000000007'
    """
    return _HEADER.pack(0, schema_id)


@dataclass(frozen=True)
class Framed:
    """A batch taken apart.

    Args:
        heads: The distinct headers of the batch: an id, or why there is none.
        places: For each record the position of its header; null where the record is null.
        bodies: What follows the header.
    """

    heads: list[tuple[int | None, str | None]]
    places: pa.Array
    bodies: pa.Array


def split_headers(values: pa.Array) -> Framed:
    """Take the headers off a batch; few are distinct, so they are read once each."""
    offsets, content = _layout(values)
    lengths = np.diff(offsets)
    is_long = lengths >= HEADER_BYTES
    inside = offsets[:-1][is_long][:, None] + np.arange(HEADER_BYTES)
    found, of_long = np.unique(content[inside] @ _PLACE_VALUES, return_inverse=True)
    heads = [_read_header(int(head)) for head in found]
    # A record too short for a header gets one of these instead.
    heads += [(None, f"the body has {n} bytes, too few for a schema id") for n in range(5)]
    places = len(found) + lengths
    places[is_long] = of_long
    kept = np.ones(len(content), bool)
    kept[inside] = False
    kept[: offsets[0]] = kept[offsets[-1] :] = False
    starts = np.concatenate(([0], np.cumsum(np.where(is_long, lengths - HEADER_BYTES, lengths))))
    bodies = pa.Array.from_buffers(
        pa.binary(),
        len(values),
        [None, pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(content[kept])],
    )
    if values.null_count:
        bodies = pc.if_else(values.is_null(), pa.scalar(None, pa.binary()), bodies)
    return Framed(heads, pa.array(places, pa.int64(), mask=_null_mask(values)), bodies)


def _layout(values: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return where each value begins and ends, and the bytes of all."""
    filled = values.cast(pa.binary()).fill_null(b"")
    _, offsets, content = filled.buffers()
    ends = np.frombuffer(offsets, np.int32) if offsets is not None else np.zeros(1, np.int32)
    own = ends[filled.offset : filled.offset + len(values) + 1]
    return own, np.frombuffer(content or b"", np.uint8)


def _null_mask(values: pa.Array) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = values.is_null().to_numpy(zero_copy_only=False)
    return mask


def read_header(head: bytes) -> tuple[int | None, str | None]:
    """Return the schema id of a record's first bytes, or why there is none."""
    if len(head) < HEADER_BYTES:
        return None, f"the body has {len(head)} bytes, too few for a schema id"
    return _read_header(int.from_bytes(head, "big"))


def _read_header(number: int) -> tuple[int | None, str | None]:
    magic, schema_id = divmod(number, 1 << 32)
    if magic:
        return None, f"the body begins with byte {magic}, not with the 0 before a schema id"
    return schema_id, None


def find_schema(
    schemas: SchemaSource, schema_id: int, kind: SchemaKind
) -> tuple[Schema | None, str | None]:
    """Return the schema of an id, or why records of this id cannot be read."""
    try:
        schema = schemas.schema(schema_id)
    except SchemaNotFoundError:
        return None, f"schema id {schema_id} is not registered"
    if schema.kind is not kind:
        return None, f"schema id {schema_id} is {schema.kind}, not {kind}"
    return schema, None


class Readers(Generic[T]):
    """What reads the records of each schema, made once for an id.

    Args:
        build: Makes a reader of a schema; the InvalidInputError it raises is the reason.
    """

    def __init__(
        self, schemas: SchemaSource, kind: SchemaKind, build: Callable[[Schema], T]
    ) -> None:
        self._schemas, self._kind, self._build = schemas, kind, build
        self._known: dict[int, tuple[T | None, str | None]] = {}

    def of(self, framed: Framed) -> list[tuple[T | None, str | None]]:
        """Return for each header of a batch its reader, or why there is none."""
        return [
            (None, reason) if schema_id is None else self._reader(schema_id)
            for schema_id, reason in framed.heads
        ]

    def _reader(self, schema_id: int) -> tuple[T | None, str | None]:
        if schema_id not in self._known:
            schema, reason = find_schema(self._schemas, schema_id, self._kind)
            if schema is None:
                # Not remembered: it may be registered by the time the next batch comes.
                return None, reason
            self._known[schema_id] = self._try_build(schema)
        return self._known[schema_id]

    def _try_build(self, schema: Schema) -> tuple[T | None, str | None]:
        try:
            return self._build(schema), None
        except InvalidInputError as error:
            return None, error.text


def parse_framed(
    framed: Framed, readers: list[tuple[Callable[[bytes], Any] | None, str | None]]
) -> tuple[list[Any], list[str | None]]:
    """Return each record parsed by its schema's reader, and why it could not be."""
    parsed: list[Any] = []
    reasons: list[str | None] = []
    for place, body in zip(framed.places.to_pylist(), framed.bodies.to_pylist(), strict=True):
        document, reason = None, None
        if place is not None:
            read, reason = readers[place]
            if read is not None:
                try:
                    document = read(body)
                except UnreadableBodyError as error:
                    reason = str(error)
        parsed.append(document)
        reasons.append(reason)
    return parsed, reasons


class UnreadableBodyError(Exception):
    """Raised when a body does not follow its schema; the text is the reason."""


def writing_schema(spec: FormatSpec, schemas: SchemaSource, made: Schema) -> RegisteredSchema:
    """Return the schema that rows are written with: the one asked for, or one made of columns."""
    if spec.schema_id is not None:
        return RegisteredSchema(spec.schema_id, schemas.schema(spec.schema_id))
    return RegisteredSchema(schemas.register(spec.subject, made), made)
