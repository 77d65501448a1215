"""The jobs of the statements by hand in PySpark: with Orion's two ends, and with Spark's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame, GroupedData
from pyspark.sql import functions as F  # noqa: N812

import orion
from bench.bids import COLUMNS, CONDITION, KEPT
from bench.contender import spark_bids, write_by_spark


class Ends(Protocol):
    """Where a job begins and ends."""

    def read(self) -> DataFrame:
        """Return the bids, and the record's key and time as `_key` and `_timestamp`."""

    def write(
        self, rows: DataFrame, topic: str, name: str, *, key: Sequence[str], output_mode: str
    ) -> None:
        """Start a query that writes rows as JSON, with their `_timestamp` if they have one.

        Args:
            key: The columns that become the record's key.
        """


@dataclass(frozen=True)
class OrionEnds:
    """`orion.stream` and `to_topic`, exactly once."""

    source: str

    def read(self) -> DataFrame:
        return orion.stream(self.source, COLUMNS)

    def write(
        self, rows: DataFrame, topic: str, name: str, *, key: Sequence[str], output_mode: str
    ) -> None:
        own = () if list(key) == ["_key"] else key
        mode = "exactly_once"
        orion.to_topic(rows, topic, key=own, name=name, mode=mode, output_mode=output_mode)


@dataclass(frozen=True)
class SparkEnds:
    """Spark's source, `from_json` and Spark's sink, tuned: at least once. Ends with its topic."""

    source: str
    addresses: str

    def read(self) -> DataFrame:
        rows = spark_bids(self.addresses, self.source)
        return rows.withColumnsRenamed({"key": "_key", "timestamp": "_timestamp"})

    def write(
        self, rows: DataFrame, topic: str, name: str, *, key: Sequence[str], output_mode: str
    ) -> None:
        own = F.col("_key") if list(key) == ["_key"] else F.to_json(F.struct(*key))
        times = [F.col(name).alias("timestamp") for name in rows.columns if name == "_timestamp"]
        body = [column for column in rows.columns if column not in (*key, "_timestamp")]
        value = F.to_json(F.struct(*body)).alias("value")
        records = rows.select(own.alias("key"), value, *times)
        write_by_spark(records, self.addresses, topic, tuned=True, output_mode=output_mode)


def filter_bids(ends: Ends, topic: str, name: str) -> None:
    rows = ends.read().where(CONDITION).select(*KEPT, "_key", "_timestamp")
    ends.write(rows, topic, name, key=("_key",), output_mode="append")


def group(ends: Ends, topic: str, name: str) -> None:
    rows = _totals(ends.read().groupBy("bidder"))
    ends.write(rows, topic, name, key=("bidder",), output_mode="update")


def tumbling(ends: Ends, topic: str, name: str) -> None:
    windows = _timed(ends).groupBy(F.window("at", "1 minute").alias("w"), "bidder")
    rows = _totals(windows).select("bidder", F.col("w.start").alias("start"), "n", "total")
    ends.write(rows, topic, name, key=("bidder", "start"), output_mode="update")


def session(ends: Ends, topic: str, name: str) -> None:
    sessions = _timed(ends).groupBy(F.session_window("at", "10 seconds").alias("w"), "bidder")
    rows = _totals(sessions).select("bidder", F.col("w.start").alias("start"), "n", "total")
    # Spark has no sessions in update mode.
    ends.write(rows, topic, name, key=("bidder", "start"), output_mode="append")


def pairs(ends: Ends, topic: str, name: str) -> None:
    """Join each bid with those of its bidder that came in the half second around it."""
    left, right = (_timed(ends).alias(side) for side in "ab")
    near = F.expr(
        "a.bidder = b.bidder AND b.at >= a.at - INTERVAL 500 MILLISECONDS"
        " AND b.at <= a.at + INTERVAL 500 MILLISECONDS"
    )
    rows = left.join(right, near).select("a.bidder", "a.price", F.col("b.price").alias("other"))
    ends.write(rows, topic, name, key=("bidder",), output_mode="append")


def _timed(ends: Ends) -> DataFrame:
    rows = ends.read().withColumn("at", F.timestamp_millis("dateTime"))
    return rows.select(*KEPT, "at").withWatermark("at", "1 minute")


def _totals(groups: GroupedData) -> DataFrame:
    return groups.agg(F.count("*").alias("n"), F.sum("price").alias("total"))
