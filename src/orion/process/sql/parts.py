"""A source's records as parts of groups: decoded and added up in one visit to Python."""

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.command import key_spec, value_spec
from orion.formats import row_decoding
from orion.model import Field, Scalar
from orion.process.event_time import early_time, far_time, unreadable_time
from orion.process.format import is_native
from orion.process.sql.expression import quoted
from orion.process.sql.operate import map_batches
from orion.process.sql.place import place_of
from orion.process.sql.read import REASON, Order, Surroundings, decoded
from orion.sql import Source, step, typed
from orion.state import HEADERS, RECORD, SEQUENCE, TIME, WHY_NOT, OwnTime, Parts, RecordParts

_KEY = "$key."


def read_parts(node: step.Aggregate, parts: Parts, around: Surroundings) -> DataFrame | None:
    """Return parts of the groups of a source's records; None: rows must be made of these first.

    That is so unless the groups need no more than columns as they are decoded.
    """
    read = node.input
    if not isinstance(read, step.Read) or not _is_plain(read, around):
        return None
    source = read.source
    columns = _columns(node, source)
    if columns is None:
        return None
    keys = [Field(f"{_KEY}{column.name}", column.type) for column in source.key]
    used = [key for key in keys if any(key.name in typed.inputs_of(each) for each in columns)]
    decode = row_decoding(value_spec(source), around.schemas)
    takes_turns = around.order is not Order.GIVEN
    maker = RecordParts(parts, decode, columns, used, takes_turns, _own_time(source))
    rows = around.records(source)
    rows = rows.withColumn("$k", decoded(F.col("key"), key_spec(source), around))
    rows = rows.withColumns(
        {
            TIME: F.col("$timestamp"),
            HEADERS: F.col("headers"),
            WHY_NOT: F.col("$k.reason"),
            **{key.name: F.col("$k.row").getField(key.name.removeprefix(_KEY)) for key in used},
        }
    )
    if takes_turns:
        rows = rows.withColumn(SEQUENCE, place_of(source, F.col("$timestamp")))
    made = map_batches(rows, maker.task, maker.inputs, maker.outputs)
    aside = dict(zip(RECORD, maker.outputs[-len(RECORD) :], strict=True))
    record = {field.name: quoted(own.name) for field, own in aside.items()}
    bad = made.withColumns(
        {
            "topic": F.lit(source.topic),
            "timestamp": F.timestamp_millis(record[TIME]),
            "headers": record[HEADERS],
            REASON: record[WHY_NOT],
            **{name: record[name] for name in ("partition", "offset", "key", "value")},
        }
    )
    return around.set_aside(bad).select(*(quoted(field.name) for field in parts.outputs))


def _is_plain(read: step.Read, around: Surroundings) -> bool:
    source = read.source
    if read.qualified or source.is_table or source.windowed:
        return False
    if source.event_time is not None and _own_time(source) is None:
        return False
    return bool(source.value) and not is_native(value_spec(source), around.schemas)


def _own_time(source: Source) -> OwnTime | None:
    """Return a source's time of its own, if it is a column as it is."""
    if source.event_time is None or source.event_time.pattern is not None:
        return None
    name = source.event_time.column
    found = next((column for column in source.value if column.name == name), None)
    if found is None or found.type is not Scalar.BIGINT:
        return None
    return OwnTime(name, unreadable_time(name), early_time(name), far_time(name))


def _columns(node: step.Aggregate, source: Source) -> Sequence[typed.Input | typed.Constant] | None:
    """Return keys and arguments, if all are columns of records or constants."""
    in_key = {column.name for column in source.key}
    in_value = {column.name for column in source.value}
    found: list[typed.Input | typed.Constant] = []
    arguments = (argument for call in node.calls for argument in call.arguments)
    for each in (*(key.expression for key in node.keys), *arguments):
        match each:
            case typed.Input(name=name) if name in in_key:
                found.append(replace(each, name=f"{_KEY}{name}"))
            case typed.Input(name=name) if name in in_value:
                found.append(each)
            case typed.Constant():
                found.append(each)
            case _:
                return None
    return found
