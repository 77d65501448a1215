"""Statements that list: streams, tables, topics, queries, functions, types, properties."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from orion.log import is_internal
from orion.model import State
from orion.serve.sql.property import PROPERTIES
from orion.serve.sql.request import BadRequestError
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.shape import type_shape
from orion.sql import Source, Started, tree

Entity = dict[str, Any]
# The states of queries by ksqlDB's words.
_STATES = {
    State.STARTING: "RUNNING",
    State.RUNNING: "RUNNING",
    State.RESTARTING: "ERROR",
    State.FAILED: "ERROR",
    State.LOST: "UNRESPONSIVE",
    State.STOPPED: "PAUSED",
}


def show(rooms: SqlRooms, statement: tree.Show, session: Mapping[str, Any]) -> Entity:
    """Return the entity of a LIST or SHOW statement."""
    acts: dict[tree.Listed, Callable[[], Entity]] = {
        tree.Listed.STREAMS: lambda: _sources(rooms, "streams", is_table=False),
        tree.Listed.TABLES: lambda: _sources(rooms, "tables", is_table=True),
        tree.Listed.TOPICS: lambda: _topics(rooms, statement),
        tree.Listed.QUERIES: lambda: {"@type": "queries", "queries": query_rows(rooms)},
        tree.Listed.FUNCTIONS: lambda: _functions(rooms),
        tree.Listed.TYPES: lambda: _types(rooms),
        tree.Listed.PROPERTIES: lambda: _properties(session["properties"]),
        tree.Listed.VARIABLES: lambda: _variables(session["variables"]),
    }
    act = acts.get(statement.what)
    if act is None:
        raise BadRequestError("Connectors are not available here yet.")
    return act()


def _sources(rooms: SqlRooms, word: str, *, is_table: bool) -> Entity:
    found = sorted(rooms.catalogue.sources.values(), key=lambda source: source.name)
    rows = [source_row(source) for source in found if source.is_table is is_table]
    return {"@type": word, word: rows}


def source_row(source: Source) -> Entity:
    """Return a stream or table as a row of a list."""
    return {
        "type": source.kind.value,
        "name": source.name,
        "topic": source.topic,
        "keyFormat": source.key_format.name,
        "valueFormat": source.value_format.name,
        "isWindowed": source.windowed is not None,
    }


def _topics(rooms: SqlRooms, statement: tree.Show) -> Entity:
    topics = rooms.app.topics.list(internal=True)
    shown = [topic for topic in topics if statement.all or not is_internal(topic.name)]
    rows: list[Entity] = [
        {
            "name": topic.name,
            "replicaInfo": [len(partition.replicas) for partition in topic.partitions],
        }
        for topic in shown
    ]
    if not statement.extended:
        return {"@type": "kafka_topics", "topics": rows}
    members: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    for group in rooms.app.groups.list():
        for name in {part.topic for part in group.partitions}:
            groups[name] += 1
            members[name] += len(group.members)
    for row in rows:
        row |= {"consumerCount": members[row["name"]], "consumerGroupCount": groups[row["name"]]}
    return {"@type": "kafka_topics_extended", "topics": rows}


def query_state(rooms: SqlRooms, name: str, states: Mapping[str, Any]) -> str:
    """Return the state of a persistent query by ksqlDB's words."""
    if name in rooms.catalogue.paused:
        return "PAUSED"
    found = states.get(name)
    # A query that was just accepted has said nothing yet.
    return "RUNNING" if found is None else _STATES[found.state]


def query_rows(rooms: SqlRooms, names: set[str] | None = None) -> list[Entity]:
    """Return the persistent queries as rows of a list."""
    states = rooms.statuses()
    return [
        _query_row(started, query_state(rooms, name, states))
        for name, started in sorted(rooms.commands.queries.items())
        if names is None or name in names
    ]


def _query_row(started: Started, state: str) -> Entity:
    return {
        "queryString": started.statement,
        "sinks": [started.sink.name],
        "sinkKafkaTopics": [started.sink.topic],
        "id": started.query,
        "statusCount": {state: 1},
        "queryType": "PERSISTENT",
        "state": state,
    }


def _functions(rooms: SqlRooms) -> Entity:
    rows = [
        {"name": each.name.upper(), "category": each.category.upper(), "type": each.kind.value}
        for each in rooms.functions
    ]
    return {"@type": "function_names", "functions": rows}


def _types(rooms: SqlRooms) -> Entity:
    types = {name: type_shape(kind) for name, kind in sorted(rooms.catalogue.types.items())}
    return {"@type": "type_list", "types": types}


def _properties(given: Mapping[str, str]) -> Entity:
    rows = [
        {
            "name": name,
            "scope": "KSQL" if name.startswith("ksql.") else "EMBEDDED CLIENT",
            "value": given.get(name, default),
            "editable": True,
        }
        for name, default in sorted(PROPERTIES.items())
    ]
    return {
        "@type": "properties",
        "properties": rows,
        "overwrittenProperties": sorted(given),
        "defaultProperties": sorted(name for name in PROPERTIES if name not in given),
    }


def _variables(given: Mapping[str, str]) -> Entity:
    rows = [{"name": name, "value": value} for name, value in sorted(given.items())]
    return {"@type": "variables", "variables": rows}
