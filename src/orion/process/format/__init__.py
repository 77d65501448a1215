"""Bytes and rows as Spark columns: native expressions where they mean the same, else batches."""

from orion.process.format.avro import unplanned_schema_id
from orion.process.format.decode import decode_column
from orion.process.format.encode import encode_column
from orion.process.format.type import spark_columns, spark_type

__all__ = [
    "decode_column",
    "encode_column",
    "spark_columns",
    "spark_type",
    "unplanned_schema_id",
]
