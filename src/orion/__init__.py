"""Orion: a streaming data platform in one Python package.

A pipeline is a file run by `orion run`:

    import orion

    plays = orion.stream("plays", "user_id STRING, song_id STRING, seconds INT")
    orion.to_topic(plays.where("seconds >= 30"), "long_plays", key="song_id")
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "spark",
    "stream",
    "to_table",
    "to_topic",
    "udaf",
    "udf",
    "udtf",
    "wait",
]

_SQL = ("udaf", "udf", "udtf")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from orion.pipeline import stream, to_table, to_topic, wait
    from orion.sql import udaf, udf, udtf

    spark: SparkSession


def __getattr__(name: str) -> Any:
    """Import what is asked for at its first use, so that the command line stays light."""
    if name not in __all__:
        raise AttributeError(f"module 'orion' has no attribute '{name}'")
    if name in _SQL:
        from orion import sql

        return getattr(sql, name)
    from orion import pipeline

    return getattr(pipeline, name)
