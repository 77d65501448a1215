"""A table's rows become changes: what a group loses and what it gains."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from orion.model import Field, Scalar
from orion.state.columns import run_changes
from orion.state.fact import FACT_FIELDS, Facts
from orion.state.layout import IN, OUT, SIGN, SILENT_OUT
from orion.state.store import StateStore, store_key
from orion.state.value import Row


@dataclass(frozen=True)
class ChangeOperator:
    """Gives, for a new row of a table, its old one taken out and then itself added.

    State: the columns of the last row, by the table's primary key.

    Args:
        identity: The table's primary key, window bounds included.
        keys: What is grouped by; a row with a null there is in no group.
        columns: The keys, then the other columns that groups need.
    """

    identity: tuple[Field, ...]
    keys: int
    columns: tuple[Field, ...]

    @property
    def inputs(self) -> Sequence[Field]:
        """The primary key, the columns, facts."""
        return (*self.identity, *self.columns, *FACT_FIELDS)

    @property
    def outputs(self) -> Sequence[Field]:
        """The columns, whether they are added or taken out, facts."""
        return (*self.columns, Field(SIGN, Scalar.INTEGER), *FACT_FIELDS)

    def run_table(self, table: pa.Table, state: StateStore) -> pa.Table | None:
        """Give up to two changes for every row of a sorted table; None: only rows will do."""
        return run_changes(self.identity, self.columns, self.keys, table, state)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give up to two changes for every row."""
        width, end = len(self.identity), len(self.identity) + len(self.columns)
        state.load(store_key(row[:width]) for row in rows)
        for row in rows:
            at, facts = store_key(row[:width]), Facts(*row[end:])
            old: tuple[Any, ...] | None = state.get(at)
            new = None if facts.is_absent else row[width:end]
            if new is not None and any(value is None for value in new[: self.keys]):
                new = None
            if old is not None:
                stays = new is not None and self._same_group(new, old)
                sign = SILENT_OUT if stays else OUT
                yield (*old, sign, *facts.row(0, time_ms=facts.time_ms))
            if new is not None:
                yield (*new, IN, *facts.row(1, time_ms=facts.time_ms))
            state.put(at, new)

    def _same_group(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        keys, others = one[: self.keys], other[: self.keys]
        # What is not a number does not equal itself, and is one group.
        return keys == others or store_key(keys) == store_key(others)
