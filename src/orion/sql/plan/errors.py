"""What can be wrong with a statement that reads well: names, types, keys, formats."""

from collections.abc import Iterable

from orion.model import ConflictError, InvalidInputError, NotFoundError, nearest
from orion.sql.parse.tree import Node, Place


class StatementError(InvalidInputError):
    """Raised when a statement cannot be carried out as it is written.

    Args:
        node: The part of the statement that is at fault; its place is told.
    """

    def __init__(self, text: str, *, node: Node | None = None, fix: str | None = None) -> None:
        self.place: Place | None = None if node is None else node.place
        super().__init__(text + _where(self.place), fix=fix)


class TypeMismatchError(StatementError):
    """Raised when a value has a type that its place cannot take."""


class UnknownColumnError(StatementError):
    """Raised when a column is named that no source of the query has."""

    def __init__(self, column: str, known: Iterable[str], *, node: Node | None = None) -> None:
        self.column, self.known = column, tuple(known)
        hint = nearest(column, self.known) or f"There are: {', '.join(self.known)}."
        super().__init__(f"Column '{column}' does not exist.", node=node, fix=hint)


class AmbiguousColumnError(StatementError):
    """Raised when a column's name fits several sources."""

    def __init__(self, column: str, sources: Iterable[str], *, node: Node | None = None) -> None:
        self.column, self.sources = column, tuple(sources)
        names = " or ".join(f"{source}.{column}" for source in self.sources)
        super().__init__(f"Column '{column}' is ambiguous.", node=node, fix=f"Write {names}.")


class SourceNotFoundError(NotFoundError):
    """Raised when a stream or table is named that does not exist."""

    def __init__(self, name: str, known: Iterable[str], *, node: Node | None = None) -> None:
        self.name, self.known = name, tuple(known)
        self.place: Place | None = None if node is None else node.place
        hint = nearest(name, self.known) or "SHOW STREAMS and SHOW TABLES list what there is."
        super().__init__(f"Stream or table '{name}' does not exist.{_where(self.place)}", fix=hint)


class SourceExistsError(ConflictError):
    """Raised when the name of a stream, table or type is taken."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        super().__init__(
            f"A {kind.lower()} with the name '{name}' already exists.",
            fix="Drop it first, or use IF NOT EXISTS or CREATE OR REPLACE.",
        )


class SourceInUseError(ConflictError):
    """Raised when queries or other sources stand on what is to be dropped."""

    def __init__(self, name: str, users: Iterable[str], how: str) -> None:
        self.name, self.users = name, tuple(users)
        names = ", ".join(self.users)
        super().__init__(
            f"Cannot drop '{name}': {how} {names}.", fix="Drop or terminate these first."
        )


def _where(place: Place | None) -> str:
    return "" if place is None or not place.end else f" (line {place.line}, column {place.column})"
