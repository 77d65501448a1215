"""Rows as records of a sink: key and value encoded, the record's time, unwritable rows aside."""

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


def encode_rows(
    rows: DataFrame, project: step.Project, sink: Source, around: Surroundings
) -> DataFrame:
    """Return rows as records of a topic; those that it cannot hold are set aside."""
    row = _struct([(n.name, n.name) for n in project.value])
    value = encode_column(F.when(~F.col(ABSENT), row), value_spec(sink), around.schemas)
    key = _encoded_key(project, sink, around.schemas)
    bounds = _bounds(sink)
    encoded = rows.select(
        key.column.alias(_KEY),
        value.column.alias(_VALUE),
        _record_time(sink, around).alias(_TIME),
        F.col(HEADERS).alias("headers"),
        F.col(SEQUENCE),
        row.alias(_ROW),
        *(quoted(name) for name in bounds),
    )
    key_bytes = key.body(_KEY)
    if bounds:
        key_bytes = F.concat(key_bytes, *(_long_bytes(quoted(name)) for name in bounds))
    if key.can_fail or value.can_fail or sink.event_time is not None:
        reason = F.coalesce(
            F.concat(F.lit("key: "), key.reason(_KEY)), value.reason(_VALUE), _time_reason(sink)
        )
        encoded = encoded.withColumn(REASON, reason)
        origin = [F.col(SEQUENCE)]
        letter = row_letter(sink.topic, F.col(_ROW), F.col(_TIME), F.col(REASON), origin=origin)
        encoded = around.set_aside(encoded.withColumns({**letter, "key": key_bytes}))
        key_bytes = F.col("key")
    return encoded.select(
        key_bytes.alias("key"), value.body(_VALUE).alias("value"), _TIME, "headers", SEQUENCE
    )


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


def _long_bytes(value: Column) -> Column:
    return F.unhex(F.lpad(F.hex(value), 16, "0"))


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
