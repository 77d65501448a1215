"""What a run of a query is planned with, beyond what its author wrote."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Planning:
    """What was found out since the query was written.

    Args:
        schema_ids: Schemas that its records have, besides the known ones.
        skips_lost: Whether records that its topics no longer hold are passed over.
    """

    schema_ids: frozenset[int] = frozenset()
    skips_lost: bool = False


@dataclass(frozen=True)
class BatchLimit:
    """How many records of a topic a batch may hold.

    Args:
        is_exceeded: Whether the topic holds more now.
    """

    records: int
    is_exceeded: bool = False


# Builds a streaming DataFrame; called again for each run.
BuildRows = Callable[[Planning], DataFrame]
