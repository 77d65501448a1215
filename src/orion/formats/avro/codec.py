"""AVRO bodies to rows and back, record by record; Spark's native path covers bulk."""

import functools
import io
import struct
from collections.abc import Callable, Mapping
from typing import Any

import fastavro
import pyarrow as pa

from orion.formats.avro.column import kind_of, parse_avro, resolve
from orion.formats.avro.schema import avro_schema
from orion.formats.avro.union import has_union, spread
from orion.formats.column import ParsedBatch
from orion.formats.schema_error import SchemaColumnsError, UnwritableRowError
from orion.formats.schema_source import Schema, SchemaKind, SchemaSource
from orion.formats.spec import Decoded, FormatSpec
from orion.formats.temporal import as_numbers
from orion.formats.wire import (
    Readers,
    UnreadableBodyError,
    header,
    parse_framed,
    split_headers,
    writing_schema,
)
from orion.model import Array, Field, Map, Scalar, Struct, Type

Read = Callable[[bytes], Any]
Shape = Callable[[Any], Any]
# The writer's own words for a value that the schema cannot hold.
_UNWRITABLE = (ValueError, TypeError, OverflowError, KeyError, ArithmeticError, struct.error)


class AvroCodec:
    """Avro behind a schema id: read by the writer's schema, fitted to the columns by name."""

    def __init__(self, spec: FormatSpec, schemas: SchemaSource) -> None:
        self._spec, self._schemas = spec, schemas
        self._readers: Readers[Read] = Readers(schemas, SchemaKind.AVRO, self._reader)

    def _reader(self, schema: Schema) -> Read:
        tree, named = parse_avro(schema, self._schemas)
        if has_union(tree, named):
            return lambda body: spread(_read(tree, body, names=True), tree, named)
        return functools.partial(_read, tree)

    def decode(self, values: pa.Array) -> Decoded:
        """Return the rows of these bodies."""
        framed = split_headers(values)
        parsed, reasons = parse_framed(framed, self._readers.of(framed))
        lacking = [document is None for document in parsed]
        return ParsedBatch(parsed, reasons).to_rows(
            self._spec.columns, wrapped=self._spec.is_wrapped, lacking=lacking
        )

    @functools.cached_property
    def _writer(self) -> tuple[bytes, Any, Shape]:
        found = writing_schema(self._spec, self._schemas, avro_schema(self._spec))
        tree, named = parse_avro(found.schema, self._schemas)
        spec = self._spec
        kind = Struct(spec.columns) if spec.is_wrapped else spec.columns[0].type
        return header(found.id), tree, _shape(kind, tree, named)

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """Return these rows as bodies."""
        head, tree, shape = self._writer
        found = as_numbers(rows, Struct(self._spec.columns)).to_pylist()
        name = "" if self._spec.is_wrapped else self._spec.columns[0].name
        bodies: list[bytes | None] = []
        for row in found:
            value = row[name] if row is not None and name else row
            bodies.append(None if value is None else head + _write(tree, shape(value)))
        return pa.array(bodies, pa.binary())


def _read(tree: Any, body: bytes, *, names: bool = False) -> Any:
    """Read one body; with `names`, values of unions say which named type they are."""
    try:
        # Bytes behind the record are ignored, as every other reader does.
        return fastavro.schemaless_reader(
            io.BytesIO(body), tree, None, return_record_name=names, return_named_type=names
        )
    except (EOFError, ValueError, IndexError, TypeError, OverflowError, MemoryError) as error:
        why = str(error) or "it ends too early"
        raise UnreadableBodyError(f"the body does not follow its schema: {why}") from error


def _write(tree: Any, value: Any) -> bytes:
    stream = io.BytesIO()
    try:
        fastavro.schemaless_writer(stream, tree, value)
    except _UNWRITABLE as error:
        raise UnwritableRowError("the value", str(error) or type(error).__name__) from error
    return stream.getvalue()


def _shape(kind: Type, tree: Any, named: Mapping[str, Any], path: str = "") -> Shape:
    """Return the function from a value to what the schema's writer takes."""
    tree = _branch(kind, tree, named, path)
    match kind:
        case Struct(fields):
            return _object_shape(fields, tree, named, path)
        case Array(element):
            inner = _part(element, tree["items"], named, f"{path}[]")
            return lambda value: [inner(each) for each in value]
        case Map() if kind_of(tree) == "map":
            inner = _part(kind.value, tree["values"], named, f"{path}[]")
            return lambda value: {str(key): inner(each) for key, each in value}
        case Map():
            entry = Struct((Field("key", kind.key), Field("value", kind.value)))
            pair = _shape(entry, tree["items"], named, path)
            return lambda value: [pair({"key": key, "value": each}) for key, each in value]
        case Scalar():
            return _scalar_shape(kind, tree)
        case _:
            return lambda value: value


_STORED = {
    Scalar.BOOLEAN: {"boolean"},
    Scalar.INTEGER: {"int", "long", "float", "double"},
    Scalar.BIGINT: {"long", "float", "double"},
    Scalar.DOUBLE: {"double", "float"},
    Scalar.STRING: {"string", "enum"},
    Scalar.BYTES: {"bytes", "fixed"},
    Scalar.DATE: {"int"},
    Scalar.TIME: {"int", "long"},
    Scalar.TIMESTAMP: {"long"},
}


def _branch(kind: Type, tree: Any, named: Mapping[str, Any], path: str) -> Any:
    """Return the branch of a schema that a type is written as."""
    branches = tree if isinstance(tree, list) else [tree]
    for branch in branches:
        found = resolve(branch, named)
        if kind_of(found) in _stored_as(kind):
            return found
        if isinstance(found, list):
            return _branch(kind, found, named, path)
    found_words = ", ".join(kind_of(resolve(branch, named)) for branch in branches)
    raise SchemaColumnsError(path or "the value", f"{kind} is no {found_words}")


def _stored_as(kind: Type) -> set[str]:
    match kind:
        case Scalar():
            return _STORED[kind]
        case Array():
            return {"array"}
        case Map():
            return {"map", "array"}
        case Struct():
            return {"record"}
        case _:
            return {"bytes", "fixed"}


def _part(kind: Type, tree: Any, named: Mapping[str, Any], path: str) -> Shape:
    """Return the function of a part that may be null: it stays so where the schema has null."""
    shape = _shape(kind, tree, named, path)
    if _has_null(tree, named):
        return lambda value: None if value is None else shape(value)

    def require(value: Any) -> Any:
        if value is None:
            raise UnwritableRowError(
                path, "it is null, and the schema has neither null nor a default"
            )
        return shape(value)

    return require


def _has_null(tree: Any, named: Mapping[str, Any]) -> bool:
    kind = resolve(tree, named)
    branches = kind if isinstance(kind, list) else [kind]
    return any(kind_of(branch) == "null" for branch in branches)


def _scalar_shape(kind: Scalar, tree: Any) -> Shape:
    logical = tree.get("logicalType") if isinstance(tree, dict) else None
    if kind is Scalar.TIMESTAMP and logical != "timestamp-micros":
        return lambda value: value // 1_000
    if kind is Scalar.TIME and logical == "time-micros":
        return lambda value: value * 1_000
    return lambda value: value


def _object_shape(
    fields: tuple[Field, ...], tree: Any, named: Mapping[str, Any], path: str
) -> Shape:
    """Match columns to a record's fields by name in any case."""
    known = {field["name"]: field for field in tree["fields"]}
    by_upper = {name.upper(): name for name in reversed(list(known))}
    parts = []
    for field in fields:
        name = field.name if field.name in known else by_upper.get(field.name.upper())
        inner_path = f"{path}.{field.name}".strip(".")
        if name is None:
            raise SchemaColumnsError(inner_path, "it has no such field")
        shape = _part(field.type, known[name]["type"], named, inner_path)
        parts.append((field.name, name, shape))
    _require_defaults(known, {name for _, name, _ in parts}, path)
    # A field that is left out gets its default.
    optional = {name for name, field in known.items() if _replaces_null(field, named)}
    return lambda value: {
        name: shape(value[column])
        for column, name, shape in parts
        if value[column] is not None or name not in optional
    }


def _replaces_null(field: Mapping[str, Any], named: Mapping[str, Any]) -> bool:
    """Tell whether a field takes its default where a row has no value."""
    return "default" in field and not _has_null(field["type"], named)


def _require_defaults(known: Mapping[str, Any], given: set[str], path: str) -> None:
    for name, field in known.items():
        if name not in given and "default" not in field:
            raise SchemaColumnsError(
                f"{path}.{name}".strip("."), "the schema needs it, and there is no such column"
            )
