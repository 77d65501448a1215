"""Rows as records of a sink: key and value encoded, the record's time, unwritable rows aside."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.command import key_spec, value_spec
from orion.formats import SchemaSource
from orion.process.event_time import why_no_time
from orion.process.format import Encoded, encode_column
from orion.process.source import row_letter
from orion.process.sql.expression import quoted
from orion.process.sql.read import REASON, Surroundings, event_time
from orion.sql import Source, step, tree
from orion.state import ABSENT, HEADERS, SEQUENCE, TIME

_KEY, _VALUE, _ROW, _TIME = "$key", "$value", "$row", "timestamp_ms"


@dataclass(frozen=True)
class RecordColumns:
    """The columns of a sink's records, made of those that a query selects."""

    sink: Source
    row: Column
    key: Encoded
    value: Encoded

    @classmethod
    def of(cls, project: step.Project, sink: Source, around: Surroundings) -> "RecordColumns":
        """Return how rows of a query become records."""
        row = _struct([(n.name, n.name) for n in project.value])
        key = _encoded_key(project, sink, around.schemas)
        value = encode_column(F.when(~F.col(ABSENT), row), value_spec(sink), around.schemas)
        return cls(sink, row, key, value)

    @property
    def can_fail(self) -> bool:
        """Whether there may be rows that the topic cannot hold; these are told apart by `$seq`."""
        return self.key.can_fail or self.value.can_fail or self.sink.event_time is not None

    def encode(self, rows: DataFrame, around: Surroundings) -> DataFrame:
        """Return rows as records of a topic; those that it cannot hold are set aside."""
        bounds = _bounds(self.sink)
        encoded = rows.select(
            self.key.column.alias(_KEY),
            self.value.column.alias(_VALUE),
            _record_time(self.sink, around).alias(_TIME),
            F.col(HEADERS).alias("headers"),
            F.col(SEQUENCE),
            self.row.alias(_ROW),
            *(quoted(name) for name in bounds),
        )
        key_bytes = self.key.body(_KEY)
        if bounds:
            # Whole numbers are eight bytes, the highest first.
            key_bytes = F.concat(key_bytes, *(quoted(name).cast("binary") for name in bounds))
        if self.can_fail:
            encoded = self._set_aside(encoded, key_bytes, around)
            key_bytes = F.col("key")
        body = self.value.body(_VALUE).alias("value")
        return encoded.select(key_bytes.alias("key"), body, _TIME, "headers", SEQUENCE)

    def _set_aside(self, encoded: DataFrame, key_bytes: Column, around: Surroundings) -> DataFrame:
        reason = F.coalesce(
            F.concat(F.lit("key: "), self.key.reason(_KEY)),
            self.value.reason(_VALUE),
            _time_reason(self.sink),
        )
        encoded = encoded.withColumn(REASON, reason)
        row, time_ms, origin = F.col(_ROW), F.col(_TIME), [F.col(SEQUENCE)]
        letter = row_letter(self.sink.topic, row, time_ms, F.col(REASON), origin=origin)
        return around.set_aside(encoded.withColumns({**letter, "key": key_bytes}))


def _struct(names: list[tuple[str, str]]) -> Column:
    return F.struct(*(quoted(source).alias(name) for source, name in names))


def _encoded_key(project: step.Project, sink: Source, schemas: SchemaSource | None) -> Encoded:
    if not project.key:
        return Encoded(F.lit(None).cast("binary"))
    names = [
        (f"$key.{n.name}", column.name) for n, column in zip(project.key, sink.key, strict=True)
    ]
    parts = [quoted(source) for source, _ in names]
    missing = parts[0].isNull()
    for part in parts[1:]:
        missing = missing & part.isNull()
    row = _struct(names)
    if len(parts) == 1 or not project.is_keyed_anew:
        row = F.when(~missing, row)
    return encode_column(row, key_spec(sink), schemas)


def _bounds(sink: Source) -> list[str]:
    """Return the columns that follow the key's own bytes."""
    if sink.windowed is None or not sink.key:
        return []
    is_session = sink.windowed.kind is tree.WindowKind.SESSION
    return ["$window.end", "$window.start"] if is_session else ["$window.start"]


def _record_time(sink: Source, around: Surroundings) -> Column:
    """Return the record's time: the row's, or that of the sink's own column."""
    if sink.event_time is None:
        return F.col(TIME)
    column = sink.get(sink.event_time.column)
    assert column is not None
    name = column.name if column in sink.value else f"$key.{column.name}"
    return F.coalesce(event_time(sink, name, around.functions), F.col(TIME))


def _time_reason(sink: Source) -> Column:
    if sink.event_time is None:
        return F.lit(None).cast("string")
    return why_no_time(F.col(_TIME), sink.event_time.column)
