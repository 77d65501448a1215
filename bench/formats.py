"""Formats as Spark columns against Spark's own functions: CPU and time of the same round."""

import os
import statistics
from collections.abc import Callable, Set
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.avro.functions import from_avro, to_avro
from rich.progress import track

from bench.measure import Cost, cost_of
from orion.formats import Format, FormatSpec, MemorySchemas, schema_of
from orion.model import Field, Scalar
from orion.process.decoding import add_decoded, plan_for_known
from orion.process.format import decode_column, encode_column
from orion.process.planning import Planning

COLUMNS = (
    Field("auction", Scalar.BIGINT),
    Field("bidder", Scalar.BIGINT),
    Field("price", Scalar.BIGINT),
    Field("channel", Scalar.STRING),
    Field("url", Scalar.STRING),
    Field("dateTime", Scalar.BIGINT),
    Field("extra", Scalar.STRING),
)
WANTED = tuple(field for field in COLUMNS if field.type is Scalar.BIGINT)
UPPER = tuple(Field(field.name.upper(), field.type) for field in WANTED)
LACKING = (*WANTED, Field("nothing", Scalar.BIGINT))
DDL = ", ".join(f"{field.name} BIGINT" for field in WANTED)
SUBJECT = "bids-value"

Runs = dict[str, tuple[str, Callable[[], None]]]


def run_formats(spark: SparkSession, *, records: int, rounds: int) -> dict[str, Any]:
    rows = _rows(spark, records).cache()
    schemas = MemorySchemas()
    avro = FormatSpec(Format.AVRO, COLUMNS, subject=SUBJECT)
    avro_bytes = rows.select(encode_column(_row(), avro, schemas).column.alias("value"))
    json_bytes = rows.select(F.to_json(_row()).cast("binary").alias("value"))
    avro_bytes, json_bytes = avro_bytes.cache(), json_bytes.cache()
    for each in (rows, avro_bytes, json_bytes):
        each.count()
    runs = {**_decoding(avro_bytes, json_bytes, schemas), **_encoding(rows, schemas)}
    costs: dict[str, list[Cost]] = {name: [] for name in runs}
    for number in track(range(rounds + 2), "formats", transient=True):
        for name, (_, run) in runs.items():
            cost = cost_of(run)
            # The first two rounds let the JVM compile.
            if number > 1:
                costs[name].append(cost)
    spark.catalog.clearCache()
    return {name: _summary(name, runs[name][0], costs, records) for name in runs}


def _rows(spark: SparkSession, records: int) -> DataFrame:
    number = F.col("id")
    columns = [
        (number % 1_000).alias("auction"),
        (number * 7 % 10_000).alias("bidder"),
        (F.hash("id") % 10_000_000).cast("long").alias("price"),
        F.lit("Google").alias("channel"),
        F.lit("https://www.example.com/item.htm?query=1&channel_id=12345").alias("url"),
        (number + 1_700_000_000_000).alias("dateTime"),
        F.lit("x" * 30).alias("extra"),
    ]
    # A task a core, as for a topic of so many partitions. The engine has slots for more, which many
    # queries fill; sixteen tasks of one query on two cores push each other out of the caches.
    return spark.range(0, records, 1, os.cpu_count() or 2).select(*columns)


def _row() -> Column:
    """Return the columns as one value: the way both a pipeline and Spark's examples encode."""
    return F.struct(*(field.name for field in COLUMNS))


def _decoding(avro_bytes: DataFrame, json_bytes: DataFrame, schemas: MemorySchemas) -> Runs:
    text = schema_of(FormatSpec(Format.AVRO, COLUMNS)).text
    names = [f"v.{field.name}" for field in WANTED]
    plain_avro = from_avro(F.expr("substring(value, 6)"), text)
    plain_json = F.from_json(F.col("value").cast("string"), DDL)
    wanted = FormatSpec(Format.AVRO, WANTED, subject=SUBJECT)

    def ours(
        source: DataFrame, spec: FormatSpec, *, expected: Set[int] | None = None
    ) -> Callable[[], None]:
        found = decode_column(F.col("value"), spec, schemas, expected=expected)
        rows = source.select(found.alias("v")).where("v.reason is null").select("v.row.*")
        return lambda: _run(rows)

    stream, name = add_decoded(avro_bytes, "value", wanted, schemas)
    stream = stream.where(f"{name}.reason is null").select(f"{name}.row.*")
    planned = plan_for_known(stream)(Planning())

    return {
        "from_avro": ("", lambda: _run(avro_bytes.select(plain_avro.alias("v")).select(*names))),
        "avro decode, ids known": ("from_avro", ours(avro_bytes, wanted, expected=frozenset())),
        "avro decode, orion.stream": ("from_avro", lambda: _run(planned)),
        "avro decode, any id": ("from_avro", ours(avro_bytes, wanted)),
        "from_json": ("", lambda: _run(json_bytes.select(plain_json.alias("v")).select("v.*"))),
        "json decode": ("from_json", ours(json_bytes, FormatSpec(Format.JSON, WANTED))),
        "json decode, other case": ("from_json", ours(json_bytes, FormatSpec(Format.JSON, UPPER))),
        "json decode, every row lacks": (
            "from_json",
            ours(json_bytes, FormatSpec(Format.JSON, LACKING)),
        ),
    }


def _encoding(rows: DataFrame, schemas: MemorySchemas) -> Runs:
    avro = FormatSpec(Format.AVRO, COLUMNS, subject=SUBJECT)
    json = FormatSpec(Format.JSON, COLUMNS)
    text = schema_of(avro).text
    row = _row()

    def run(column: Column) -> Callable[[], None]:
        # Spark would else answer with the cached bytes of the same expression.
        written = rows.select(F.length(column).alias("n")).agg(F.sum("n"))
        return lambda: _run(written)

    return {
        "to_avro": ("", run(to_avro(row, text))),
        "avro encode": ("to_avro", run(encode_column(row, avro, schemas).column)),
        "to_json": ("", run(F.to_json(row, {"ignoreNullFields": "false"}).cast("binary"))),
        "json encode": ("to_json", run(encode_column(row, json).column)),
    }


def _run(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def _summary(
    name: str, baseline: str, costs: dict[str, list[Cost]], records: int
) -> dict[str, Any]:
    own, millions = costs[name], records / 1_000_000
    summary: dict[str, Any] = {
        "records_per_s": round(records / statistics.median(c.wall_s for c in own)),
        "cpu_s_per_million": round(statistics.median(c.cpu_s for c in own) / millions, 2),
    }
    if baseline:
        pairs = list(zip(own, costs[baseline], strict=True))
        speed = statistics.median(other.wall_s / mine.wall_s for mine, other in pairs)
        summary["speed vs spark"] = round(speed, 2)
    return summary
