"""Times that a column gives to records: which of them Kafka and windows can take."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import LAST_MS


def unreadable_time(column: str) -> str:
    """Say why a record is set aside whose own time is missing."""
    return f"the timestamp column '{column}' cannot be read"


def early_time(column: str) -> str:
    """Say why a record is set aside whose own time Kafka cannot hold."""
    return f"the timestamp column '{column}' lies before 1970"


def far_time(column: str) -> str:
    """Say why a record is set aside whose own time is in another unit."""
    return f"the timestamp column '{column}' lies behind the year 9999, as milliseconds since 1970"


def why_no_time(time_ms: Column, column: str) -> Column:
    """Return why a time cannot be that of a record; null where it can, or is null."""
    return F.when(time_ms < 0, early_time(column)).when(time_ms > LAST_MS, far_time(column))
