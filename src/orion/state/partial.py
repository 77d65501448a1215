"""Groups made small before they are spread: of the rows of a task, one for each group.

Only for groups that tell of a batch once, and for aggregates that may be added up in parts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from orion.formats import arrow_type
from orion.model import Field, Scalar
from orion.sql import Functions, step, typed
from orion.state.columns.segment import Segments
from orion.state.fact import ABSENT, FACT_FIELDS, HEADERS, ORIGIN, PARTITION, SEQUENCE, TIME
from orion.state.layout import SIGN, GroupLayout
from orion.state.window import TimeWindows

_WHOLE = (Scalar.INTEGER, Scalar.BIGINT)
# By the names of SQL, Arrow's.
_PARTS = {"COUNT": "count", "SUM": "sum", "MIN": "min", "MAX": "max"}
_PLACE = "$place"
_SLOT, _STRETCH, _PARTITION = "$slot", "$stretch", "$partition"


def merged_layout(layout: GroupLayout, functions: Functions) -> GroupLayout | None:
    """Return the layout of rows that are parts of groups; None: these cannot be made of parts.

    The state is the same: a number of rows is a sum of numbers of rows.
    """
    if not layout.calls or not all(_merges(call) for call in layout.calls):
        return None
    # -0.0 equals 0.0, and NaN nothing; Arrow groups by no structs.
    if not all(isinstance(k.type, Scalar) and k.type is not Scalar.DOUBLE for k in layout.keys):
        return None
    total = functions.resolve("SUM", [Scalar.BIGINT])
    calls = tuple(
        replace(call, function=total, arguments=(typed.Input(Scalar.BIGINT, call.name),))
        if call.function.name == "COUNT"
        else call
        for call in layout.calls
    )
    return replace(layout, calls=calls)


@dataclass(frozen=True)
class Slots:
    """Which rows of a topic may become one part of a group with windows.

    Those of a partition whose times lie between the same two beginnings of windows. They are too
    late together or not at all, but for stragglers: rows whose first window their own partition
    has passed. A straggler stays alone, and rows before it apart from those behind, so that it
    finds the clock where it would have found it.
    """

    topic: str
    length_ms: int
    grace_ms: int

    @classmethod
    def of(cls, topic: str, windows: TimeWindows) -> "Slots | None":
        """Return the slots of windows; None where these end at other moments than they begin."""
        if windows.size_ms % windows.advance_ms:
            return None
        return cls(topic, windows.advance_ms, windows.grace_ms)

    def columns(self, table: pa.Table) -> dict[str, pa.Array]:
        """Return what rows of a part have in common, besides their keys."""
        places = table.column(SEQUENCE).combine_chunks().flatten().to_numpy()
        partitions = places.reshape(table.num_rows, -1)[:, PARTITION]
        segments = Segments.of(partitions)
        times = table.column(TIME).to_numpy()[segments.order]
        slots = times // self.length_ms
        reached = segments.running_max(times, times[segments.first])
        is_straggler = (slots + 1) * self.length_ms + self.grace_ms <= reached
        # What lies behind a straggler in the same slot is one too.
        stretches = np.cumsum(is_straggler)
        given = {_SLOT: slots, _STRETCH: stretches, _PARTITION: partitions[segments.order]}
        return {name: pa.array(column[segments.positions]) for name, column in given.items()}

    def origins(self, partitions: pa.ChunkedArray) -> pa.Array:
        """Return what rows of partitions name as their origin."""
        return pa.array([f"{self.topic}/{partition}" for partition in partitions.to_pylist()])


@dataclass(frozen=True)
class Parts:
    """Makes one row of each group of a task's rows, which are all to be added.

    Args:
        layout: The groups of the rows.
        merged: The groups of what is made of them.
        slots: What else keeps the rows of a group apart, if it has windows.
    """

    layout: GroupLayout
    merged: GroupLayout
    slots: Slots | None = None

    @property
    def inputs(self) -> Sequence[Field]:
        """Keys, arguments, and those facts that rows differ in."""
        facts = (field for field in FACT_FIELDS if field.name in (TIME, SEQUENCE, HEADERS))
        return (*self.layout.columns, *facts)

    @property
    def outputs(self) -> Sequence[Field]:
        """What the operator of the merged groups takes."""
        return self.merged.inputs

    def task(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Take the rows of a task in their order."""
        given = [batch for batch in batches if batch.num_rows]
        if given:
            yield from self.run(pa.Table.from_batches(given)).to_batches()

    def run(self, table: pa.Table) -> pa.Table:
        """Return the parts of a table's rows, which are those of a task in their order."""
        names = [field.name for field in self.inputs]
        keys = names[: len(self.layout.keys)]
        arguments = names[len(keys) : len(keys) + len(self.layout.calls)]
        ways = [_PARTS[call.function.name] for call in self.layout.calls]
        places = pa.array(np.arange(table.num_rows))
        table = table.rename_columns(names).append_column(_PLACE, places)
        apart = {} if self.slots is None else self.slots.columns(table)
        for name, column in apart.items():
            table = table.append_column(name, column)
        found = table.group_by([*keys, *apart], use_threads=False).aggregate(
            [*zip(arguments, ways, strict=True), (TIME, "max"), (_PLACE, "max"), ([], "count_all")]
        )
        last = table.select([SEQUENCE, HEADERS]).take(found.column(f"{_PLACE}_max"))
        made = {name: found.column(name) for name in keys}
        for name, way in zip([*arguments, TIME], [*ways, "max"], strict=True):
            made[name] = found.column(f"{name}_{way}")
        made |= {name: last.column(name) for name in last.column_names}
        made[SIGN] = found.column("count_all")
        made[ABSENT] = pa.repeat(pa.scalar(False), found.num_rows)
        made[ORIGIN] = (
            pa.nulls(found.num_rows)
            if self.slots is None
            else self.slots.origins(found.column(_PARTITION))
        )
        columns = [_fitted(made[field.name], arrow_type(field.type)) for field in self.outputs]
        return pa.Table.from_arrays(columns, names=[f"c{n}" for n in range(len(columns))])


def _fitted(column: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> Any:
    """Return a column in its type; sums overflow as theirs do."""
    if column.type == kind:
        return column
    return column.cast(kind, safe=not pa.types.is_integer(kind))


def _merges(call: step.AggregateCall) -> bool:
    if len(call.arguments) != 1 or call.constants:
        return False
    is_whole = call.arguments[0].type in _WHOLE
    return call.function.name == "COUNT" or (is_whole and call.function.name in _PARTS)
