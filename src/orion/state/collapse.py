"""Fewer changes: of each group the last one of a batch, with what the group was before it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from orion.model import Field
from orion.state.columns import last_changes, run_groups
from orion.state.fact import ABSENT
from orion.state.file import Key
from orion.state.group import GroupOperator, WindowOperator
from orion.state.layout import BOUNDS, HAD_OLD, OLD
from orion.state.session import SessionOperator
from orion.state.store import StateStore, store_key
from orion.state.value import Row


@dataclass(frozen=True)
class CollapsedOperator:
    """Groups that tell of a batch once. The state is that of the operator."""

    operator: GroupOperator | WindowOperator | SessionOperator

    @property
    def inputs(self) -> Sequence[Field]:
        """Those of the operator."""
        return self.operator.inputs

    @property
    def outputs(self) -> Sequence[Field]:
        """Those of the operator."""
        return self.operator.outputs

    def run_table(self, table: pa.Table, state: StateStore) -> pa.Table | None:
        """Give the last change of each group of a sorted table; None: only rows will do."""
        if isinstance(self.operator, GroupOperator):
            return run_groups(self.operator.layout, table, state, once=True)
        found = self.operator.run_table(table, state)
        if found is None:
            return None
        return last_changes(found, self._identity, self._before, self._had, self._absent)

    def run(self, rows: Sequence[Row], state: StateStore) -> Iterator[Row]:
        """Give the last change of each group."""
        firsts: dict[Key, Row] = {}
        lasts: dict[Key, Row] = {}
        for row in self.operator.run(rows, state):
            group = store_key(tuple(row[at] for at in self._identity))
            firsts.setdefault(group, row)
            # Behind all others: groups go out in the order of their last changes.
            lasts.pop(group, None)
            lasts[group] = row
        for group, last in lasts.items():
            first = firsts[group]
            if first[self._had] or not last[self._absent]:
                yield tuple((first if at in self._before else last)[at] for at in range(len(last)))

    @cached_property
    def _names(self) -> list[str]:
        return [field.name for field in self.outputs]

    @cached_property
    def _identity(self) -> list[int]:
        """Where the key of a group stands, with its window."""
        bounds = [self._names.index(field.name) for field in BOUNDS if field.name in self._names]
        return [*range(len(self.operator.layout.keys)), *bounds]

    @cached_property
    def _before(self) -> frozenset[int]:
        """Where it stands what a group was before."""
        old = (at for at, name in enumerate(self._names) if name.startswith(OLD))
        return frozenset((*old, self._had))

    @cached_property
    def _had(self) -> int:
        return self._names.index(HAD_OLD)

    @cached_property
    def _absent(self) -> int:
        return self._names.index(ABSENT)
