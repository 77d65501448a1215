"""The names of columns that were given none."""

from collections.abc import Iterable, Sequence
from itertools import chain, count

from orion.sql.parse import format_expression, tree
from orion.sql.plan.errors import StatementError
from orion.sql.plan.scope import SourceScope
from orion.sql.plan.source import RESERVED

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


def spell_reference(expression: tree.Expression) -> str:
    """Return how a statement refers to an expression."""
    if not isinstance(expression, tree.ColumnRef):
        return format_expression(expression)
    source, name = expression.source, expression.name.text
    return name if source is None else f"{source.text}.{name}"


def told_apart(names: Iterable[str]) -> list[str]:
    """Return names, numbered where they were there before.

    A key that is not selected may be called as another one is where it is selected.

    >>> told_apart(["A", "B", "A"])
    ['A', 'B', 'A_1']
    """
    found: list[str] = []
    for name in names:
        numbered = (f"{name}_{number}" for number in count(1))
        found.append(next(each for each in chain([name], numbered) if each not in found))
    return found


def check_unreserved(item: tree.SelectItem, name: str, *, is_persistent: bool) -> None:
    """Refuse the name of a column that every record has for one of the query's own.

    Args:
        is_persistent: Whether the rows go to a topic; an answer may show such a column as it is.
    """
    expression = item.expression
    is_itself = isinstance(expression, tree.ColumnRef) and expression.name.text == name.upper()
    if name.upper() not in RESERVED or (is_itself and not is_persistent):
        return
    raise StatementError(
        f"'{name}' is a column that every record has: its name is reserved.",
        node=item.alias or expression,
        fix="Select it AS something else.",
    )
