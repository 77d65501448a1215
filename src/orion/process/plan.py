"""What a streaming plan reads, and whether real-time mode can run it."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame

from orion.model import InvalidInputError

# The option of a source that is read in step with others: how many records a batch may hold.
IN_STEP = "orion.batchRecords"
# Operators that real-time mode of Spark 4.1 runs; anything else in the streaming part is refused.
_REALTIME = {
    "Project",
    "Filter",
    "StreamingRelationV2",
    "SubqueryAlias",
    "Union",
    "Generate",
    "ResolvedHint",
    "View",
    "Join",
}
_WORDS = {
    "CollectMetrics": "orion.stream puts it in unless it is given mode='realtime' too",
    "MapInArrow": "it runs Python",
    "ArrowEvalPython": "it runs Python",
    "Aggregate": "an aggregation keeps state",
    "Deduplicate": "deduplication keeps state",
    "DeduplicateWithinWatermark": "deduplication keeps state",
    "Window": "a window function needs the whole batch",
    "Sort": "sorting needs the whole batch",
    "Repartition": "a shuffle ends a batch",
    "RepartitionByExpression": "a shuffle ends a batch",
    "Join": "a join of two streams keeps state",
}
_FIXES = {"CollectMetrics": "Read the topic with orion.stream(…, mode='realtime')."}
_FIX = "Use mode='exactly_once' or 'at_least_once', or leave that operator out."


class RealtimeRefusedError(InvalidInputError):
    """Raised when a plan cannot run in real-time mode; names the operator."""

    def __init__(self, query: str, operator: str) -> None:
        self.query, self.operator = query, operator
        reason = _WORDS.get(operator, "it is not one of the operators that can")
        super().__init__(
            f"Query '{query}' cannot run in realtime mode: its operator {operator} is in the way,"
            f" {reason}.",
            fix=_FIXES.get(operator, _FIX),
        )


def topics_read(df: DataFrame) -> tuple[str, ...]:
    """Return the topics that a streaming plan subscribes to."""
    found: list[str] = []
    for options in _source_options(df):
        found += (options.get("subscribe") or "").split(",")
    return tuple(sorted({topic for topic in found if topic}))


def limits_in_step(df: DataFrame) -> dict[str, int]:
    """Return how many records of each topic a batch may hold, where topics are read in step."""
    found = ((options.get("subscribe"), options.get(IN_STEP)) for options in _source_options(df))
    return {str(topic): int(limit) for topic, limit in found if limit is not None}


def _source_options(df: DataFrame) -> Iterator[Any]:
    leaves = _analyzed(df).collectLeaves()
    for position in range(leaves.length()):
        leaf = leaves.apply(position)
        if leaf.nodeName() == "StreamingRelationV2":
            yield leaf.extraOptions()


def is_streaming_join(node: Any) -> bool:
    """Tell whether both sides of a join are streams."""
    return bool(node.left().isStreaming() and node.right().isStreaming())


def require_realtime(df: DataFrame, query: str) -> None:
    """Raise unless real-time mode can run the plan."""
    for node in _streaming_nodes(_analyzed(df)):
        name = str(node.nodeName())
        if name not in _REALTIME or (name == "Join" and is_streaming_join(node)):
            raise RealtimeRefusedError(query, name)


def keeps_state(df: DataFrame) -> bool:
    """Tell whether a plan has Spark operators that keep state between batches."""
    return _has_any(df, "Aggregate", "Deduplicate", "DeduplicateWithinWatermark")


def makes_many_of_one(df: DataFrame) -> bool:
    """Tell whether a plan has Spark operators that may make any number of rows of one."""
    return _has_any(df, "Generate", "Join", "Expand")


def _has_any(df: DataFrame, *names: str) -> bool:
    return any(str(node.nodeName()) in names for node in _streaming_nodes(_analyzed(df)))


def _analyzed(df: DataFrame) -> Any:
    return df._jdf.queryExecution().analyzed()  # noqa: SLF001


def _streaming_nodes(node: Any) -> Iterator[Any]:
    if not node.isStreaming():
        return
    yield node
    children = node.children()
    for position in range(children.length()):
        yield from _streaming_nodes(children.apply(position))
