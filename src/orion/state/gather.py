"""Groups made small where records are decoded: their rows need not leave the task in between."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from orion.formats import arrow_type
from orion.model import LAST_MS, Field, Scalar
from orion.sql import typed
from orion.state.fact import FACT_FIELDS, HEADERS, SEQUENCE, TIME
from orion.state.partial import Parts
from orion.state.turn import Turns

WHY_NOT = "$why_not"
_FACTS = {field.name: field for field in FACT_FIELDS}
# A record, and why it cannot be read.
RECORD = (
    Field("key", Scalar.BYTES),
    Field("value", Scalar.BYTES),
    Field("partition", Scalar.INTEGER),
    Field("offset", Scalar.BIGINT),
    _FACTS[TIME],
    _FACTS[HEADERS],
    Field(WHY_NOT, Scalar.STRING),
)
Columns = Mapping[str, pa.Array]


@dataclass(frozen=True)
class OwnTime:
    """A column of the value that tells the time of its record, and what to say if it does not."""

    name: str
    why_not: str
    why_not_early: str
    why_not_far: str

    def read(self, row: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return the times of rows, and the reasons why some have none."""
        times = pc.struct_field(row, [self.name])
        is_early, is_far = pc.less(times, 0), pc.greater(times, LAST_MS)
        why_not = pc.if_else(
            is_early, self.why_not_early, pc.if_else(is_far, self.why_not_far, None)
        )
        is_missing = pc.and_not(row.is_valid(), times.is_valid())
        return times, pc.if_else(is_missing, self.why_not, why_not)


@dataclass(frozen=True)
class RecordParts:
    """Makes parts of groups of a task's records, and hands back those that cannot be read.

    Args:
        decode: From bodies to structs of a row and of the reason why there is none.
        sources: What the columns of the groups are: of the keys, else of the value, or constants.
        keys: Columns of the record's key, which are given decoded.
        takes_turns: Whether places begin with times, which become turns here.
        own_time: Where rows have another time than their records.
    """

    parts: Parts
    decode: Callable[[pa.Array], pa.Array]
    sources: Sequence[typed.Input | typed.Constant]
    keys: Sequence[Field]
    takes_turns: bool
    own_time: OwnTime | None = None

    @property
    def inputs(self) -> Sequence[Field]:
        """The record, its place, the columns of its key."""
        return (*RECORD, _FACTS[SEQUENCE], *self.keys)

    @property
    def outputs(self) -> Sequence[Field]:
        """A part of a group, or a record that cannot be read; the other is null."""
        return (*self.parts.outputs, *(_aside(field) for field in RECORD))

    def task(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Take the records of a task in their order."""
        names = [field.name for field in self.inputs]
        rows, turns = [], Turns()
        for batch in batches:
            given = dict(zip(names, batch.columns, strict=True))
            if self.takes_turns:
                given[SEQUENCE] = turns.take_places(given[SEQUENCE])
            row, reason = self.decode(given["value"]).flatten()
            times, no_time = given[TIME], pa.nulls(len(row), pa.string())
            if self.own_time is not None:
                times, no_time = self.own_time.read(row)
            given[WHY_NOT] = pc.coalesce(given[WHY_NOT], reason, no_time)
            is_bad = given[WHY_NOT].is_valid()
            if is_bad.true_count:
                bad = {_aside(each).name: given[each.name].filter(is_bad) for each in RECORD}
                yield self._batch(bad, is_bad.true_count)
            # A body that can be read may still be nothing, as the JSON `null` is.
            is_good = pc.and_not(row.is_valid(), is_bad)
            rows.append(self._rows({**given, TIME: times}, row, is_good))
        table = pa.Table.from_batches(rows) if rows else None
        if table is not None and table.num_rows:
            made = self.parts.run(table).combine_chunks()
            fields = (field.name for field in self.parts.outputs)
            columns = dict(zip(fields, (column.chunk(0) for column in made.columns), strict=True))
            yield self._batch(columns, made.num_rows)

    def _rows(self, given: Columns, row: pa.Array, is_good: pa.Array) -> pa.RecordBatch:
        """Return what parts are made of: the rows of good records that belong to a group."""
        columns = [self._column(source, given, row) for source in self.sources]
        for key in columns[: len(self.parts.layout.keys)]:
            if key.null_count:
                is_good = pc.and_(is_good, key.is_valid())
        columns += [given[name] for name in (TIME, SEQUENCE, HEADERS)]
        names = [f"c{number}" for number in range(len(columns))]
        found = pa.RecordBatch.from_arrays(columns, names=names)
        return found if is_good.true_count == len(is_good) else found.filter(is_good)

    def _column(
        self, source: typed.Input | typed.Constant, given: Columns, row: pa.Array
    ) -> pa.Array:
        if isinstance(source, typed.Constant):
            kind = arrow_type(source.type or Scalar.STRING)
            return pa.repeat(pa.scalar(source.value, kind), len(row))
        if source.name in (key.name for key in self.keys):
            return given[source.name]
        return pc.struct_field(row, [source.name])

    def _batch(self, columns: Columns, count: int) -> pa.RecordBatch:
        """Return rows of the outputs; what is not given is null."""
        kinds = {field.name: arrow_type(field.type) for field in self.outputs}
        own = [columns.get(name, pa.nulls(count, kind)) for name, kind in kinds.items()]
        return pa.RecordBatch.from_arrays(own, names=[f"c{n}" for n in range(len(own))])


def _aside(field: Field) -> Field:
    """Return a column of a record beside those of the groups."""
    return Field(f"$record.{field.name}", field.type)
