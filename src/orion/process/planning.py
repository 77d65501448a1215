"""What a run of a query is planned with, beyond what its author wrote."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from orion.config import EngineSettings
from orion.log import Topic
from orion.model import parse_bytes


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

    @classmethod
    def of(cls, topic: Topic, settings: EngineSettings) -> "BatchLimit":
        """Return the limit of a topic: the driver collects batches, so bytes count too."""
        if not topic.records or not topic.size_bytes:
            return cls(settings.max_batch_records)
        mean = max(1, topic.size_bytes // topic.records)
        by_bytes = parse_bytes(settings.max_batch_bytes) // mean
        most = max(1, min(settings.max_batch_records, by_bytes))
        return cls(most, is_exceeded=topic.records > most)


# Builds a streaming DataFrame; called again for each run.
BuildRows = Callable[[Planning], DataFrame]
