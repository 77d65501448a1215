"""Statements that change the catalogue, checked against it; nothing is carried out here."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from orion.model import OrionError
from orion.sql.function import Functions, limit_functions
from orion.sql.parse import parse_statements, resolve_type, tree
from orion.sql.parse.tree import SourceKind
from orion.sql.plan.catalogue import Catalogue
from orion.sql.plan.change import (
    Change,
    Declared,
    Dropped,
    Paused,
    Started,
    Terminated,
    TypeMade,
    Unchanged,
)
from orion.sql.plan.declare import (
    Formats,
    check_source,
    check_unreserved_columns,
    check_written,
    declare_source,
)
from orion.sql.plan.errors import SourceExistsError, SourceInUseError, StatementError
from orion.sql.plan.naming import repeated
from orion.sql.plan.property import read_create_as
from orion.sql.plan.query import plan_query
from orion.sql.plan.replace import check_query, check_rebuild, check_replacement
from orion.sql.plan.sink import insert_sink, plan_sink, with_wrapping
from orion.sql.plan.source import Column, Source

OFFSET_RESET = "auto.offset.reset"
# With any room for changes, ksqlDB keeps a group's until it commits; here a batch is the room.
CHANGES_KEPT = ("cache.max.bytes.buffering", "ksql.streams.cache.max.bytes.buffering")
NEW_PLANNER = "ksql.new.query.planner.enabled"
WRAP_SINGLE_VALUES = "ksql.persistence.wrap.single.values"
KEY_FORMAT, VALUE_FORMAT = (
    "ksql.persistence.default.format.key",
    "ksql.persistence.default.format.value",
)


Sources = tuple[Source, ...]


@dataclass(frozen=True)
class Planner:
    """Checks statements.

    Args:
        properties: The session's and the server's properties.
    """

    functions: Functions
    formats: Formats
    properties: Mapping[str, str] = field(default_factory=dict)

    def _functions(self) -> Functions:
        return limit_functions(self.functions, self.properties)

    def plan(self, statement: tree.Statement, catalogue: Catalogue, *, number: int) -> Change:
        """Return what a statement changes, or say why it cannot.

        Args:
            number: Of the statement in the command log; the ids of queries carry it.
        """
        match statement:
            case tree.CreateSource():
                return self._declare(statement, catalogue, number)
            case tree.CreateAs():
                return self._create_as(statement, catalogue, number)
            case tree.InsertQuery():
                return self._insert(statement, catalogue, number)
            case tree.DropSource():
                return _drop(statement, catalogue)
            case tree.AlterSource():
                return self._alter(statement, catalogue)
            case tree.CreateType() | tree.DropType():
                return _type(statement, catalogue)
            case tree.Terminate():
                return Terminated(_queries(statement, catalogue))
            case tree.Pause() | tree.Resume():
                is_paused = isinstance(statement, tree.Pause)
                return Paused(_queries(statement, catalogue), is_paused)
        raise StatementError("This statement does not change the catalogue.", node=statement)

    def _declare(self, statement: tree.CreateSource, catalogue: Catalogue, number: int) -> Change:
        known = _taken(statement, catalogue)
        if isinstance(known, Unchanged):
            return known
        source = declare_source(
            statement,
            types=catalogue.types,
            formats=self.formats,
            default_key=self.properties.get(KEY_FORMAT, "KAFKA"),
            default_value=self.properties.get(VALUE_FORMAT),
        )
        source = with_wrapping(source, self.properties.get(WRAP_SINGLE_VALUES))
        if known is not None:
            check_replacement(known, source, statement)
        return Declared(replace(source, number=number), replaces=known is not None)

    def _create_as(self, statement: tree.CreateAs, catalogue: Catalogue, number: int) -> Change:
        known = _taken(statement, catalogue)
        if isinstance(known, Unchanged):
            return known
        plan = plan_query(
            statement.query,
            catalogue,
            self._functions(),
            sink=statement.name.text,
            kind=statement.kind,
            drops_keys=self.properties.get(NEW_PLANNER, "").lower() == "true",
        )
        prefix = "CTAS" if statement.kind is SourceKind.TABLE else "CSAS"
        query = f"{prefix}_{statement.name.text}_{number}"
        default_key = self.properties.get(KEY_FORMAT, "KAFKA")
        source = plan_sink(statement, plan, self.formats, default_key=default_key)
        source = with_wrapping(source, self.properties.get(WRAP_SINGLE_VALUES))
        check_written(source, self.formats)
        predecessor: Started | None = None
        if known is not None:
            check_replacement(known, source, statement)
            reader = catalogue.queries.get(known.query or "")
            replaced = () if reader is None else reader.replaced
            before = self._before(known, catalogue, statement, replaced=replaced)
            if read_create_as(statement.properties, statement).get("REBUILD"):
                check_rebuild(known, statement)
                predecessor = before
            else:
                check_query(before.plan.step, plan.step, statement)
                query, predecessor = before.query, before.predecessor
        sink = replace(source, query=query, statement=statement.text, number=number)
        return Started(
            query,
            plan,
            sink,
            creates=True,
            replaces=known is not None and query == known.query,
            start="earliest" if predecessor else self._start,
            predecessor=predecessor,
            collapses=self._collapses,
            statement=statement.text,
        )

    def _before(
        self, known: Source, catalogue: Catalogue, node: tree.CreateAs, *, replaced: Sources = ()
    ) -> Started:
        """Return the query that writes a stream or table, as it was asked for.

        Args:
            replaced: What it was before, the last first: a query may not have taken its place yet.
        """
        if known.query is None:
            raise StatementError(
                f"'{known.name}' is declared over a topic: no query writes it.",
                node=node,
                fix="DROP it first, or create the query under another name.",
            )
        (before,) = parse_statements(known.statement)
        assert isinstance(before, tree.CreateAs)
        plan = plan_query(
            before.query,
            catalogue,
            self._functions(),
            sink=known.name,
            kind=known.kind,
            drops_keys=True,
        )
        earlier = self._earlier(replaced, catalogue, node)
        text = known.statement
        return Started(known.query, plan, known, creates=True, predecessor=earlier, statement=text)

    def _earlier(
        self, replaced: Sources, catalogue: Catalogue, node: tree.CreateAs
    ) -> Started | None:
        if not replaced:
            return None
        try:
            return self._before(replaced[0], catalogue, node, replaced=replaced[1:])
        except OrionError:
            # What it read is gone since, so it has been replaced long ago.
            return None

    @property
    def _start(self) -> str:
        return self.properties.get(OFFSET_RESET, "earliest").lower()

    @property
    def _collapses(self) -> bool:
        given = next(
            (self.properties[name] for name in CHANGES_KEPT if name in self.properties), ""
        )
        return given.isdecimal() and int(given) > 0

    def _insert(self, statement: tree.InsertQuery, catalogue: Catalogue, number: int) -> Change:
        target = catalogue.source(statement.target)
        query, plan = insert_sink(statement, target, catalogue, self._functions())
        check_written(target, self.formats)
        query = query or f"INSERTQUERY_{number}"
        return Started(
            query,
            plan,
            target,
            creates=False,
            start=self._start,
            collapses=self._collapses,
            statement=statement.text,
        )

    def _alter(self, statement: tree.AlterSource, catalogue: Catalogue) -> Change:
        source = catalogue.source(statement.name)
        _check_kind(source, statement.kind, statement)
        if source.is_source:
            raise StatementError(
                f"'{source.name}' is read-only and cannot be altered.", node=statement
            )
        added = tuple(
            Column(item.name.text, resolve_type(item.type, catalogue.types))
            for item in statement.columns
        )
        if source.query is not None:
            raise StatementError(
                f"'{source.name}' is made by a query and has the columns that it selects.",
                node=statement,
                fix="Use CREATE OR REPLACE … AS SELECT.",
            )
        check_unreserved_columns(added, statement)
        altered = replace(source, columns=(*source.columns, *added))
        twice = repeated([column.name for column in altered.columns])
        if twice is not None:
            raise StatementError(f"Column '{twice}' exists already.", node=statement)
        check_source(altered, self.formats, node=statement)
        return Declared(altered, replaces=True)


def _taken(
    statement: tree.CreateSource | tree.CreateAs, catalogue: Catalogue
) -> Source | Unchanged | None:
    """Return what has the name already, or that nothing is to be done about it."""
    known = catalogue.sources.get(statement.name.text)
    is_source = isinstance(statement, tree.CreateSource) and statement.is_source
    if statement.or_replace and is_source:
        raise StatementError("A read-only source cannot be replaced.", node=statement)
    if known is None:
        return None
    if statement.or_replace:
        if known.is_source:
            raise StatementError(
                f"'{known.name}' is read-only and cannot be replaced.", node=statement
            )
        _check_kind(known, statement.kind, statement)
        return known
    if statement.if_not_exists:
        return Unchanged(f"{known.kind.value} '{known.name}' exists already.")
    raise SourceExistsError(known.name, known.kind.value)


def _check_kind(source: Source, kind: SourceKind, node: tree.Node) -> None:
    if source.kind is not kind:
        raise StatementError(
            f"'{source.name}' is a {source.kind.value}, not a {kind.value}.",
            node=node,
            fix=f"Name it so: {source.kind.value} {source.name}.",
        )


def _drop(statement: tree.DropSource, catalogue: Catalogue) -> Change:
    name = statement.name.text
    if statement.if_exists and name not in catalogue.sources:
        return Unchanged(f"{statement.kind.value} '{name}' does not exist.")
    source = catalogue.source(statement.name)
    _check_kind(source, statement.kind, statement)
    if source.is_source and statement.delete_topic:
        raise StatementError(f"'{name}' is read-only: its topic belongs to others.", node=statement)
    readers = catalogue.readers_of(name)
    if readers:
        raise SourceInUseError(name, readers, "it is read by the queries")
    writers = [query for query in catalogue.writers_of(name) if query != source.query]
    if writers:
        raise SourceInUseError(name, writers, "it is written by the queries")
    return Dropped(source, source.query, statement.delete_topic)


def _type(statement: tree.CreateType | tree.DropType, catalogue: Catalogue) -> Change:
    name = statement.name.text
    exists = name in catalogue.types
    if isinstance(statement, tree.DropType):
        if not exists and not statement.if_exists:
            raise StatementError(f"Type '{name}' does not exist.", node=statement)
        return TypeMade(name, None) if exists else Unchanged(f"Type '{name}' does not exist.")
    if exists:
        if statement.if_not_exists:
            return Unchanged(f"Type '{name}' exists already.")
        raise SourceExistsError(name, "type")
    return TypeMade(name, resolve_type(statement.type, catalogue.types))


def _queries(
    statement: tree.Terminate | tree.Pause | tree.Resume, catalogue: Catalogue
) -> tuple[str, ...]:
    if statement.query is None:
        return tuple(catalogue.queries)
    query = statement.query.text
    known = {name.upper(): name for name in catalogue.queries}
    if query.upper() not in known:
        raise StatementError(
            f"Query '{query}' does not exist.", node=statement, fix="SHOW QUERIES lists them."
        )
    return (known[query.upper()],)
