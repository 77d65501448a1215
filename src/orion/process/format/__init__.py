"""Bytes and rows as Spark columns: native expressions where they mean the same, else batches."""

from orion.process.format.avro import unplanned_schema_id
from orion.process.format.choice import (
    NoColumnsError,
    RegistryAccess,
    choose_spec,
    registered_format,
)
from orion.process.format.decode import decode_column, is_native
from orion.process.format.encode import Encoded, encode_column
from orion.process.format.type import (
    UnsupportedColumnTypeError,
    spark_columns,
    spark_type,
    sql_columns,
    sql_type,
)

__all__ = [
    "Encoded",
    "NoColumnsError",
    "RegistryAccess",
    "UnsupportedColumnTypeError",
    "choose_spec",
    "decode_column",
    "encode_column",
    "is_native",
    "registered_format",
    "spark_columns",
    "spark_type",
    "sql_columns",
    "sql_type",
    "unplanned_schema_id",
]
