"""What is declared: streams, tables, types, and who reads and writes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orion.model import Type
from orion.sql.parse import tree
from orion.sql.plan.errors import SourceNotFoundError
from orion.sql.plan.source import Source


@dataclass(frozen=True)
class Reader:
    """A query by its id: what it reads and what it writes.

    Args:
        replaced: What it wrote by queries that it takes the place of, the last one first.
    """

    query: str
    reads: frozenset[str]
    writes: str | None
    replaced: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Catalogue:
    """Every stream, table, type and query at one moment; a change gives a new one."""

    sources: Mapping[str, Source] = field(default_factory=dict)
    types: Mapping[str, Type] = field(default_factory=dict)
    queries: Mapping[str, Reader] = field(default_factory=dict)
    paused: frozenset[str] = frozenset()

    def source(self, name: tree.Name) -> Source:
        """Return a stream or table by name."""
        found = self.sources.get(name.text)
        if found is None:
            raise SourceNotFoundError(name.text, self.sources, node=name)
        return found

    def with_source(self, source: Source) -> "Catalogue":
        """Return the catalogue with a stream or table added or replaced."""
        return replace(self, sources={**self.sources, source.name: source})

    def without_source(self, name: str) -> "Catalogue":
        """Return the catalogue without a stream or table."""
        return replace(self, sources={k: v for k, v in self.sources.items() if k != name})

    def with_type(self, name: str, kind: Type) -> "Catalogue":
        """Return the catalogue with a type added."""
        return replace(self, types={**self.types, name: kind})

    def without_type(self, name: str) -> "Catalogue":
        """Return the catalogue without a type."""
        return replace(self, types={k: v for k, v in self.types.items() if k != name})

    def with_query(self, reader: Reader) -> "Catalogue":
        """Return the catalogue with a query added or replaced."""
        return replace(self, queries={**self.queries, reader.query: reader})

    def without_query(self, query: str) -> "Catalogue":
        """Return the catalogue without a query."""
        return replace(self, queries={k: v for k, v in self.queries.items() if k != query})

    def readers_of(self, name: str) -> list[str]:
        """Return the queries that read a stream or table."""
        return [q.query for q in self.queries.values() if name in q.reads]

    def writers_of(self, name: str) -> list[str]:
        """Return the queries that write into a stream or table."""
        return [q.query for q in self.queries.values() if q.writes == name]
