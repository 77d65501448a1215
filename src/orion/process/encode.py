"""A DataFrame as records of a topic: key, value, headers and timestamp as Kafka takes them."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructType

from orion.formats import FormatSpec, SchemaSource, format_named
from orion.model import Field, InvalidInputError
from orion.process.event_time import why_no_time
from orion.process.format import Encoded, encode_column, sql_type
from orion.process.source import (
    HEADERS,
    HEADERS_TYPE,
    KEY,
    OFFSET,
    PARTITION,
    TIMESTAMP,
    TOMBSTONE,
    TOPIC,
    UnknownColumnError,
    observe_dead_letters,
    row_letter,
)

# Formats of pipelines: JSON as Spark writes it, and the column `value` as it is.
JSON, RAW = "json", "raw"
# Rows that are records already: key, value, timestamp_ms and perhaps headers.
RECORDS = "records"
_PLACE = (TOPIC, PARTITION, OFFSET)
# Columns on the way, apart from any of the caller's.
_KEY, _VALUE, _ROW, _REASON = "$key", "$value", "$row", "$reason"


@dataclass(frozen=True)
class TopicWrite:
    """How rows become records.

    Args:
        key: Columns of the key; none: the key that the record came with, if it was kept.
        timestamp: Column of the record's time; empty: the time it came with, if it was kept.
        key_format: The format of the key's columns; empty: text as it is, nested values as JSON.
        schemas: Where formats with schemas register them.
    """

    topic: str
    key: Sequence[str] = ()
    timestamp: str = ""
    format: str = "json"
    key_format: str = ""
    schemas: SchemaSource | None = None


class RawColumnsError(InvalidInputError):
    """Raised when rows cannot be written as raw bytes."""

    def __init__(self, found: list[str]) -> None:
        self.found = found
        super().__init__(
            f"Raw format needs a column 'value' of text or bytes, found: {', '.join(found)}.",
            fix="Select one as 'value', or use format='json'.",
        )


def encode_rows(df: DataFrame, write: TopicWrite) -> DataFrame:
    """Return the columns key, value, timestamp_ms and, where they were kept, headers."""
    if write.format == RECORDS:
        return df
    for name in (*write.key, *([write.timestamp] if write.timestamp else [])):
        if name not in df.columns:
            raise UnknownColumnError(name, df.columns)
    key, value = _key(df, write), _value(df, write)
    facts = [_time(df, write).alias("timestamp_ms")]
    if HEADERS in df.columns:
        facts.append(F.col(HEADERS).alias("headers"))
    facts += [F.col(name) for name in (TOMBSTONE, *_PLACE) if name in df.columns]
    row = F.struct(*(F.col(f"`{name}`") for name in df.columns if not name.startswith("_")))
    encoded = df.select(key.column.alias(_KEY), value.column.alias(_VALUE), *facts, row.alias(_ROW))
    if key.can_fail or value.can_fail or write.timestamp:
        encoded = _set_aside(encoded, key, value, write)
    body = value.body(_VALUE)
    if TOMBSTONE in df.columns:
        body = F.when(~F.col(TOMBSTONE), body)
    kept = ["headers"] if HEADERS in df.columns else []
    return encoded.select(key.body(_KEY).alias("key"), body.alias("value"), "timestamp_ms", *kept)


def _set_aside(encoded: DataFrame, key: Encoded, value: Encoded, write: TopicWrite) -> DataFrame:
    """Return the rows that the topic can hold; the others become dead letters."""
    reasons = [F.concat(F.lit("key: "), key.reason(_KEY)), value.reason(_VALUE)]
    time_ms, reason = F.col("timestamp_ms"), F.col(_REASON)
    if write.timestamp:
        reasons.append(why_no_time(time_ms, write.timestamp))
    rows = encoded.withColumn(_REASON, F.coalesce(*reasons))
    origin = [F.col(name) for name in _PLACE if name in rows.columns]
    letter = row_letter(write.topic, F.col(_ROW), time_ms, reason, origin=origin)
    letter["key"] = key.body(_KEY)
    if "headers" not in rows.columns:
        letter["headers"] = F.lit(None).cast(HEADERS_TYPE)
    return observe_dead_letters(rows.withColumns(letter), reason).where(reason.isNull())


def _value(df: DataFrame, write: TopicWrite) -> Encoded:
    if write.format == RAW:
        return Encoded(_raw_value(df))
    names = _value_columns(df)
    if write.format == JSON:
        row = F.struct(*(F.col(f"`{name}`") for name in names))
        return Encoded(F.to_json(row, {"ignoreNullFields": "false"}).cast("binary"))
    return _encoded(df, names, write, write.format, is_key=False)


def _encoded(
    df: DataFrame, names: Sequence[str], write: TopicWrite, format: str, *, is_key: bool
) -> Encoded:
    """Return columns in a format, by a schema that is registered if it is new."""
    fields = tuple(Field(name, sql_type(df.schema[name].dataType, name)) for name in names)
    subject = f"{write.topic}-{'key' if is_key else 'value'}"
    spec = FormatSpec(format_named(format), fields, subject=subject, is_key=is_key)
    row = F.struct(*(F.col(f"`{name}`").alias(name) for name in names))
    return encode_column(row, spec, write.schemas)


def _value_columns(df: DataFrame) -> list[str]:
    names = [name for name in df.columns if not name.startswith("_")]
    if not names:
        raise InvalidInputError(
            "There is no column to write: all begin with '_' and are facts of the record.",
            fix="Keep at least one column of the value, or use format='raw'.",
        )
    return names


def _raw_value(df: DataFrame) -> Column:
    if "value" not in df.columns or not isinstance(
        df.schema["value"].dataType, StringType | BinaryType
    ):
        raise RawColumnsError(df.columns)
    return F.col("value").cast("binary")


def _key(df: DataFrame, write: TopicWrite) -> Encoded:
    if write.key and write.key_format:
        return _encoded(df, write.key, write, write.key_format, is_key=True)
    if len(write.key) == 1:
        return Encoded(key_bytes(F.col(f"`{write.key[0]}`"), df.schema[write.key[0]].dataType))
    if write.key:
        names = (F.col(f"`{name}`") for name in write.key)
        return Encoded(F.to_json(F.struct(*names)).cast("binary"))
    return Encoded(F.col(KEY) if KEY in df.columns else F.lit(None).cast("binary"))


def key_bytes(column: Column, kind: DataType) -> Column:
    """Return a key as bytes: text as it is, numbers spelled out, nested values as JSON."""
    if isinstance(kind, BinaryType):
        return column
    if isinstance(kind, StructType | MapType | ArrayType):
        return F.to_json(column).cast("binary")
    return column.cast("string").cast("binary")


def _time(df: DataFrame, write: TopicWrite) -> Column:
    name = write.timestamp or (TIMESTAMP if TIMESTAMP in df.columns else "")
    if not name:
        return F.lit(None).cast("long")
    return F.unix_millis(F.col(f"`{name}`").cast("timestamp"))
