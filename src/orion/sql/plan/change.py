"""What an accepted statement changes; applied to a catalogue in order, they give it anew."""

from dataclasses import dataclass, replace

from orion.model import Type
from orion.sql.plan.catalogue import Catalogue, Reader
from orion.sql.plan.query import QueryPlan
from orion.sql.plan.source import Source
from orion.sql.plan.step import reads_of


@dataclass(frozen=True)
class Declared:
    """A stream or table over a topic, new or changed."""

    source: Source
    replaces: bool = False

    def apply(self, catalogue: Catalogue) -> Catalogue:
        """Return the catalogue with the source."""
        return catalogue.with_source(self.source)


@dataclass(frozen=True)
class Started:
    """A persistent query, and the stream or table that it writes.

    Args:
        creates: Whether the sink is made by this statement, not only written into.
        replaces: Whether the query goes on where one of the same id stopped.
        start: Where it begins when it never ran: earliest or latest.
        predecessor: The query that it takes the place of once it has caught up.
        collapses: Whether groups tell of a batch once, instead of once for every row.
        statement: The text that asked for it.
    """

    query: str
    plan: QueryPlan
    sink: Source
    creates: bool
    replaces: bool = False
    start: str = "earliest"
    predecessor: "Started | None" = None
    collapses: bool = False
    statement: str = ""

    @property
    def late_topic(self) -> str:
        """Where records go that come too late; empty: they are only counted."""
        return self.sink.late_topic if self.creates else ""

    @property
    def replaced(self) -> tuple[Source, ...]:
        """What the queries wrote that it takes the place of, the last one first."""
        before = self.predecessor
        return () if before is None else (before.sink, *before.replaced)

    def apply(self, catalogue: Catalogue) -> Catalogue:
        """Return the catalogue with the query and what it creates."""
        reads = frozenset(read.source.name for read in reads_of(self.plan.step))
        if self.predecessor is not None:
            catalogue = catalogue.without_query(self.predecessor.query)
        reader = Reader(self.query, reads, self.sink.name, self.replaced)
        known = catalogue.with_query(reader)
        return known.with_source(self.sink) if self.creates else known


@dataclass(frozen=True)
class Dropped:
    """A stream or table that is no more; `query` is the one that made it."""

    source: Source
    query: str | None = None
    delete_topic: bool = False

    def apply(self, catalogue: Catalogue) -> Catalogue:
        """Return the catalogue without the source and the query that made it."""
        known = catalogue.without_source(self.source.name)
        return known if self.query is None else known.without_query(self.query)


@dataclass(frozen=True)
class TypeMade:
    """A type under a name; None: the name is free again."""

    name: str
    type: Type | None

    def apply(self, catalogue: Catalogue) -> Catalogue:
        """Return the catalogue with or without the type."""
        if self.type is None:
            return catalogue.without_type(self.name)
        return catalogue.with_type(self.name, self.type)


@dataclass(frozen=True)
class Terminated:
    """Queries that end for good."""

    queries: tuple[str, ...]

    def apply(self, catalogue: Catalogue) -> Catalogue:
        """Return the catalogue without the queries."""
        for query in self.queries:
            catalogue = catalogue.without_query(query)
        return catalogue


@dataclass(frozen=True)
class Paused:
    """Queries that stop for a while, or go on where they stopped."""

    queries: tuple[str, ...]
    is_paused: bool

    def apply(self, catalogue: Catalogue) -> Catalogue:
        """Return the catalogue with the queries paused or not."""
        named = frozenset(self.queries)
        paused = catalogue.paused | named if self.is_paused else catalogue.paused - named
        return replace(catalogue, paused=paused)


@dataclass(frozen=True)
class Unchanged:
    """Nothing to do, and why: what IF [NOT] EXISTS asks for is so already."""

    reason: str

    def apply(self, catalogue: Catalogue) -> Catalogue:
        """Return the catalogue as it is."""
        return catalogue


Change = Declared | Started | Dropped | TypeMade | Terminated | Paused | Unchanged
