"""Bytes to rows as one column: struct<row: struct<columns…>, reason: string>.

The row is null where the bytes are null or cannot be read; the reason is null unless they cannot.
The planner neither repeats the decoding nor moves filters below it.
"""

from collections.abc import Set

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.formats import REASON_FIELD, ROW_FIELD, Format, FormatSpec, SchemaSource, check
from orion.model import Field, Scalar
from orion.process.format.avro import decode_avro
from orion.process.format.batch import decode_in_batches

_WIDTHS = {Scalar.INTEGER: 4, Scalar.BIGINT: 8}


def decode_column(
    bytes: Column,
    spec: FormatSpec,
    schemas: SchemaSource | None = None,
    *,
    expected: Set[int] | None = None,
) -> Column:
    """Return the rows of a binary column, as `struct<row, reason>`.

    Args:
        schemas: Where AVRO, JSON_SR and PROTOBUF find the schemas of records.
        expected: AVRO only, for plans that can be made anew: read with the schemas known now, these
            ids among them, at Spark's full speed; see `unplanned_schema_id`.
    """
    check(spec)
    if not is_native(spec, schemas):
        return decode_in_batches(bytes, spec, schemas)
    if spec.format is Format.NONE:
        return _decoded(F.lit(None).cast("struct<>"), F.lit(None))
    if spec.format is Format.KAFKA:
        return _decode_kafka(bytes, spec.columns[0])
    assert schemas is not None
    return decode_avro(bytes, spec, schemas, expected=expected)


def is_native(spec: FormatSpec, schemas: SchemaSource | None) -> bool:
    """Tell whether Spark reads a format by itself; what it cannot read may still leave the JVM."""
    match spec.format:
        case Format.NONE:
            return True
        case Format.KAFKA:
            return spec.columns[0].type is not Scalar.DOUBLE
        case Format.AVRO:
            return schemas is not None
    return False


def _decoded(row: Column, reason: Column) -> Column:
    return F.struct(row.alias(ROW_FIELD), reason.cast("string").alias(REASON_FIELD))


def _decode_kafka(bytes: Column, column: Field) -> Column:
    assert isinstance(column.type, Scalar)
    good, reason = bytes.isNotNull(), F.lit(None)
    match column.type:
        case Scalar.INTEGER | Scalar.BIGINT:
            width = _WIDTHS[column.type]
            good = F.length(bytes) == width
            found = F.concat_ws(
                "",
                F.lit("the body has "),
                F.length(bytes),
                F.lit(f" bytes, {column.type} has {width}"),
            )
            reason = F.when(~good, found)
            value = _whole(bytes, width)
        case Scalar.STRING:
            value = bytes.cast("string")
            good = F.is_valid_utf8(value)
            reason = F.when(~good, "the body is not valid UTF-8")
        case _:
            value = bytes
    row = F.when(good, F.struct(value.alias(column.name)))
    return _decoded(row, reason)


def _whole(bytes: Column, width: int) -> Column:
    """Return big-endian bytes as a signed number."""
    # A negative base makes `conv` read 64 bits as signed.
    number = F.conv(F.hex(bytes), 16, -10).cast("long")
    if width == _WIDTHS[Scalar.BIGINT]:
        return number
    limit = F.lit(1 << 31)
    return F.when(number >= limit, number - (1 << 32)).otherwise(number).cast("int")
