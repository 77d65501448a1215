"""Carry out the statements of a request, one after the other, and tell what each has done."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from orion.command import Accepted
from orion.model import OrionError
from orion.serve.sql import describe
from orion.serve.sql.insert import insert_values
from orion.serve.sql.property import check_property
from orion.serve.sql.request import (
    USE_QUERY,
    AssertionFailedError,
    BadRequestError,
    SqlRequest,
    StatementFailedError,
)
from orion.serve.sql.rooms import SqlRooms
from orion.serve.sql.show import show
from orion.sql import (
    Declared,
    Dropped,
    Paused,
    Started,
    Terminated,
    TypeMade,
    Unchanged,
    parse_statements,
    tree,
)

Entity = dict[str, Any]
_CHANGES = (
    tree.CreateSource
    | tree.CreateAs
    | tree.InsertQuery
    | tree.DropSource
    | tree.AlterSource
    | tree.CreateType
    | tree.DropType
    | tree.Terminate
    | tree.Pause
    | tree.Resume
)
_ASSERT_TIMEOUT_MS = 1_000
_LOOK_S = 0.1


@dataclass
class Session:
    """What statements of one request see of those before them."""

    rooms: SqlRooms
    properties: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)


def execute(rooms: SqlRooms, request: SqlRequest) -> list[Entity]:
    """Carry out every statement; the first that fails ends the request."""
    for name in request.properties:
        check_property(name)
    try:
        statements = parse_statements(request.text, request.variables)
    except OrionError as error:
        raise StatementFailedError(request.text, error) from error
    for statement in statements:
        if isinstance(statement, tree.SelectStatement | tree.PrintTopic):
            reason = "SELECT and PRINT are answered by /query and /query-stream."
            refusal = BadRequestError(reason, code=USE_QUERY)
            raise StatementFailedError(statement.text, refusal)
    session = Session(rooms, dict(request.properties), dict(request.variables))
    entities: list[Entity] = []
    for statement in statements:
        try:
            entity = _execute(session, statement)
        except OrionError as error:
            raise StatementFailedError(statement.text, error, entities) from error
        if entity is not None:
            entities.append(
                {"@type": entity.pop("@type"), "statementText": statement.text, **entity}
                | {"warnings": entity.get("warnings", [])}
            )
    return entities


def _execute(session: Session, statement: tree.Statement) -> Entity | None:
    rooms = session.rooms
    if isinstance(statement, _CHANGES):
        return _accepted(statement, rooms.commands.accept(statement, session.properties))
    looks: dict[type, Callable[[Any], Entity]] = {
        tree.Show: lambda s: show(
            rooms, s, {"properties": session.properties, "variables": session.variables}
        ),
        tree.DescribeSource: lambda s: describe.describe_source(rooms, s),
        tree.DescribeSources: lambda s: describe.describe_sources(rooms, s),
        tree.DescribeFunction: lambda s: describe.describe_function(rooms, s),
        tree.Explain: lambda s: describe.explain_statement(rooms, s),
        tree.AssertTopic: lambda s: _assert_topic(rooms, s),
        tree.AssertSchema: lambda s: _assert_schema(rooms, s),
    }
    look = looks.get(type(statement))
    if look is not None:
        return look(statement)
    return _act(session, statement)


def _act(session: Session, statement: tree.Statement) -> Entity | None:
    """Carry out what has no answer of its own."""
    match statement:
        case tree.InsertValues():
            insert_values(session.rooms, statement)
        case tree.SetProperty(name, value):
            check_property(name)
            session.properties[name] = value
        case tree.UnsetProperty(name):
            check_property(name)
            session.properties.pop(name, None)
        case tree.DefineVariable(name, value):
            session.variables[name] = value
        case tree.UndefineVariable(name):
            session.variables.pop(name, None)
        case _:
            word = type(statement).__name__
            raise BadRequestError(f"Statements of the kind {word} are not carried out here.")
    return None


def _accepted(statement: tree.Statement, accepted: Accepted) -> Entity:
    change = accepted.change
    if isinstance(change, Unchanged):
        return {"@type": "warning_entity", "message": change.reason}
    command, message, query = _outcome(statement, change)
    number = accepted.command.number if accepted.command is not None else -1
    status = {"status": "SUCCESS", "message": message, "queryId": query}
    return {
        "@type": "currentStatus",
        "commandId": command,
        "commandStatus": status,
        "commandSequenceNumber": number,
    }


def _outcome(statement: tree.Statement, change: Any) -> tuple[str, str, str | None]:
    """Return the command's id, what happened in words, and the query it started."""
    match change:
        case Declared(source, replaces):
            word = source.kind.value.lower()
            act = "alter" if isinstance(statement, tree.AlterSource) else "create"
            done = "replaced" if replaces else "created" if act == "create" else "altered"
            return f"{word}/`{source.name}`/{act}", f"{word.capitalize()} {done}", None
        case Started(query, _, sink):
            word = sink.kind.value.lower()
            return f"{word}/`{sink.name}`/create", f"Created query with ID {query}", query
        case Dropped(source):
            word = source.kind.value.lower()
            text = f"Source `{source.name}` (topic: {source.topic}) was dropped."
            return f"{word}/`{source.name}`/drop", text, None
        case TypeMade(name, None):
            return f"type/`{name}`/drop", f"Type '{name}' dropped", None
        case TypeMade(name, kind):
            text = f"Registered custom type with name '{name}' and SQL type {kind}"
            return f"type/`{name}`/create", text, None
        case Terminated(queries):
            return f"terminate/{','.join(queries)}/execute", "Query terminated.", None
        case Paused(queries, is_paused):
            act = "pause" if is_paused else "resume"
            return f"{act}/{','.join(queries)}/execute", f"Query {act}d.", None
    raise AssertionError(change)


def _assert_topic(rooms: SqlRooms, statement: tree.AssertTopic) -> Entity:
    def holds() -> str:
        topics = rooms.app.topics
        if topics.exists(statement.topic) is not statement.exists:
            word = "does not exist" if statement.exists else "exists"
            return f"Topic {statement.topic} {word}."
        if not statement.exists or not statement.properties:
            return ""
        topic = topics.get(statement.topic)
        found = {"PARTITIONS": len(topic.partitions), "REPLICAS": topic.replication}
        for given in statement.properties:
            value = getattr(given.value, "value", None)
            name = given.name.upper()
            if name in found and found[name] != value:
                return f"Topic {statement.topic} has {name.lower()} {found[name]}, not {value}."
        return ""

    _wait(holds, statement.timeout)
    return {"@type": "assert_topic", "topicName": statement.topic, "exists": statement.exists}


def _assert_schema(rooms: SqlRooms, statement: tree.AssertSchema) -> Entity:
    def holds() -> str:
        if _has_schema(rooms, statement) is statement.exists:
            return ""
        word = "does not exist" if statement.exists else "exists"
        named = f"Schema with subject {statement.subject} and id {statement.id}"
        return f"{named} {word}."

    _wait(holds, statement.timeout)
    return {
        "@type": "assert_schema",
        "subject": statement.subject,
        "id": statement.id,
        "exists": statement.exists,
    }


def _has_schema(rooms: SqlRooms, statement: tree.AssertSchema) -> bool:
    if statement.subject is not None:
        ids = [each.id for each in rooms.schemas.versions(statement.subject)]
        return bool(ids) if statement.id is None else statement.id in ids
    try:
        rooms.schemas.schema(statement.id or 0)
    except OrionError:
        return False
    return True


def _wait(holds: Callable[[], str], timeout: tree.Duration | None) -> None:
    """Wait until nothing speaks against an assertion, or raise what does."""
    limit_ms = _ASSERT_TIMEOUT_MS if timeout is None else timeout.ms
    deadline = time.monotonic() + limit_ms / 1_000
    while reason := holds():
        if time.monotonic() >= deadline:
            raise AssertionFailedError(reason)
        time.sleep(_LOOK_S)


def session_of(request: SqlRequest) -> Mapping[str, str]:
    """Return the properties of a request, once they are known to be usable."""
    for name in request.properties:
        check_property(name)
    return request.properties
