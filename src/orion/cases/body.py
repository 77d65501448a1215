"""Keys and values as a case writes them, to bytes and back, by the format of their topic."""

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from orion.formats import (
    Format,
    FormatSpec,
    SchemaSource,
    arrow_type,
    codec_of,
    columns_of,
    row_type,
)
from orion.model import Array, Field, InvalidInputError, Map, Scalar, Struct, Type
from orion.model import Decimal as DecimalType


class CaseValueError(InvalidInputError):
    """Raised when a case's record does not fit the columns of its topic."""

    def __init__(self, value: Any, why: str) -> None:
        self.value, self.why = value, why
        super().__init__(f"The record {value!r} cannot be written: {why}.")


def encode_body(value: Any, spec: FormatSpec, schemas: SchemaSource) -> bytes | None:
    """Return the bytes of a key or value."""
    if value is None or not spec.columns:
        return None if value is None else _loose(value)
    match spec.format:
        case Format.JSON:
            return dump_json(value).encode()
        case Format.DELIMITED:
            return str(value).encode()
        case Format.NONE:
            return None
    try:
        rows = pa.array([_row(value, spec)], row_type(spec.columns))
    except (pa.ArrowException, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise CaseValueError(value, str(error)) from error
    encoded: bytes | None = codec_of(spec, schemas).encode(rows)[0].as_py()
    return encoded


def decode_body(body: bytes | None, spec: FormatSpec, schemas: SchemaSource) -> Any:
    """Return a key or value as a case writes it; what cannot be read is shown as text."""
    if body is None:
        return None
    match spec.format:
        case Format.JSON:
            return json.loads(body, parse_float=Decimal)
        case Format.DELIMITED:
            return body.decode()
    if not spec.columns:
        return body.decode(errors="replace")
    if spec.schema_id is not None and spec.is_wrapped:
        # What follows a schema has all of its fields, also those that no column gave.
        written = columns_of(schemas.schema(spec.schema_id), schemas, full_name=spec.full_name)
        spec = replace(spec, columns=written)
    decoded = codec_of(spec, schemas).decode(pa.array([body], pa.binary()))
    row = decoded.rows[0].as_py()
    if row is None:
        return body.decode(errors="replace")
    shown = {field.name: _shown(row[field.name], field.type) for field in spec.columns}
    return shown if spec.is_wrapped else shown[spec.columns[0].name]


def _loose(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else dump_json(value).encode()


def _row(value: Any, spec: FormatSpec) -> Mapping[str, Any]:
    if not spec.is_wrapped:
        (column,) = spec.columns
        return {column.name: _value(value, column.type)}
    if not isinstance(value, Mapping):
        raise CaseValueError(value, "an object with the columns' names is needed")
    return _fields(value, spec.columns)


def _fields(value: Mapping[str, Any], fields: tuple[Field, ...]) -> dict[str, Any]:
    """Return the fields by their own names; a case may spell them in any case."""
    loose = {name.upper(): item for name, item in value.items()}
    return {
        field.name: _value(value.get(field.name, loose.get(field.name.upper())), field.type)
        for field in fields
    }


def _value(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    match kind:
        case Scalar.BYTES:
            return base64.b64decode(value)
        case Scalar.DATE | Scalar.TIMESTAMP:
            return _moment(value, kind)
        case Scalar() | DecimalType():
            return _plain_value(value, kind)
        case Array(element):
            return [_value(item, element) for item in value]
        case Map(key, element):
            return [(_value(k, key), _value(v, element)) for k, v in value.items()]
        case Struct(fields):
            return _fields(value, fields)
    return value


def _plain_value(value: Any, kind: Scalar | DecimalType) -> Any:
    match kind:
        case Scalar.DOUBLE:
            return float(value)
        case Scalar.INTEGER | Scalar.BIGINT | Scalar.TIME:
            return int(value)
        case Scalar.STRING:
            return value if isinstance(value, str) else dump_json(value)
        case DecimalType(precision, scale):
            context = Context(prec=precision + 1)
            return Decimal(str(value)).quantize(Decimal(1).scaleb(-scale), context=context)
    return value


def _moment(value: Any, kind: Type) -> Any:
    number = int(value) if kind is Scalar.DATE else int(value) * 1000
    width = pa.int32() if kind is Scalar.DATE else pa.int64()
    return pa.array([number], width).cast(arrow_type(kind))[0].as_py()


def _shown(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    match kind:
        case Scalar.BYTES:
            return base64.b64encode(value).decode()
        case Scalar.DATE:
            return pa.scalar(value, pa.date32()).cast(pa.int32()).as_py()
        case Scalar.TIMESTAMP:
            micros = pa.scalar(value, pa.timestamp("us", tz="UTC")).cast(pa.int64()).as_py()
            return micros // 1000
        case Array(element):
            return [_shown(item, element) for item in value]
        case Map(key, element):
            pairs = value.items() if isinstance(value, dict) else value
            return {str(_shown(k, key)): _shown(v, element) for k, v in pairs}
        case Struct(fields):
            return {field.name: _shown(value[field.name], field.type) for field in fields}
    return value


def in_form_of(value: Any, like: Any) -> Any:
    """Return a value with its decimals as text where the case writes them so."""
    if isinstance(value, Decimal) and isinstance(like, str):
        return f"{value:f}"
    if isinstance(value, dict) and isinstance(like, Mapping):
        loose = {str(name).upper(): item for name, item in like.items()}
        return {name: in_form_of(v, loose.get(name.upper())) for name, v in value.items()}
    if isinstance(value, list) and isinstance(like, list):
        return [
            in_form_of(item, like[n] if n < len(like) else None) for n, item in enumerate(value)
        ]
    return value


_MARK = "\x00number\x00"


def dump_json(value: Any) -> str:
    """Return JSON in which decimals keep every digit.

    >>> dump_json({"a": Decimal("1.50")})
    '{"a": 1.50}'
    """
    text = json.dumps(value, default=_plain, ensure_ascii=False)
    marked = json.dumps(_MARK)[1:-1]
    return text.replace(f'"{marked}', "").replace(f'{marked}"', "")


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{_MARK}{value}{_MARK}"
    raise TypeError(f"{type(value).__name__} has no JSON form")
