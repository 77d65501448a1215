"""Settings of Spark and of the queries that run on it."""

from collections.abc import Mapping
from dataclasses import dataclass

from orion.config.field import options, setting


@dataclass(frozen=True)
class SparkSettings:
    """Where Spark runs and with what."""

    master: str = setting("local[16]", "Spark master: local[n], spark://…, k8s://… or yarn")
    memory: str = setting("1g", "Heap of the driver; in local mode the tasks share it")
    python: str = setting(
        "", "Interpreter of tasks on a cluster; empty: this one's version by name"
    )
    shuffle_partitions: int = setting(
        0, "Partitions after a shuffle; 0: one a core of this machine"
    )
    options: Mapping[str, str] = options(
        "Any Spark option by its own name; wins over Orion's defaults"
    )


@dataclass(frozen=True)
class EngineSettings:
    """How queries run, fail and restart."""

    warm: bool = setting(
        True, "Whether `orion up` starts the engine, the Spark that runs SQL queries"
    )
    mode: str = setting("exactly_once", "Default mode: exactly_once, at_least_once or realtime")
    trigger: str = setting(
        "0ms", "Least time between two batches of a query; 0ms: as soon as records come"
    )
    max_batch_records: int = setting(200_000, "Most records a query reads in one batch")
    max_batch_bytes: str = setting(
        "96MiB", "About the most bytes of one batch, by the mean record in the topic at the start"
    )
    checkpoints: str = setting(
        "", "Folder or URL of checkpoints; empty: checkpoints/ in the project's data"
    )
    state: str = setting(
        "", "Folder of SQL queries' state, shared by all workers; empty: state/ in the data"
    )
    max_restarts: int = setting(5, "Restarts of a failing query before it is FAILED")
    backoff: str = setting("1s", "Wait before the first restart; doubles each time, at most 60s")
    stable_after: str = setting(
        "60s", "Running this long without a failure clears the restart count"
    )
    dead_letter_suffix: str = setting(".dlq", "Dead letters of a query go to <query><suffix>")
