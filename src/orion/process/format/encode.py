"""Rows to bytes as one column; a null row is null bytes."""

from dataclasses import dataclass, replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.formats import (
    BODY_FIELD,
    REASON_FIELD,
    Format,
    FormatSpec,
    SchemaSource,
    check,
    schema_of,
)
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.process.format.avro import encode_avro
from orion.process.format.batch import encode_fitting_in_batches, encode_in_batches

_NULLS_TOO = {"ignoreNullFields": "false"}
# Beyond this scale Java writes small decimals with an exponent.
_PLAIN_SCALE = 6


@dataclass(frozen=True)
class Encoded:
    """How rows are encoded: the expression, to be put into a column of its own.

    Args:
        can_fail: Whether the column is `struct<body, reason>`, with a reason where a row has a
            value that its schema cannot hold; else it is the bytes.
    """

    column: Column
    can_fail: bool = False

    def body(self, name: str) -> Column:
        """Return the bytes in the column of this name."""
        return F.col(name).getField(BODY_FIELD) if self.can_fail else F.col(name)

    def reason(self, name: str) -> Column:
        """Return why the column of this name has no bytes; null: it can have."""
        return F.col(name).getField(REASON_FIELD) if self.can_fail else F.lit(None).cast("string")


def encode_column(row: Column, spec: FormatSpec, schemas: SchemaSource | None = None) -> Encoded:
    """Return a struct column, with the fields of the spec by their names, as bytes.

    Args:
        schemas: Where AVRO, JSON_SR and PROTOBUF find or register the schema to write with.
    """
    check(spec)
    if spec.format.has_schema and schemas is not None and spec.schema_id is None:
        # Registered once, here; tasks on other machines only look it up.
        schema_id = schemas.register(spec.subject, schema_of(spec))
        spec = replace(spec, schema_id=schema_id)
    native = _encode_native(row, spec, schemas)
    if native is not None:
        return Encoded(native)
    if _is_given(spec, schemas):
        return Encoded(encode_fitting_in_batches(row, spec, schemas), can_fail=True)
    return Encoded(encode_in_batches(row, spec, schemas))


def _is_given(spec: FormatSpec, schemas: SchemaSource | None) -> bool:
    """Tell whether rows are written with a schema that was not made for them."""
    if schemas is None or spec.schema_id is None:
        return False
    return schemas.schema(spec.schema_id) != schema_of(spec)


def _encode_native(row: Column, spec: FormatSpec, schemas: SchemaSource | None) -> Column | None:
    """Return the bytes by Spark's own expressions, where they mean the same."""
    match spec.format:
        case Format.NONE:
            return F.lit(None).cast("binary")
        case Format.JSON if all(_is_native(field.type) for field in spec.columns):
            return F.when(row.isNotNull(), _json(row, spec)).cast("binary")
        case Format.KAFKA if spec.columns[0].type is not Scalar.DOUBLE:
            return _primitive(row.getField(spec.columns[0].name), spec.columns[0].type)
        case Format.DELIMITED if all(_is_native(field.type) for field in spec.columns):
            return F.when(row.isNotNull(), _line(row, spec)).cast("binary")
        case Format.AVRO if schemas is not None:
            return encode_avro(row, spec, schemas)
        case _:
            return None


def _is_native(kind: Type) -> bool:
    match kind:
        case Scalar():
            return True
        case Decimal(_, scale):
            return scale <= _PLAIN_SCALE
        case Array(element):
            return _is_native(element)
        case Map(_, value):
            return _is_native(value)
        case Struct(fields):
            return all(_is_native(field.type) for field in fields)


def _json(row: Column, spec: FormatSpec) -> Column:
    if spec.is_wrapped:
        return F.to_json(_fields(row, spec.columns), _NULLS_TOO)
    column = spec.columns[0]
    value = _with_numbers(row.getField(column.name), column.type)
    if not isinstance(column.type, Scalar | Decimal):
        return F.to_json(value, _NULLS_TOO)
    # Spark writes no bare values: take the one out of an array.
    text = F.to_json(F.array(value), _NULLS_TOO)
    return F.when(value.isNotNull(), F.substring(text, F.lit(2), F.length(text) - 2))


def _with_numbers(value: Column, kind: Type) -> Column:
    """Return a value whose dates are days and whose timestamps are milliseconds."""
    match kind:
        case Scalar.DATE:
            return F.unix_date(value)
        case Scalar.TIMESTAMP:
            return F.unix_millis(value)
        case Array(element) if _has_temporal(element):
            return F.transform(value, lambda each: _with_numbers(each, element))
        case Map(_, inner) if _has_temporal(inner):
            return F.transform_values(value, lambda _, each: _with_numbers(each, inner))
        case Struct(fields):
            return F.when(value.isNotNull(), _fields(value, fields))
        case _:
            return value


def _fields(value: Column, fields: tuple[Field, ...]) -> Column:
    """Return a struct that is not null with these fields alone, in their order."""
    parts = (
        _with_numbers(value.getField(field.name), field.type).alias(field.name) for field in fields
    )
    return F.struct(*parts)


def _has_temporal(kind: Type) -> bool:
    match kind:
        case Array(element):
            return _has_temporal(element)
        case Map(_, value):
            return _has_temporal(value)
        case Struct(fields):
            return any(_has_temporal(field.type) for field in fields)
        case _:
            return kind in (Scalar.DATE, Scalar.TIMESTAMP)


def _primitive(value: Column, kind: Type) -> Column:
    match kind:
        case Scalar.INTEGER:
            unsigned = value.cast("long").bitwiseAND(F.lit(0xFFFF_FFFF))
            return F.unhex(F.lpad(F.hex(unsigned), 8, "0"))
        case Scalar.BIGINT:
            return F.unhex(F.lpad(F.hex(value), 16, "0"))
        case _:
            return value.cast("binary")


def _line(row: Column, spec: FormatSpec) -> Column:
    """Return the values in one line, quoted by the rules of `orion.formats.delimited`."""
    parts = [
        _quoted(_spelled(row.getField(field.name), field.type), spec.separator, is_first=n == 0)
        for n, field in enumerate(spec.columns)
    ]
    return F.concat_ws(spec.separator, *parts)


def _spelled(value: Column, kind: Type) -> Column:
    match kind:
        case Scalar.BYTES:
            return F.base64(value)
        case _:
            return _with_numbers(value, kind).cast("string")


def _quoted(text: Column, separator: str, *, is_first: bool) -> Column:
    mark = separator if separator not in "\\^$.|?*+()[]{}-" else f"\\{separator}"
    odd_start = "^0-9A-Za-z" if is_first else r"\x00-\x23"
    pattern = rf'(?s)^[{odd_start}]|[{mark}"\r\n]|[\x00-\x20]$'
    needs = text.rlike(pattern)
    if is_first:
        needs = needs | (text == "")
    inside = F.replace(text, F.lit('"'), F.lit('""'))
    quoted = F.concat(F.lit('"'), inside, F.lit('"'))
    return F.coalesce(F.when(needs, quoted).otherwise(text), F.lit(""))
