"""A source's records as rows: key, value and headers decoded, the record's own facts beside them.

Rows carry, besides the source's columns by their names, facts whose names begin with `$`.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, replace
from enum import Enum

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.command import key_spec, value_spec
from orion.formats import FormatSpec, SchemaSource
from orion.model import Scalar
from orion.process.event_time import unreadable_time, why_no_time
from orion.process.format import decode_column
from orion.process.sql.expression import compile_expression, quoted
from orion.process.sql.operate import fact_columns
from orion.process.sql.place import place_of, turn_of
from orion.sql import Functions, Source, step, tree, typed
from orion.state import ABSENT, HEADERS, ORIGIN, SEQUENCE, TIME, StatePlace

REASON = "$reason"
_START_BYTES = 8
_TURN = "$turn"


class Order(Enum):
    """What the rows of a query's sources are taken in the order of; each partition as it lies."""

    GIVEN = "what records say"
    RECORD_TIME = "the times of records"
    EVENT_TIME = "the times of events"


@dataclass(frozen=True)
class Surroundings:
    """What a compiled query stands in.

    Args:
        records: Gives a source's raw records: topic, partition, offset, timestamp (as Kafka's
            source names them), key, value, headers, `$timestamp` in milliseconds, and `$seq` if
            their order is given.
        set_aside: Takes rows with `$reason` and returns the good ones; the others are kept by it.
        places: Gives each operator in turn the place of its state.
        schemas: Where formats with schemas find and register them.
        expected_schemas: See `decode_column`.
        collapses: Whether groups tell of a batch once, instead of once for every row.
        notes_late: Whether late rows are noted one by one, besides being counted.
        order: What rows are taken in the order of.
        tells_places: Whether what a query writes must come with `$seq`.
        unasked: Facts that nobody asks of the last operator; see `apply_operator`.
    """

    records: Callable[[Source], DataFrame]
    set_aside: Callable[[DataFrame], DataFrame]
    functions: Functions
    places: Iterator[StatePlace]
    schemas: SchemaSource | None = None
    expected_schemas: Set[int] | None = None
    collapses: bool = False
    notes_late: bool = False
    order: Order = Order.GIVEN
    tells_places: bool = False
    unasked: frozenset[str] = frozenset()

    @property
    def within(self) -> "Surroundings":
        """What a step stands in whose rows another operator takes, which asks for all of them."""
        return replace(self, unasked=frozenset())


def read_source(read: step.Read, around: Surroundings) -> DataFrame:
    """Return the rows of a source."""
    source = read.source
    raw = around.records(source)
    key, bounds = _key_bytes(source)
    visited = {
        "$k": decoded(key, key_spec(source), around),
        "$v": decoded(F.col("value"), value_spec(source), around),
    }
    if around.order is Order.RECORD_TIME:
        visited[_TURN] = turn_of(F.col("$timestamp"))
    rows = raw.withColumns(visited)
    rows = rows.withColumns(_columns(source, bounds))
    rows = rows.withColumn(TIME, _time(source, around.functions))
    rows = rows.withColumn(REASON, _reason(source))
    if around.order is Order.EVENT_TIME:
        # A time that no event can have takes none along.
        rows = rows.withColumn(_TURN, turn_of(F.when(F.col(REASON).isNull(), F.col(TIME))))
    if around.order is not Order.GIVEN:
        rows = rows.withColumn(SEQUENCE, place_of(source, F.col(_TURN)))
    rows = around.set_aside(rows)
    if source.is_table:
        rows = rows.where(F.col("key").isNotNull())
    return rows.select(*_named(read), *fact_columns())


def decoded(value: Column, spec: FormatSpec, around: Surroundings) -> Column:
    """Return the row of a record's key or value, and the reason why there is none."""
    if not spec.columns:
        nothing = F.lit(None)
        return F.struct(nothing.alias("row"), nothing.cast("string").alias("reason"))
    return decode_column(value, spec, around.schemas, expected=around.expected_schemas)


def _key_bytes(source: Source) -> tuple[Column, dict[str, Column]]:
    """Return the key without its window, and the window's bounds."""
    key = F.col("key")
    if source.windowed is None:
        return key, {}
    is_session = source.windowed.kind is tree.WindowKind.SESSION
    length = F.length(key)
    width = 2 * _START_BYTES if is_session else _START_BYTES
    start = _long(F.substring(key, length - (_START_BYTES - 1), F.lit(_START_BYTES)))
    if is_session:
        end = _long(F.substring(key, length - (width - 1), F.lit(_START_BYTES)))
    else:
        end = start + F.lit(source.windowed.size_ms)
    bare = F.substring(key, F.lit(1), length - width)
    return bare, {"WINDOWSTART": start, "WINDOWEND": end}


def _long(value: Column) -> Column:
    # A negative base makes `conv` read 64 bits as signed.
    return F.conv(F.hex(value), 16, -10).cast("long")


def _columns(source: Source, bounds: dict[str, Column]) -> dict[str, Column]:
    """Return the columns of a source by their names, pseudo ones included."""
    found: dict[str, Column] = {}
    for column in source.key:
        found[column.name] = F.col("$k.row").getField(column.name)
    for column in source.value:
        found[column.name] = F.col("$v.row").getField(column.name)
    for column in source.headers:
        found[column.name] = _header(column.header)
    present = F.col("value").isNotNull()
    found["ROWPARTITION"] = F.when(present, F.col("partition"))
    found["ROWOFFSET"] = F.when(present, F.col("offset"))
    found[HEADERS] = F.col("headers")
    found[ORIGIN] = F.concat_ws("/", F.col("topic"), F.col("partition"))
    found[ABSENT] = F.col("value").isNull() | _is_empty_row(source)
    return {**found, **bounds}


def _is_empty_row(source: Source) -> Column:
    """Tell whether a body that is there decodes to nothing, as the JSON `null` does."""
    if not source.value:
        return F.lit(False)
    return F.col("$v.row").isNull() & F.col("$v.reason").isNull()


def _header(name: str | None) -> Column:
    if name is None:
        empty = F.array().cast("array<struct<KEY:string,VALUE:binary>>")
        pairs = F.transform(
            "headers",
            lambda h: F.struct(h.getField("key").alias("KEY"), h.getField("value").alias("VALUE")),
        )
        return F.coalesce(pairs, empty)
    own = F.filter("headers", lambda h: h.getField("key") == name)
    return F.get(own, F.size(own) - 1).getField("value")


def _time(source: Source, functions: Functions) -> Column:
    stamped = F.col("$timestamp")
    if source.event_time is None:
        return stamped
    time = event_time(source, source.event_time.column, functions)
    return F.when(F.col(ABSENT), stamped).otherwise(time)


def event_time(source: Source, name: str, functions: Functions) -> Column:
    """Return the milliseconds of a source's own time.

    Args:
        name: Under which its column stands in the rows.
    """
    assert source.event_time is not None
    column = source.get(source.event_time.column)
    assert column is not None
    own: typed.Typed = typed.Input(column.type, name)
    if source.event_time.pattern is not None:
        pattern = typed.Constant(Scalar.STRING, source.event_time.pattern)
        found = functions.resolve("STRINGTOTIMESTAMP", [Scalar.STRING, Scalar.STRING])
        own = typed.Applied(found.returns, found, (own, pattern))
    time = compile_expression(own)
    return F.unix_millis(time) if column.type is Scalar.TIMESTAMP else time


def _reason(source: Source) -> Column:
    reason = F.coalesce(F.col("$k.reason"), F.col("$v.reason"))
    if source.event_time is None:
        return reason
    name = source.event_time.column
    return F.coalesce(
        reason,
        F.when(F.col(TIME).isNull(), unreadable_time(name)),
        why_no_time(F.col(TIME), name),
    )


def _named(read: step.Read) -> list[Column]:
    names = [c.name for c in read.source.columns] + [
        n for n in read.source.pseudo if n != "ROWTIME"
    ]
    columns = [quoted(name).alias(read.column(name)) for name in names]
    time = F.when(~F.col(ABSENT), F.col(TIME))
    return [*columns, time.alias(read.column("ROWTIME"))]
