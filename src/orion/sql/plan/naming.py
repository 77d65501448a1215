"""The names of columns that were given none."""

from collections.abc import Iterable, Sequence
from itertools import count

from orion.sql.parse import tree
from orion.sql.plan.scope import SourceScope

_GENERATED = "KSQL_COL_"


class Namer:
    """Gives names to the unnamed, none twice.

    Args:
        taken: Names that generated ones must not have: those of the sources' columns.
    """

    def __init__(self, scope: SourceScope, taken: Iterable[str] = ()) -> None:
        self._scope = scope
        self._taken = {column.name for _, column in scope.star()} | set(taken)
        self._is_join = len(scope.reads) > 1

    def name(self, expression: tree.Expression) -> str:
        """Return the name of an expression's column."""
        match expression:
            case tree.ColumnRef(source, name):
                return name.text if source is None else self.of_column(source.text, name.text)
            case tree.FieldRef(_, name):
                return self.unused(name.text)
        return self.generated()

    def of_column(self, alias: str, name: str, *, always: bool = False) -> str:
        """Return the name of a source's column; in a join it tells the source where it must."""
        if self._is_join and (always or self._scope.clashes(name)):
            return f"{alias}_{name}"
        return name

    def generated(self) -> str:
        """Return the next name for something without one."""
        return self._take(f"{_GENERATED}{number}" for number in count())

    def unused(self, name: str) -> str:
        """Return a name, numbered where it is taken already."""
        return self._take(name if not number else f"{name}_{number}" for number in count())

    def _take(self, candidates: Iterable[str]) -> str:
        found = next(name for name in candidates if name not in self._taken)
        self._taken.add(found)
        return found


def repeated(names: Sequence[str]) -> str | None:
    """Return the first name that is there twice."""
    return next((name for number, name in enumerate(names) if name in names[:number]), None)
