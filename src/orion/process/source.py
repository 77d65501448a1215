"""A topic as a streaming DataFrame: decoded columns, the record's own facts, dead letters aside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructType

from orion.formats import (
    REASON,
    REASON_FIELD,
    ROW_FIELD,
    FormatSpec,
    SchemaSource,
    decoding,
)
from orion.log import NO_PARTITION, Connection
from orion.model import InvalidInputError, nearest
from orion.process.decoding import add_decoded
from orion.process.event_time import why_no_time
from orion.process.plan import IN_STEP

# Facts of the record, beside the columns of its value; they travel on to a topic if kept.
KEY, HEADERS, TIMESTAMP = "_key", "_headers", "_timestamp"
TOPIC, PARTITION, OFFSET = "_topic", "_partition", "_offset"
TOMBSTONE = "_tombstone"
FACTS = (KEY, HEADERS, TIMESTAMP, TOPIC, PARTITION, OFFSET)

HEADERS_TYPE = "array<struct<key:string,value:binary>>"

# Observations by this name hold the dead letters of a source; a plan may read several.
DEAD_LETTERS = "orion_dead_letters"
_sources = count()
_LARGEST_NUMBER = (1 << 63) - 1
NULL_VALUE = "the value is null (a tombstone)"


@dataclass(frozen=True)
class TopicRead:
    """How a topic is read.

    Args:
        columns: The value's columns; None leaves the value as bytes.
        event_time: The column that is the record's time; empty: the log's own timestamp.
        native: Decode with Spark's parser, which real-time mode needs; slower in bulk.
        value: How the value lies in its bytes; None: as JSON, if there are columns.
        key: How the key's columns, which come before the value's, lie in its bytes.
        schemas: Where formats with schemas find them.
        in_step: Whether `Pace` says how far a batch goes, which then knows the limit.
        is_held: Whether nothing is read before it has said so.
    """

    topic: str
    columns: StructType | None
    event_time: str = ""
    keep_tombstones: bool = False
    native: bool = False
    value: FormatSpec | None = None
    key: FormatSpec | None = None
    schemas: SchemaSource | None = None
    start: str = "earliest"
    max_batch_records: int = 0
    in_step: bool = False
    is_held: bool = False
    options: Mapping[str, str] | None = None


class ReservedColumnError(InvalidInputError):
    """Raised when a value's column has the name of a record's fact."""

    def __init__(self, column: str) -> None:
        self.column = column
        super().__init__(
            f"Column '{column}' is reserved: names that begin with '_' are facts of the record.",
            fix="Rename the field where it is produced, or read the value as bytes (schema=None).",
        )


class UnknownColumnError(InvalidInputError):
    """Raised when a column is named that is not there."""

    def __init__(self, column: str, known: list[str]) -> None:
        self.column, self.known = column, known
        hint = nearest(column, known) or f"There are: {', '.join(known)}."
        super().__init__(f"Column '{column}' is not there.", fix=hint)


def parse_columns(schema: str | StructType | None) -> StructType | None:
    """Return columns given as `name TYPE, …` or as Spark's own type."""
    if schema is None or isinstance(schema, StructType):
        return schema
    try:
        columns = StructType.fromDDL(schema)
    except ParseException as error:
        raise InvalidInputError(
            f"Schema '{schema}' is not understood.",
            fix="Write it like: user_id STRING, amount DOUBLE, at TIMESTAMP.",
        ) from error
    assert isinstance(columns, StructType)
    return columns


def read_topic(spark: SparkSession, connection: Connection, read: TopicRead) -> DataFrame:
    """Return a topic as a streaming DataFrame of good records."""
    raw = read_raw(spark, connection, read)
    if read.columns is None:
        return raw.select("value", *_facts(F.col("timestamp")))
    _check(read)
    return _good(_decode(raw, read), read)


def read_dead_letters(
    spark: SparkSession, connection: Connection, read: TopicRead, *, query: str
) -> DataFrame:
    """Return only the records that a real-time query cannot read, as dead letters.

    Real-time mode cannot gather them on the way, so a query of their own reads them.
    """
    decoded = _decode(read_raw(spark, connection, read), read).where(F.col(REASON).isNotNull())
    facts = {
        "orion.topic": F.col("topic"),
        "orion.partition": F.col("partition").cast("string"),
        "orion.offset": F.col("offset").cast("string"),
        "orion.timestamp": F.unix_millis("timestamp").cast("string"),
        "orion.query": F.lit(query),
        "orion.reason": F.col(REASON),
    }
    own = F.array(
        *(
            F.struct(F.lit(n).alias("key"), v.cast("binary").alias("value"))
            for n, v in facts.items()
        )
    )
    headers = F.concat(F.coalesce("headers", F.array().cast(HEADERS_TYPE)), own)
    return decoded.select("value", F.col("key").alias(KEY), headers.alias(HEADERS))


def _check(read: TopicRead) -> None:
    assert read.columns is not None
    for name in read.columns.names:
        if name.startswith("_"):
            raise ReservedColumnError(name)
    if read.event_time and read.event_time not in read.columns.names:
        raise UnknownColumnError(read.event_time, read.columns.names)


def read_raw(spark: SparkSession, connection: Connection, read: TopicRead) -> DataFrame:
    """Return a topic's records as Kafka's source gives them, headers included."""
    reader = spark.readStream.format("kafka").options(**connection.spark_options())
    reader = reader.option("subscribe", read.topic).option("startingOffsets", read.start)
    reader = reader.option("includeHeaders", "true").option(
        "kafka.isolation.level", "read_committed"
    )
    reader = reader.option("kafka.max.partition.fetch.bytes", str(8 << 20))
    if read.max_batch_records and not read.native:
        most = 0 if read.is_held else read.max_batch_records
        reader = reader.option("maxOffsetsPerTrigger", str(most))
    if read.in_step:
        reader = reader.option(IN_STEP, str(read.max_batch_records))
    return reader.options(**(read.options or {})).load().drop("timestampType")


def _decode(raw: DataFrame, read: TopicRead) -> DataFrame:
    """Return the raw columns, the decoded ones and the reason a record is bad."""
    if read.value is not None:
        decoded = _decode_formats(raw, read, read.value)
    else:
        decoded = _decode_native(raw, read) if read.native else _decode_arrow(raw, read)
    if not read.event_time:
        return decoded
    time_ms = F.unix_millis(F.col(f"`{read.event_time}`").cast("timestamp"))
    return decoded.withColumn(REASON, F.coalesce(REASON, why_no_time(time_ms, read.event_time)))


def _decode_arrow(raw: DataFrame, read: TopicRead) -> DataFrame:
    """Decode the values in Arrow batches; everything else of the record stays in the JVM."""
    assert read.columns is not None
    shape = StructType([*read.columns.fields]).add(REASON, StringType())
    # Spark's stub of arrow_udf leaves struct results out, which it does take.
    decode: Any = arrow_udf(decoding(to_arrow_schema(read.columns)), shape)  # type: ignore[call-overload]
    # Marked so that the planner neither repeats the decoding nor moves filters below it.
    rows = raw.withColumn("_json", decode.asNondeterministic()("value"))
    return _unpack(raw, rows, read, F.col(f"_json.{REASON}"))


def _decode_formats(raw: DataFrame, read: TopicRead, value: FormatSpec) -> DataFrame:
    """Decode value and key by their formats."""
    rows, name = add_decoded(raw, "value", value, read.schemas)
    row, reason = F.col(name).getField(ROW_FIELD), F.col(name).getField(REASON_FIELD)
    bad = F.coalesce(reason, F.when(row.isNull(), NULL_VALUE))
    kept = [F.col(name) for name in raw.columns]
    if read.keep_tombstones:
        kept.append(row.isNull().alias(TOMBSTONE))
        bad = reason
    columns = [row.getField(field.name).alias(field.name) for field in value.columns]
    if read.key is not None:
        rows, name = add_decoded(rows, "key", read.key, read.schemas)
        key, key_reason = F.col(name).getField(ROW_FIELD), F.col(name).getField(REASON_FIELD)
        columns = [*(key.getField(f.name).alias(f.name) for f in read.key.columns), *columns]
        bad = F.coalesce(F.concat(F.lit("key: "), key_reason), bad)
    return rows.select(*kept, *columns, bad.alias(REASON))


def _decode_native(raw: DataFrame, read: TopicRead) -> DataFrame:
    assert read.columns is not None
    corrupt = "_corrupt"
    text = F.col("value").cast("string")
    shape = StructType([*read.columns.fields]).add(corrupt, StringType())
    parsed = F.from_json(text, shape, {"columnNameOfCorruptRecord": corrupt})
    rows = raw.withColumn("_json", parsed)
    reason = (
        F.when(F.col("value").isNull(), NULL_VALUE)
        .when(F.length("value") == 0, "the value is empty")
        .when(~F.is_valid_utf8(text), "the value is not valid UTF-8")
        .when(
            F.col("_json").isNull() | F.col(f"_json.{corrupt}").isNotNull(),
            "the value is not a JSON object with these columns",
        )
    )
    return _unpack(raw, rows, read, reason)


def _unpack(raw: DataFrame, rows: DataFrame, read: TopicRead, reason: Column) -> DataFrame:
    """Return the raw columns, the decoded ones and the reason a record is bad."""
    assert read.columns is not None
    kept = [F.col(name) for name in raw.columns]
    if read.keep_tombstones:
        kept.append(F.col("value").isNull().alias(TOMBSTONE))
        reason = F.when(F.col("value").isNotNull(), reason)
    decoded = [F.col("_json").getField(name).alias(name) for name in read.columns.names]
    return rows.select(*kept, *decoded, reason.alias(REASON))


def _good(decoded: DataFrame, read: TopicRead) -> DataFrame:
    """Set the dead letters aside, then return the good rows.

    The bad rows ride on an observation: it is gathered by the tasks that run anyway, and is there
    for the batch that is being written, so that they join its transaction.
    """
    assert read.columns is not None
    bad = F.col(REASON).isNotNull()
    if not read.native:
        decoded = observe_dead_letters(decoded, F.col(REASON))
    time = F.col(read.event_time) if read.event_time else F.col("timestamp")
    if read.event_time:
        time = F.coalesce(time.cast("timestamp"), F.col("timestamp"))
    tombstone = [F.col(TOMBSTONE)] if read.keep_tombstones else []
    columns = [F.col(f"`{name}`") for name in read.columns.names]
    return decoded.where(~bad).select(*columns, *tombstone, *_facts(time))


def observe_dead_letters(rows: DataFrame, reason: Column) -> DataFrame:
    """Return the rows as they are; those with a reason are gathered for the batch's delivery.

    Args:
        rows: With the columns of Kafka's source.
        reason: Why a row cannot be used; null: it can.
    """
    letter = F.struct(
        "topic",
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("timestamp_ms"),
        "key",
        "value",
        "headers",
        reason.alias("reason"),
    )
    name = f"{DEAD_LETTERS}_{next(_sources)}"
    letters = F.collect_list(F.when(reason.isNotNull(), letter))
    return rows.observe(name, letters.alias("letters"))


def row_letter(
    topic: str, row: Column, time_ms: Column, reason: Column, *, origin: Sequence[Column]
) -> dict[str, Column]:
    """Return a row that its topic cannot hold under the columns of Kafka's source, but for the key.

    It is no record and has no place: its number, the same whenever its task runs, tells it apart.

    Args:
        origin: What the row came from, as far as it is known; equal rows without it count as one.
    """
    text = F.to_json(row, {"ignoreNullFields": "false"})
    number = F.xxhash64(text, time_ms, *origin).bitwiseAND(F.lit(_LARGEST_NUMBER))
    return {
        "topic": F.lit(topic),
        "partition": F.lit(NO_PARTITION),
        "offset": F.when(reason.isNotNull(), number),
        "timestamp": F.timestamp_millis(time_ms),
        "value": F.when(reason.isNotNull(), text).cast("binary"),
    }


def _facts(time: Column) -> list[Column]:
    return [
        F.col("key").alias(KEY),
        F.col("headers").alias(HEADERS),
        time.alias(TIMESTAMP),
        F.col("topic").alias(TOPIC),
        F.col("partition").alias(PARTITION),
        F.col("offset").alias(OFFSET),
    ]
