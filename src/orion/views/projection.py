"""The condition and the selected columns of a query, ready to be applied to many rows."""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from orion.sql import computation_or_null, step, typed
from orion.views.reader import Row

# Tuples of plain values: the collector leaves them alone, which scans are glad of.
Values = tuple[Any, ...]


class Projection:
    """Chooses rows and computes what is selected of them; threads may share it."""

    def __init__(self, columns: Sequence[step.Named], where: typed.Typed | None = None) -> None:
        self._condition = None if where is None else computation_or_null(where)
        self._computations = [computation_or_null(named.expression) for named in columns]
        names = [n.expression.name for n in columns if isinstance(n.expression, typed.Input)]
        # Most queries select columns as they are: one call takes them all out of a row.
        self._plain = itemgetter(*names) if 1 < len(names) == len(columns) else None

    def accepts(self, row: Row) -> bool:
        """Tell whether the condition holds."""
        return self._condition is None or self._condition(row) is True

    def values(self, row: Row) -> Values:
        """Return the selected columns of a row."""
        return tuple([compute(row) for compute in self._computations])

    def over(self, rows: Iterable[Row]) -> Iterator[Values]:
        """Yield the selected columns of the rows for which the condition holds."""
        condition = self._condition
        chosen = rows if condition is None else (row for row in rows if condition(row) is True)
        return map(self._plain or self.values, chosen)
