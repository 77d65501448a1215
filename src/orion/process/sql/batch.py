"""A query over records that are at hand: one call, one batch, no broker."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, repeat
from zlib import crc32

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from orion.formats import SchemaSource
from orion.process.sql.compile import compile_query
from orion.process.sql.read import REASON, Surroundings
from orion.sql import Functions, Source, Started
from orion.state import BATCH_PROPERTY, SEQUENCE, StatePlace

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_RECORDS = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("$timestamp", pa.int64()),
        (SEQUENCE, pa.list_(pa.int64())),
        ("headers", _HEADERS),
        ("offset", pa.int64()),
    ]
)


@dataclass(frozen=True)
class GivenRecord:
    """A record of a topic and its place among all records."""

    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    sequence: tuple[int, ...]
    headers: tuple[tuple[str, bytes | None], ...] = ()


class BatchRunner:
    """Runs queries over records in memory, on one warm session.

    Args:
        state: Where queries remember earlier batches, and in how many parts; None: nowhere.
    """

    def __init__(
        self,
        spark: SparkSession,
        functions: Functions,
        schemas: SchemaSource | None,
        state: StatePlace | None = None,
    ) -> None:
        self._spark = spark
        self._functions = functions
        self._schemas = schemas
        self._state = state or StatePlace(None, 1)

    def run(
        self, started: Started, topics: Mapping[str, Sequence[GivenRecord]], *, batch: int = 0
    ) -> list[GivenRecord]:
        """Return the records that a query writes for a batch of its topics' records, in order."""
        around = Surroundings(
            records=self._records(topics),
            set_aside=lambda rows: rows.where(F.col(REASON).isNull()),
            functions=self._functions,
            places=self._places(started),
            schemas=self._schemas,
            collapses=started.collapses,
            tells_places=True,
        )
        self._spark.sparkContext.setLocalProperty(BATCH_PROPERTY, str(batch))
        table = compile_query(started.plan.step, started.sink, around).toArrow()
        return sorted(_given(table), key=lambda record: record.sequence)

    def _places(self, started: Started) -> Iterator[StatePlace]:
        if self._state.folder is None:
            return repeat(self._state)
        folder = f"{self._state.folder}/{started.query}"
        return (StatePlace(f"{folder}/{n}", self._state.partitions) for n in count())

    def _records(
        self, topics: Mapping[str, Sequence[GivenRecord]]
    ) -> Callable[[Source], DataFrame]:
        def records(source: Source) -> DataFrame:
            rows = [
                {
                    "key": record.key,
                    "value": record.value,
                    "$timestamp": record.timestamp_ms,
                    SEQUENCE: [*record.sequence, crc32(source.topic.encode()), 0, offset],
                    "headers": [{"key": k, "value": v} for k, v in record.headers],
                    "offset": offset,
                }
                for offset, record in enumerate(topics.get(source.topic, ()))
            ]
            table = pa.Table.from_pylist(rows, _RECORDS)
            # One task a batch: the records of a case are few.
            found = self._spark.createDataFrame(table).coalesce(1)
            return found.withColumns({"topic": F.lit(source.topic), "partition": F.lit(0)})

        return records


def _given(table: pa.Table) -> list[GivenRecord]:
    return [
        GivenRecord(
            key=row["key"],
            value=row["value"],
            timestamp_ms=row["timestamp_ms"],
            sequence=tuple(row[SEQUENCE]),
            headers=tuple((h["key"], h["value"]) for h in row["headers"] or ()),
        )
        for row in table.to_pylist()
    ]
