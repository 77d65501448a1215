"""Rows to JSON bodies, as ksqlDB writes them: nulls too, temporal values as numbers."""

import base64
import functools
import math
from collections.abc import Callable
from typing import Any

import orjson
import pyarrow as pa

from orion.formats.number import spell_decimal, spell_double
from orion.formats.spec import FormatSpec
from orion.formats.temporal import as_numbers
from orion.model import Array, Decimal, Map, Scalar, Struct, Type

Write = Callable[[Any], str]


def encode_rows(rows: pa.StructArray, spec: FormatSpec) -> pa.Array:
    """Return a body a row; a null row, or a null that is the whole body, is a null."""
    kind = Struct(spec.columns)
    found = as_numbers(rows, kind).to_pylist()
    if spec.is_wrapped:
        write = writer(kind)
        bodies = [None if row is None else write(row).encode() for row in found]
    else:
        name, write = spec.columns[0].name, writer(spec.columns[0].type)
        bodies = [
            None if row is None or row[name] is None else write(row[name]).encode() for row in found
        ]
    return pa.array(bodies, pa.binary())


@functools.cache
def writer(kind: Type) -> Write:
    """Return the function from a value, its temporal parts as numbers, to JSON."""
    write = _writer(kind)
    return lambda value: "null" if value is None else write(value)


def _writer(kind: Type) -> Write:
    match kind:
        case Scalar():
            return _SCALARS.get(kind, str)
        case Decimal():
            return spell_decimal
        case Array(element):
            return functools.partial(_list, writer(element))
        case Map(key, value):
            return functools.partial(_map, key, writer(value))
        case Struct(fields):
            parts = [(field.name, _text(field.name), writer(field.type)) for field in fields]
            return functools.partial(_object, parts)


def _text(value: str) -> str:
    return orjson.dumps(value).decode()


def _double(value: float) -> str:
    # JSON has no such numbers; Jackson writes them as text.
    return spell_double(value) if math.isfinite(value) else f'"{spell_double(value)}"'


def _list(write: Write, value: list[Any]) -> str:
    return "[" + ",".join([write(each) for each in value]) + "]"


def _map(key: Type, write: Write, value: list[tuple[Any, Any]]) -> str:
    if key is Scalar.STRING:
        return "{" + ",".join([f"{_text(name)}:{write(each)}" for name, each in value]) + "}"
    spell = writer(key)
    entries = [f'{{"key":{spell(name)},"value":{write(each)}}}' for name, each in value]
    return "[" + ",".join(entries) + "]"


def _object(parts: list[tuple[str, str, Write]], value: dict[str, Any]) -> str:
    return "{" + ",".join([f"{label}:{write(value[name])}" for name, label, write in parts]) + "}"


_SCALARS: dict[Scalar, Write] = {
    Scalar.STRING: _text,
    Scalar.BOOLEAN: lambda value: "true" if value else "false",
    Scalar.DOUBLE: _double,
    Scalar.BYTES: lambda value: f'"{base64.b64encode(value).decode()}"',
    Scalar.TIMESTAMP: lambda value: str(value // 1_000),
}
