"""Statements that describe one thing: a source, a function, a query."""

from typing import Any

from orion.model import State
from orion.serve.sql.request import BadRequestError
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.shape import column_shapes
from orion.serve.sql.show import query_rows, query_state
from orion.sql import Column, Role, Source, Started, describe_variant, explain, plan_query, tree

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
        statistics = f"records in the topic: {topic.records}"
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
    plan = plan_query(query, rooms.catalogue, rooms.functions, drops_keys=True)
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
            "queryType": "PUSH" if isinstance(target, tree.SelectStatement) else "PERSISTENT",
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
            "statementText": started.sink.statement,
            "windowType": started.plan.windowed.kind.value if started.plan.windowed else None,
            "fields": column_shapes(started.sink.columns),
            "sources": sorted(rooms.catalogue.queries[started.query].reads),
            "sinks": [started.sink.name],
            "executionPlan": explain(started.plan.step),
            "topology": status.guarantee if status is not None else "",
            "queryType": "PERSISTENT",
            "queryErrors": errors,
            "state": query_state(rooms, started.query, states),
        }
    )


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
