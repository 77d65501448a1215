"""The columns that a query's expressions may name: those of its sources, declared and pseudo."""

from collections.abc import Iterator, Mapping, Sequence

from orion.model import Type
from orion.sql.parse import tree
from orion.sql.plan.errors import AmbiguousColumnError, StatementError, UnknownColumnError
from orion.sql.plan.source import WINDOW_BOUNDS, Column
from orion.sql.plan.step import Read
from orion.sql.plan.typed import Input


class SourceScope:
    """Finds columns by name, or by source and name.

    Args:
        made: Columns that the query itself makes, such as the key of an outer join.
    """

    def __init__(self, reads: Sequence[Read], made: Mapping[str, Type] | None = None) -> None:
        self._reads = tuple(reads)
        self._made = made or {}

    @property
    def reads(self) -> tuple[Read, ...]:
        """The sources in the order they are named."""
        return self._reads

    def find(self, reference: tree.ColumnRef) -> Input:
        """Return the column, or raise an error that names the ones there are."""
        name = reference.name.text
        if reference.source is None and name in self._made:
            return Input(self._made[name], name)
        reads = self._named(reference.source) if reference.source else self._reads
        found = [(read, kind) for read in reads if (kind := _type_of(read, name)) is not None]
        if not found:
            raise UnknownColumnError(name, self._names(reads), node=reference)
        if len(found) > 1:
            raise AmbiguousColumnError(name, (read.alias for read, _ in found), node=reference)
        read, kind = found[0]
        return Input(kind, read.column(name))

    def _named(self, alias: tree.Name) -> Sequence[Read]:
        found = [read for read in self._reads if read.alias == alias.text]
        # A source goes by its own name too, where an alias was given.
        found = found or [read for read in self._reads if read.source.name == alias.text]
        if not found:
            names = ", ".join(read.alias for read in self._reads)
            raise StatementError(
                f"'{alias.text}' is no source of this query.",
                node=alias,
                fix=f"There are: {names}.",
            )
        return found

    def _names(self, reads: Sequence[Read]) -> Iterator[str]:
        return (column.name for read in reads for column in read.source.columns)

    def clashes(self, name: str) -> bool:
        """Tell whether several sources have a column of this name."""
        return sum(_type_of(read, name) is not None for read in self._reads) > 1

    def star(self, alias: tree.Name | None = None) -> Iterator[tuple[Read, Column]]:
        """Yield every declared column of the sources, or of one: keys, values, headers.

        In a join each windowed source shows its own windows, behind its key.
        """
        for read in self._named(alias) if alias else self._reads:
            source = read.source
            yield from ((read, column) for column in source.key)
            if source.windowed is not None and len(self._reads) > 1:
                yield from ((read, Column(n, kind)) for n, kind in WINDOW_BOUNDS.items())
            yield from ((read, column) for column in (*source.value, *source.headers))


def _type_of(read: Read, name: str) -> Type | None:
    column = read.source.get(name)
    if column is not None:
        return column.type
    return read.source.pseudo.get(name)
