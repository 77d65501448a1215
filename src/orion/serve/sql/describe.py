"""Statements that describe one thing: a source, a function, a query."""

from typing import Any

from orion.model import QueryStatus, State
from orion.serve.sql.request import BadRequestError
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.shape import column_shapes
from orion.serve.sql.show import query_rows, query_state
from orion.sql import (
    Column,
    QueryPlan,
    Role,
    Source,
    Started,
    answer,
    describe_variant,
    explain,
    plan_query,
    tree,
)
from orion.views import PullPlan, followed_source, plan_pull

Entity = dict[str, Any]


def describe_source(rooms: SqlRooms, statement: tree.DescribeSource) -> Entity:
    """Return the entity of DESCRIBE."""
    source = rooms.catalogue.source(statement.name)
    body = source_shape(rooms, source, extended=statement.extended)
    return {"@type": "sourceDescription", "sourceDescription": body}


def describe_sources(rooms: SqlRooms, statement: tree.DescribeSources) -> Entity:
    """Return the entity of DESCRIBE STREAMS and DESCRIBE TABLES."""
    found = sorted(rooms.catalogue.sources.values(), key=lambda source: source.name)
    shapes = [
        source_shape(rooms, source, extended=statement.extended)
        for source in found
        if source.kind is statement.kind
    ]
    return {"@type": "source_descriptions", "sourceDescriptions": shapes}


def source_shape(rooms: SqlRooms, source: Source, *, extended: bool) -> Entity:
    """Return a stream or table as entities describe it."""
    catalogue = rooms.catalogue
    readers, writers = catalogue.readers_of(source.name), catalogue.writers_of(source.name)
    queries = {row["id"]: row for row in query_rows(rooms, {*readers, *writers})}
    partitions = replication = 0
    statistics = ""
    if extended and rooms.app.topics.exists(source.topic):
        topic = rooms.app.topics.get(source.topic)
        partitions, replication = len(topic.partitions), topic.replication
        # The marks of transactions have offsets too.
        statistics = f"offsets in the topic: {topic.records}"
        if source.late_topic:
            statistics += f"; late records go to topic {source.late_topic}"
    return {
        "name": source.name,
        "windowType": source.windowed.kind.value if source.windowed else None,
        "readQueries": [queries[name] for name in readers if name in queries],
        "writeQueries": [queries[name] for name in writers if name in queries],
        "fields": column_shapes(source.columns),
        "type": source.kind.value,
        "timestamp": source.event_time.column if source.event_time else "",
        "statistics": statistics,
        "errorStats": _errors(rooms, writers) if extended else "",
        "extended": extended,
        "keyFormat": source.key_format.name,
        "valueFormat": source.value_format.name,
        "topic": source.topic,
        "partitions": partitions,
        "replication": replication,
        "statement": source.statement,
        "queryOffsetSummaries": [],
        "sourceConstraints": [],
        "clusterStatistics": [],
        "clusterErrorStats": [],
    }


def _errors(rooms: SqlRooms, names: list[str]) -> str:
    states = rooms.statuses()
    return "; ".join(states[name].error for name in names if name in states and states[name].error)


def describe_function(rooms: SqlRooms, statement: tree.DescribeFunction) -> Entity:
    """Return the entity of DESCRIBE FUNCTION."""
    found = rooms.functions.get(statement.name.text)
    variants = [
        {
            "arguments": [
                {
                    "name": parameter.name,
                    "type": str(parameter.pattern),
                    "description": parameter.description,
                    "isVariadic": number == variant.repeated,
                }
                for number, parameter in enumerate(variant.parameters)
            ],
            "returnType": "" if callable(variant.returns) else str(variant.returns),
            "description": variant.description or describe_variant(found.name, variant),
        }
        for variant in found.variants
    ]
    return {
        "@type": "describe_function",
        "name": found.name.upper(),
        "description": found.description,
        "author": found.author,
        "version": "",
        "path": "internal",
        "functions": variants,
        "type": found.kind.value,
    }


def explain_statement(rooms: SqlRooms, statement: tree.Explain) -> Entity:
    """Return the entity of EXPLAIN, for a statement or for a query that runs."""
    target = statement.target
    if isinstance(target, tree.Name):
        started = rooms.commands.queries.get(target.text)
        if started is None:
            raise BadRequestError(f"Query with id '{target.text}' does not exist.")
        return _query_entity(rooms, started)
    if isinstance(target, tree.SelectStatement | tree.CreateAs | tree.InsertQuery):
        query = target.query
    else:
        raise BadRequestError("EXPLAIN takes a query: SELECT, CREATE … AS SELECT or a query's id.")
    if query.is_pull:
        return _pull_entity(rooms, target)
    kind = target.kind if isinstance(target, tree.CreateAs) else tree.SourceKind.TABLE
    plan = plan_query(query, rooms.catalogue, rooms.functions, kind=kind, drops_keys=True)
    fields = column_shapes(
        [
            *(Column(named.name, named.type, Role.KEY) for named in plan.key if named.type),
            *(Column(named.name, named.type) for named in plan.value if named.type),
        ]
    )
    return _description(
        {
            "statementText": target.text,
            "fields": fields,
            "executionPlan": explain(plan.step),
            "topology": _promise(plan, is_push=isinstance(target, tree.SelectStatement)),
            "queryType": "PUSH" if isinstance(target, tree.SelectStatement) else "PERSISTENT",
        }
    )


def _promise(plan: QueryPlan, *, is_push: bool) -> str:
    """Return where a query that is not running yet would run, and what it would promise."""
    if not is_push:
        return "runs in the engine, mode exactly_once: from topic to topic in one transaction"
    if followed_source(plan) is not None:
        return "served by a reader that clients share: each committed record once, no engine"
    return "runs in the engine for its client alone, mode exactly_once; ends with the client"


def _pull_entity(rooms: SqlRooms, target: tree.Statement) -> Entity:
    assert isinstance(target, tree.SelectStatement)
    pull = plan_pull(target.query, rooms.catalogue, rooms.functions, {})
    if isinstance(pull, PullPlan):
        by_key = "looked up by key" if pull.keys is not None else "looking at every row"
        words = f"{explain(pull.plan.step)}\n{by_key}"
    else:
        words = answer.explain_answer(pull.plan)
    keys = {name for name, _, is_key in pull.columns if is_key}
    columns = [
        Column(name, kind, Role.KEY if name in keys else Role.VALUE)
        for name, kind, _ in pull.columns
        if kind
    ]
    return _description(
        {
            "statementText": target.text,
            "fields": column_shapes(columns),
            "executionPlan": words,
            "topology": "answered by the server from rows it keeps: as of the last commit read",
            "queryType": "PULL",
        }
    )


def _query_entity(rooms: SqlRooms, started: Started) -> Entity:
    states = rooms.statuses()
    status = states.get(started.query)
    errors = []
    if status is not None and status.error:
        word = "USER" if status.state is State.FAILED else "UNKNOWN"
        errors = [{"timestamp": status.updated_ms, "errorMessage": status.error, "type": word}]
    return _description(
        {
            "id": started.query,
            "statementText": started.statement,
            "windowType": started.plan.windowed.kind.value if started.plan.windowed else None,
            "fields": column_shapes(started.sink.columns),
            "sources": sorted(rooms.catalogue.queries[started.query].reads),
            "sinks": [started.sink.name],
            "executionPlan": _execution_plan(started),
            "topology": _topology(rooms, started.query, status),
            "queryType": "PERSISTENT",
            "queryErrors": errors,
            "state": query_state(rooms, started.query, states),
        }
    )


def _execution_plan(started: Started) -> str:
    lines = [explain(started.plan.step)]
    if started.collapses:
        lines.append("of the changes of a group in a batch, the last one is written")
    if started.late_topic:
        lines.append(f"late records go to topic {started.late_topic}, in the transaction")
    return "\n".join(lines)


def _topology(rooms: SqlRooms, query: str, status: QueryStatus | None) -> str:
    """Return a running query's mode and promise, and the plan that Spark runs."""
    if status is None:
        return ""
    promise = f"mode {status.mode.value}: {status.guarantee}"
    plan = rooms.app.statuses.read_plan(query)
    return f"{promise}\n\n{plan}" if plan else f"{promise}\n\nSpark has not planned a batch yet."


def _description(given: Entity) -> Entity:
    body: Entity = {
        "id": "",
        "statementText": "",
        "windowType": None,
        "fields": [],
        "sources": [],
        "sinks": [],
        "topology": "",
        "executionPlan": "",
        "overriddenProperties": {},
        "ksqlHostQueryStatus": {},
        "queryType": "PERSISTENT",
        "queryErrors": [],
        "tasksMetadata": [],
        "state": None,
    }
    return {
        "@type": "queryDescription",
        "queryDescription": {**body, **given},
        "overridden_properties": {},
    }
