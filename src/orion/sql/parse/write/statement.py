"""Statements back to text, so that reading it again gives the same tree."""

from orion.sql.parse import tree
from orion.sql.parse.write.command import format_command
from orion.sql.parse.write.expression import (
    format_duration_of,
    format_expression,
    format_list,
    format_name,
    format_query,
    format_string,
    format_type,
)


def format_statement(statement: tree.Statement) -> str:
    """Return a statement as SQL, with its semicolon."""
    return f"{_format(statement)};"


def _format(statement: tree.Statement) -> str:
    match statement:
        case tree.SelectStatement(query):
            return format_query(query)
        case tree.InsertQuery() | tree.InsertValues():
            return _format_insert(statement)
        case tree.CreateSource() | tree.CreateAs():
            return _format_create(statement)
        case tree.AlterSource() | tree.CreateType() | tree.CreateConnector():
            return _format_definition(statement)
        case tree.Explain(target):
            inner = format_name(target) if isinstance(target, tree.Name) else _format(target)
            return f"EXPLAIN {inner}"
        case tree.AssertTopic() | tree.AssertSchema():
            return _format_existence(statement)
        case tree.AssertValues() | tree.AssertTombstone() | tree.AssertSource():
            return _format_assertion(statement)
        case _:
            return format_command(statement)


def _format_insert(statement: tree.InsertQuery | tree.InsertValues) -> str:
    head = f"INSERT INTO {format_name(statement.target)}"
    match statement:
        case tree.InsertQuery(_, query, properties):
            return f"{head}{_format_with(properties)} {format_query(query)}"
        case tree.InsertValues(_, columns, values):
            return f"{head}{_format_columns(columns)} VALUES ({format_list(values)})"


def _format_definition(
    statement: tree.AlterSource | tree.CreateType | tree.CreateConnector,
) -> str:
    if isinstance(statement, tree.AlterSource):
        columns = (
            f"ADD COLUMN {format_name(column.name)} {format_type(column.type)}"
            for column in statement.columns
        )
        return f"ALTER {statement.kind.value} {format_name(statement.name)} {', '.join(columns)}"
    name = f"{'IF NOT EXISTS ' if statement.if_not_exists else ''}{format_name(statement.name)}"
    if isinstance(statement, tree.CreateType):
        return f"CREATE TYPE {name} AS {format_type(statement.type)}"
    return f"CREATE {statement.kind.value} CONNECTOR {name}{_format_with(statement.properties)}"


def _format_create(statement: tree.CreateSource | tree.CreateAs) -> str:
    replace = "OR REPLACE " if statement.or_replace else ""
    is_source = isinstance(statement, tree.CreateSource) and statement.is_source
    source = "SOURCE " if is_source else ""
    missing = "IF NOT EXISTS " if statement.if_not_exists else ""
    head = f"CREATE {replace}{source}{statement.kind.value} {missing}{format_name(statement.name)}"
    if isinstance(statement, tree.CreateAs):
        return f"{head}{_format_with(statement.properties)} AS {format_query(statement.query)}"
    return f"{head}{_format_elements(statement.elements)}{_format_with(statement.properties)}"


def _format_assertion(
    statement: tree.AssertValues | tree.AssertTombstone | tree.AssertSource,
) -> str:
    match statement:
        case tree.AssertValues(source, columns, values):
            names = f"{format_name(source)}{_format_columns(columns)}"
            return f"ASSERT VALUES {names} VALUES ({format_list(values)})"
        case tree.AssertTombstone(source, columns, values):
            names = f"{format_name(source)}{_format_columns(columns)}"
            return f"ASSERT NULL VALUES {names} KEY ({format_list(values)})"
        case tree.AssertSource(kind, name, elements, properties):
            head = f"ASSERT {kind.value} {format_name(name)}"
            return f"{head}{_format_elements(elements)}{_format_with(properties)}"


def _format_existence(statement: tree.AssertTopic | tree.AssertSchema) -> str:
    parts = ["ASSERT" if statement.exists else "ASSERT NOT EXISTS"]
    if isinstance(statement, tree.AssertTopic):
        parts.append(f"TOPIC {format_string(statement.topic)}{_format_with(statement.properties)}")
    else:
        parts.append("SCHEMA")
        if statement.subject is not None:
            parts.append(f"SUBJECT {format_string(statement.subject)}")
        if statement.id is not None:
            parts.append(f"ID {statement.id}")
    if statement.timeout is not None:
        parts.append(f"TIMEOUT {format_duration_of(statement.timeout)}")
    return " ".join(parts)


def _format_columns(columns: tuple[tree.Name, ...]) -> str:
    return f" ({', '.join(format_name(name) for name in columns)})" if columns else ""


def _format_elements(elements: tuple[tree.TableElement, ...]) -> str:
    return f" ({', '.join(_format_element(element) for element in elements)})" if elements else ""


def _format_element(element: tree.TableElement) -> str:
    mark = "" if element.mark is None else f" {element.mark.value}"
    header = "" if element.header is None else f"({format_string(element.header)})"
    return f"{format_name(element.name)} {format_type(element.type)}{mark}{header}"


def _format_with(properties: tree.Properties) -> str:
    if not properties:
        return ""
    inner = (f"{format_name(one.name)} = {format_expression(one.value)}" for one in properties)
    return f" WITH ({', '.join(inner)})"
