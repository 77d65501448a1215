"""When the events of a source happened, where one of its columns tells it."""

import pyarrow as pa

from orion.command.format import key_spec, value_spec
from orion.formats import SchemaSource, codec_of, plain_values
from orion.log import ReadTime, Record
from orion.model import Scalar, Struct
from orion.sql import Computation, Source, built_in_functions, computation_or_null, typed


def own_time(source: Source) -> Computation | None:
    """Return what reads a row's time from the column that was declared to hold it, if one was."""
    if source.event_time is None:
        return None
    column = source.get(source.event_time.column)
    assert column is not None
    own: typed.Typed = typed.Input(column.type, column.name)
    if source.event_time.pattern is not None:
        pattern = typed.Constant(Scalar.STRING, source.event_time.pattern)
        kinds = [Scalar.STRING, Scalar.STRING]
        found = built_in_functions().resolve("STRINGTOTIMESTAMP", kinds)
        own = typed.Applied(found.returns, found, (own, pattern))
    return computation_or_null(own)


def time_reader(source: Source, schemas: SchemaSource | None) -> ReadTime | None:
    """Return what reads the time of single records, None where they cannot be read.

    None for a source whose records have no other time than the log's.
    """
    compute = own_time(source)
    if compute is None or source.event_time is None:
        return None
    column = source.get(source.event_time.column)
    assert column is not None
    is_key = column in source.key
    spec = key_spec(source) if is_key else value_spec(source)
    codec, kind = codec_of(spec, schemas), Struct(spec.columns)

    def read(record: Record) -> int | None:
        body = record.key if is_key else record.value
        (row,) = plain_values(codec.decode(pa.array([body], pa.binary())).rows, kind)
        time: int | None = None if row is None else compute(row)
        return time

    return read
