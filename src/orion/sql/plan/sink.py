"""The stream or table that a query writes: its columns, formats and topic."""

import re
from dataclasses import replace

from orion.model import Type
from orion.sql.function import Functions
from orion.sql.parse import tree
from orion.sql.plan import coercion, typed
from orion.sql.plan.catalogue import Catalogue
from orion.sql.plan.declare import Formats, check_source
from orion.sql.plan.errors import StatementError
from orion.sql.plan.property import Properties, read_create_as, read_insert
from orion.sql.plan.query import QueryPlan, plan_query
from orion.sql.plan.source import Column, Format, Role, Source
from orion.sql.plan.step import (
    Aggregate,
    Filter,
    Flatten,
    JoinStep,
    Named,
    Project,
    Rank,
    Step,
    reads_of,
)

_QUERY_ID = re.compile(r"[A-Z0-9_]+")
# What the ids begin with that queries get without asking.
_GIVEN_IDS = ("INSERTQUERY_", "CTAS_", "CSAS_", "CST_")


def plan_sink(
    statement: tree.CreateAs,
    plan: QueryPlan,
    formats: Formats,
    *,
    default_key: str = "KAFKA",
) -> Source:
    """Return the source that CREATE … AS SELECT makes.

    Args:
        default_key: The format of a key where the rows had none.
    """
    _check_result(statement, plan)
    properties = read_create_as(statement.properties, statement)
    (first, *_) = reads_of(plan.step)
    sources = [read.source for read in reads_of(plan.step)]
    _check_sources(plan, sources, statement)
    key_format = properties.key_format(_inherited_key(plan, first.source, default_key))
    value_format = properties.value_format(replace(first.source.value_format, wrap=None))
    assert key_format is not None
    assert value_format is not None
    if not plan.key:
        key_format = _keyless(key_format, properties, statement)
    source = Source(
        name=statement.name.text,
        kind=statement.kind,
        columns=_columns(plan),
        topic=properties.get("KAFKA_TOPIC") or statement.name.text,
        key_format=replace(key_format, schema_name=key_format.schema_name),
        value_format=value_format,
        windowed=plan.windowed,
        event_time=properties.event_time(),
        partitions=properties.get("PARTITIONS"),
        replicas=properties.get("REPLICAS"),
        topic_configs=properties.topic_configs(),
        late_topic=_late_topic(properties, plan, statement),
    )
    check_source(source, formats, node=statement)
    return source


def _late_topic(properties: Properties, plan: QueryPlan, node: tree.CreateAs) -> str:
    """Return where late records go, which only queries with windows or WITHIN have."""
    topic: str | None = properties.get("LATE_TOPIC")
    if topic is None:
        return ""
    if not any(map(_drops_late, _steps(plan.step))):
        raise StatementError(
            "LATE_TOPIC is given, but no record is late for this query.",
            node=node,
            fix="Leave it out: only a WINDOW and a join WITHIN a time leave late records out.",
        )
    own = properties.get("KAFKA_TOPIC") or node.name.text
    taken = [own, *(read.source.topic for read in reads_of(plan.step))]
    if not topic or topic in taken:
        raise StatementError(
            f"LATE_TOPIC '{topic}' cannot be a topic that the query itself reads or writes.",
            node=node,
            fix="Name another topic; it is made where it is missing.",
        )
    return topic


def _drops_late(step: Step) -> bool:
    if isinstance(step, Aggregate):
        return step.window is not None
    return isinstance(step, JoinStep) and step.interval is not None


def with_wrapping(source: Source, setting: str | None) -> Source:
    """Return a source whose single value is wrapped, or not, as the server's setting says."""
    can_choose = source.value_format.name in ("JSON", "JSON_SR", "AVRO")
    if setting is None or not can_choose or len(source.value) != 1:
        return source
    if source.value_format.wrap is not None:
        return source
    return replace(source, value_format=replace(source.value_format, wrap=setting == "true"))


def _check_result(statement: tree.CreateAs, plan: QueryPlan) -> None:
    wants_table = statement.kind is tree.SourceKind.TABLE
    if wants_table != plan.is_table:
        found, other = ("table", "TABLE") if plan.is_table else ("stream", "STREAM")
        raise StatementError(
            f"This query gives a {found}.", node=statement, fix=f"Write CREATE {other} … AS."
        )


def _columns(plan: QueryPlan) -> tuple[Column, ...]:
    return (
        *(_column(named, Role.KEY) for named in plan.key),
        *(_column(named, Role.VALUE) for named in plan.value),
    )


def _column(named: Named, role: Role) -> Column:
    assert named.type is not None
    return Column(named.name, named.type, role)


def _inherited_key(plan: QueryPlan, source: Source, default: str) -> Format:
    """Return the left source's key format; a source without a key has the default one."""
    found = source.key_format
    if found.name == "NONE" and plan.key:
        return Format(default.upper())
    return replace(found, schema_id=None, schema_name=None)


def _keyless(format: Format, properties: Properties, node: tree.Node) -> Format:
    if "KEY_FORMAT" in properties and str(properties.get("KEY_FORMAT")).upper() != "NONE":
        raise StatementError("A key format is named, but there is no key column.", node=node)
    return Format("NONE") if format.name != "NONE" else format


def _check_sources(plan: QueryPlan, sources: list[Source], node: tree.Node) -> None:
    """Refuse what the KAFKA format of values cannot do: it has no names to keep them apart."""
    keeps_rows = any(isinstance(step, Aggregate | Rank | JoinStep) for step in _steps(plan.step))
    plain = [source.name for source in sources if source.value_format.name == "KAFKA"]
    if keeps_rows and plain:
        raise StatementError(
            f"The KAFKA format of {', '.join(plain)} does not go with GROUP BY or JOIN.",
            node=node,
            fix="Copy the stream into another format first: CREATE STREAM … WITH"
            " (VALUE_FORMAT='JSON') AS SELECT …",
        )


def _steps(step: Step) -> list[Step]:
    match step:
        case Project() | Filter() | Flatten() | Aggregate() | Rank():
            return [step, *_steps(step.input)]
        case JoinStep():
            return [step, *_steps(step.left)]
    return [step]


def insert_sink(
    statement: tree.InsertQuery, target: Source, catalogue: Catalogue, functions: Functions
) -> tuple[str | None, QueryPlan]:
    """Return the id, if one is asked for, and the plan of INSERT INTO … SELECT."""
    properties = read_insert(statement.properties, statement)
    if target.is_table:
        raise StatementError(
            f"'{target.name}' is a table: only its query writes it.", node=statement
        )
    if target.is_source:
        raise StatementError(f"'{target.name}' is read-only.", node=statement)
    if target.headers:
        raise StatementError(
            f"'{target.name}' shows headers, which cannot be inserted.", node=statement
        )
    plan = plan_query(statement.query, catalogue, functions, sink=target.name, kind=target.kind)
    if plan.is_table:
        raise StatementError("A table cannot be inserted into a stream.", node=statement)
    given = None if plan.windowed is None else plan.windowed.shape
    if target.windowed is not None and target.windowed.shape != given:
        raise StatementError(
            f"'{target.name}' has windows in its keys that this query does not give.",
            node=statement,
            fix="Select from a source with the same windows.",
        )
    return _query_id(properties, catalogue, statement), _fitted(plan, target, statement)


def _query_id(properties: Properties, catalogue: Catalogue, node: tree.Node) -> str | None:
    """Return the id that is asked for the query; None: it gets one."""
    given: str | None = properties.get("QUERY_ID")
    if given is None:
        return None
    query = given.upper()
    if query.startswith(_GIVEN_IDS) or not _QUERY_ID.fullmatch(query):
        raise StatementError(
            f"QUERY_ID '{given}' cannot be the id of a query that names its own.",
            node=node,
            fix=f"Use letters, digits and '_', and none of {', '.join(_GIVEN_IDS)} in front.",
        )
    if query in catalogue.queries:
        raise StatementError(
            f"Query '{query}' exists already.", node=node, fix="Give another QUERY_ID."
        )
    return query


def _fitted(plan: QueryPlan, target: Source, node: tree.Node) -> QueryPlan:
    """Return the plan with the target's columns, or say how they differ."""
    key = _fit(plan.key, target.key, target, node)
    value = _fit(plan.value, target.value, target, node)
    return replace(plan, step=replace(plan.step, key=key, value=value))


def _fit(
    found: tuple[Named, ...], wanted: tuple[Column, ...], target: Source, node: tree.Node
) -> tuple[Named, ...]:
    names = [named.name for named in found]
    if names != [column.name for column in wanted]:
        raise StatementError(
            f"'{target.name}' has the columns {', '.join(c.name for c in wanted) or 'none'};"
            f" selected are {', '.join(names) or 'none'}.",
            node=node,
            fix="Select the same columns in the same order; AS renames them.",
        )
    return tuple(
        Named(one.name, _widened(one, column.type, node))
        for one, column in zip(found, wanted, strict=True)
    )


def _widened(named: Named, kind: Type, node: tree.Node) -> typed.Typed:
    if named.type == kind:
        return named.expression
    if not coercion.can_widen(named.type, kind):
        raise StatementError(
            f"Column '{named.name}' is {named.type}, but {kind} is needed.", node=node
        )
    return typed.Converted(kind, named.expression)
