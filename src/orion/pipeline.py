"""What a PySpark pipeline calls: topics in as DataFrames, DataFrames out to topics and tables."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orion.app import App, load_settings
from orion.model import InvalidInputError, Mode, QueryStatus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from orion.process import Query, RegistryAccess, Runtime

    spark: SparkSession

TOMBSTONES = ("dead_letter", "keep")
_RAW = "raw"
_PLAIN_FORMATS = ("json", _RAW)


class RealtimeFormatError(InvalidInputError):
    """Raised when real-time mode is asked to read a format that needs Python."""

    def __init__(self, format: str) -> None:
        self.format = format
        super().__init__(
            f"Real-time mode reads json and raw, not '{format}'.",
            fix="Use mode='exactly_once' or 'at_least_once'.",
        )


class Pipeline:
    """The application that this process runs; its Spark starts at the first use."""

    def __init__(self, app: App, name: str, *, once: bool = False) -> None:
        self.app = app
        self.name = name
        self.once = once
        self._runtime: Runtime | None = None

    @property
    def runtime(self) -> Runtime:
        """The running Spark application."""
        if self._runtime is None:
            self._runtime = self.app.start_runtime(self.name)
        return self._runtime

    @cached_property
    def registry(self) -> RegistryAccess:
        """The schema registry; a local one that does not answer counts as empty."""
        from orion.process import RegistryAccess

        return RegistryAccess(self.app.schemas, is_required=bool(self.app.settings.registry.url))

    def stop(self) -> None:
        """Stop the queries, if any was started."""
        if self._runtime is not None:
            self._runtime.stop()


_current: Pipeline | None = None


def begin(pipeline: Pipeline) -> None:
    """Make this the pipeline that the functions below speak to."""
    global _current
    _current = pipeline


def current() -> Pipeline:
    """Return this process's pipeline; a script run without `orion run` gets one by itself."""
    if _current is None:
        begin(Pipeline(App(load_settings()), Path(sys.argv[0]).stem or "python"))
    assert _current is not None
    return _current


def __getattr__(name: str) -> Any:
    if name == "spark":
        return current().runtime.spark
    raise AttributeError(f"module 'orion.pipeline' has no attribute '{name}'")


def stream(  # noqa: PLR0913 - the public call: each is optional and named
    topic: str,
    schema: str | StructType | None = None,
    *,
    format: str | None = None,
    key_schema: str | StructType | None = None,
    key_format: str = "kafka",
    event_time: str = "",
    tombstones: str = "dead_letter",
    mode: str | None = None,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return a topic as a streaming DataFrame.

    The columns of the schema come first, then the record's own facts: `_key`, `_headers`,
    `_timestamp`, `_topic`, `_partition`, `_offset`. A record that cannot be read as the schema
    says goes to the dead-letter topic of the query that reads it. Without a schema there is one
    column, `value`, with the bytes, unless the registry knows a schema of the topic's values.

    Args:
        format: `json`, `avro`, `json_sr`, `protobuf`, `protobuf_nosr`, `delimited`, `kafka`, or
            `raw` for the bytes; else that of the topic's newest schema in the registry, or json.
        key_schema: Columns of the key, which then come first.
        key_format: The key's format.
        event_time: The column that is the record's time, for `_timestamp`.
        tombstones: What a null value is: a `dead_letter`, or `keep` it as a row whose
            `_tombstone` is true.
        mode: `realtime` reads in the way real-time mode needs.
        options: Options of Spark's Kafka source, by their own names.
    """
    from orion.process import TopicRead, choose_spec, parse_columns, spark_columns

    if tombstones not in TOMBSTONES:
        raise InvalidInputError(
            f"tombstones is '{tombstones}'.", fix=f"Use {' or '.join(TOMBSTONES)}."
        )
    pipeline = current()
    runtime = pipeline.runtime
    is_native = _mode(mode, runtime.default_mode) is Mode.REALTIME
    if is_native and format not in (None, *_PLAIN_FORMATS):
        raise RealtimeFormatError(format or "")
    columns, value, key = parse_columns(schema), None, None
    if format not in _PLAIN_FORMATS and not is_native:
        value = choose_spec(topic, columns, format, pipeline.registry)
    if key_schema is not None:
        value = value or choose_spec(topic, columns, "json", pipeline.registry)
        given = parse_columns(key_schema)
        key = choose_spec(topic, given, key_format, pipeline.registry, is_key=True)
    if value is not None:
        columns = spark_columns([*(key.columns if key else ()), *value.columns])
    read = TopicRead(
        topic,
        None if format == _RAW else columns,
        event_time=event_time,
        keep_tombstones=tombstones == "keep",
        native=is_native,
        value=value,
        key=key,
        schemas=pipeline.registry.schemas,
        options=options,
    )
    return runtime.read(read)


def to_topic(  # noqa: PLR0913 - the public call: each is optional and named
    df: DataFrame,
    topic: str,
    *,
    key: str | Sequence[str] = (),
    timestamp: str = "",
    format: str | None = None,
    key_format: str = "",
    name: str = "",
    mode: str | None = None,
    output_mode: str = "append",
) -> Query:
    """Start a query that writes a streaming DataFrame to a topic.

    The value holds the columns that do not begin with `_`. The record's facts go
    along where they were kept: `_key` unless `key` names columns, `_headers`, `_timestamp`.

    Args:
        format: `json`, `avro`, `json_sr`, `protobuf`, `protobuf_nosr`, `delimited`, `kafka`, or
            `raw` to write the column `value` as it is; else that of the topic's newest schema in
            the registry, or json. A schema is made of the columns and registered.
        key_format: The format of the key's columns; else text as it is, nested values as JSON.
        name: The query's name, which is also its consumer group; else `<app>-<topic>`.
        mode: `exactly_once`, `at_least_once` or `realtime`; else the setting engine.mode.
        output_mode: Spark's output mode for aggregations: append, update or complete.
    """
    from orion.process import TopicWrite, registered_format

    pipeline = current()
    runtime = pipeline.runtime
    keys = (key,) if isinstance(key, str) else tuple(key)
    return runtime.write_topic(
        df,
        TopicWrite(
            topic,
            key=keys,
            timestamp=timestamp,
            format=format or registered_format(topic, pipeline.registry) or "json",
            key_format=key_format,
            schemas=pipeline.registry.schemas,
        ),
        name=name or f"{pipeline.name}-{topic}",
        mode=_mode(mode, runtime.default_mode),
        output_mode=output_mode,
        once=pipeline.once,
    )


def to_table(
    df: DataFrame,
    table: str,
    *,
    key: str | Sequence[str] = (),
    partition_by: str | Sequence[str] = (),
    name: str = "",
) -> Query:
    """Start a query that writes a streaming DataFrame to a lake table, exactly once.

    Args:
        key: Columns that identify a row: the last record of a key wins, a tombstone deletes.
            Without a key, rows are appended.
        partition_by: Columns whose values make the table's sub-folders.
        name: The query's name, which is also its consumer group; else `<app>-<table>`.
    """
    from orion.lake import TableWrite

    pipeline = current()
    runtime = pipeline.runtime
    write = TableWrite(
        runtime.lake.table_path(table),
        key=(key,) if isinstance(key, str) else tuple(key),
        partition_by=(partition_by,) if isinstance(partition_by, str) else tuple(partition_by),
    )
    default = f"{pipeline.name}-{table.replace('/', '.')}"
    return runtime.write_table(df, table, write=write, name=name or default, once=pipeline.once)


def wait() -> list[QueryStatus]:
    """Block until every query has ended; `orion run` does this by itself."""
    return current().runtime.wait()


def _mode(given: str | None, default: Mode) -> Mode:
    if given is None:
        return default
    if given not in list(Mode):
        raise InvalidInputError(f"Mode '{given}' is not known.", fix=f"Use {', '.join(Mode)}.")
    return Mode(given)
