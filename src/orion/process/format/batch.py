"""Decoding and encoding by the codecs, in Arrow batches inside Spark's tasks."""

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import BinaryType, StringType, StructType

from orion.formats import (
    BODY_FIELD,
    REASON_FIELD,
    ROW_FIELD,
    FormatSpec,
    SchemaSource,
    fitting_row_encoding,
    row_decoding,
    row_encoding,
    row_transcoding,
)
from orion.process.format.type import spark_columns


def decode_in_batches(bytes: Column, spec: FormatSpec, schemas: SchemaSource | None) -> Column:
    """Return the rows of a binary column, as `struct<row, reason>`."""
    shape = StructType().add(ROW_FIELD, spark_columns(spec.columns))
    shape = shape.add(REASON_FIELD, StringType())
    # Spark's stub of arrow_udf leaves struct results out, which it does take.
    decode: Any = arrow_udf(row_decoding(spec, schemas), shape)  # type: ignore[call-overload]
    # Marked so that the planner neither repeats the decoding nor moves filters below it.
    column: Column = decode.asNondeterministic()(bytes)
    return column


def transcode_in_batches(bytes: Column, spec: FormatSpec, schemas: SchemaSource) -> Column:
    """Return records of any Avro schema as records of the columns' own, or reasons."""
    transcode: Any = arrow_udf(row_transcoding(spec, schemas), BinaryType())  # type: ignore[call-overload]
    column: Column = transcode(bytes)
    return column


def encode_in_batches(row: Column, spec: FormatSpec, schemas: SchemaSource | None) -> Column:
    """Return rows, with the fields of the spec by their names, as bytes."""
    encode: Any = arrow_udf(row_encoding(spec, schemas), BinaryType())  # type: ignore[call-overload]
    column: Column = encode(_exact(row, spec))
    return column


def encode_fitting_in_batches(
    row: Column, spec: FormatSpec, schemas: SchemaSource | None
) -> Column:
    """Return the same as `struct<body, reason>`: a row may not fit the schema it was given."""
    shape = StructType().add(BODY_FIELD, BinaryType()).add(REASON_FIELD, StringType())
    encode: Any = arrow_udf(fitting_row_encoding(spec, schemas), shape)  # type: ignore[call-overload]
    # Marked so that the planner does not encode once for the body and once for the reason.
    column: Column = encode.asNondeterministic()(_exact(row, spec))
    return column


def _exact(row: Column, spec: FormatSpec) -> Column:
    fields = [row.getField(field.name).alias(field.name) for field in spec.columns]
    return F.when(row.isNotNull(), F.struct(*fields))
