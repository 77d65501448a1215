"""The place of a record among all of its batch: by time, but each partition as it lies."""

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import LongType

from orion.sql import Source
from orion.state import turns_of_task


def turn_of(time_ms: Column) -> Column:
    """Return the turns of records by their times; each task has to read one partition, whole.

    Found where records are decoded, in the same visit to Python: later, when rows are spread by
    key, no task sees what lies ahead of a record in its partition.
    """
    turns: Any = arrow_udf(turns_of_task(), LongType())  # type: ignore[call-overload]
    # Marked so that no filter leaves out records before they have been seen.
    column: Column = turns.asNondeterministic()(time_ms)
    return column


def place_of(source: Source, turn: Column) -> Column:
    """Return places by the turns of records."""
    topic = F.xxhash64(F.lit(source.topic))
    return F.array(turn, topic, F.col("partition").cast("long"), F.col("offset"))
