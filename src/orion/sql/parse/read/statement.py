"""Statements about streams, tables, types and connectors; the first word decides who reads on."""

from collections.abc import Callable

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.read.command import COMMANDS
from orion.sql.parse.read.element import (
    at_not_exists,
    read_columns,
    read_elements,
    read_if_exists,
    read_if_not_exists,
    read_properties,
    read_values,
)
from orion.sql.parse.read.query import read_query
from orion.sql.parse.read.type import read_type

_KINDS = ("STREAM", "TABLE")
# An inner query, and the OVER in it.
_RANKING = 2


def read_statement(cursor: Cursor) -> tree.Statement:
    """Read one statement; what follows it is left."""
    word = cursor.expect_first(_READERS)
    found = _READERS[word](cursor)
    asked = found.target if isinstance(found, tree.Explain) else found
    if not (isinstance(asked, tree.SelectStatement) and asked.query.is_pull):
        cursor.refuse_extras(but=_RANKING if _is_ranking(asked) else 0)
    return found


def _is_ranking(statement: tree.Node) -> bool:
    """Tell whether a statement reads from an inner query that ranks rows, which may go on."""
    query = getattr(statement, "query", None)
    if not isinstance(query, tree.Query) or not isinstance(query.source, tree.QuerySource):
        return False
    parts = [p for p in query.source.query.select if isinstance(p, tree.SelectItem)]
    return any(isinstance(part.expression, tree.Over) for part in parts)


def _read_select(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    query = read_query(cursor, alone=True)
    return tree.SelectStatement(query, place=cursor.place(start))


def _read_create(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    or_replace = cursor.take_sequence("OR", "REPLACE")
    if not or_replace:
        if cursor.at("SINK") or (cursor.at("SOURCE") and cursor.peek().value == "CONNECTOR"):
            return _read_create_connector(cursor, start)
        if cursor.take("TYPE"):
            return _read_create_type(cursor, start)
    is_source = cursor.take("SOURCE")
    kind = tree.SourceKind(cursor.expect(*_KINDS))
    if_not_exists = read_if_not_exists(cursor)
    name = cursor.name(f"the name of a {kind.value.lower()}")
    elements = read_elements(cursor) if cursor.at_symbol("(") else ()
    properties = read_properties(cursor) if cursor.take("WITH") else ()
    if not elements and not is_source and cursor.take("AS"):
        query = read_query(cursor)
        return tree.CreateAs(
            kind, name, query, properties, or_replace, if_not_exists, place=cursor.place(start)
        )
    return tree.CreateSource(
        kind,
        name,
        elements,
        properties,
        or_replace,
        if_not_exists,
        is_source,
        place=cursor.place(start),
    )


def _read_create_connector(cursor: Cursor, start: int) -> tree.CreateConnector:
    kind = tree.ConnectorKind(cursor.advance().value)
    cursor.expect("CONNECTOR")
    if_not_exists = read_if_not_exists(cursor)
    name = cursor.name("the name of a connector")
    cursor.expect("WITH")
    properties = read_properties(cursor)
    return tree.CreateConnector(kind, name, properties, if_not_exists, place=cursor.place(start))


def _read_create_type(cursor: Cursor, start: int) -> tree.CreateType:
    if_not_exists = read_if_not_exists(cursor)
    name = cursor.name("the name of a type")
    cursor.expect("AS")
    type_ = read_type(cursor)
    return tree.CreateType(name, type_, if_not_exists, place=cursor.place(start))


def _read_drop(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    word = cursor.expect(*_KINDS, "CONNECTOR", "TYPE")
    if_exists = read_if_exists(cursor)
    name = cursor.name(f"the name of a {word.lower()}")
    if word == "CONNECTOR":
        return tree.DropConnector(name, if_exists, place=cursor.place(start))
    if word == "TYPE":
        return tree.DropType(name, if_exists, place=cursor.place(start))
    delete = cursor.take_sequence("DELETE", "TOPIC")
    return tree.DropSource(
        tree.SourceKind(word), name, if_exists, delete, place=cursor.place(start)
    )


def _read_insert(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    cursor.expect("INTO")
    target = cursor.name("a stream or table")
    columns = read_columns(cursor) if cursor.at_symbol("(") else ()
    if cursor.take("VALUES"):
        values = read_values(cursor)
        return tree.InsertValues(target, columns, values, place=cursor.place(start))
    if columns:
        cursor.fail()
    properties = read_properties(cursor) if cursor.take("WITH") else ()
    query = read_query(cursor)
    return tree.InsertQuery(target, query, properties, place=cursor.place(start))


def _read_alter(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    if cursor.take("SYSTEM"):
        name = cursor.string("a property in single quotes")
        cursor.expect_symbol("=")
        value = cursor.string()
        return tree.AlterSystem(name, value, place=cursor.place(start))
    kind = tree.SourceKind(cursor.expect(*_KINDS))
    source = cursor.name(f"the name of a {kind.value.lower()}")
    columns = [_read_added(cursor)]
    while cursor.take_symbol(","):
        columns.append(_read_added(cursor))
    return tree.AlterSource(kind, source, tuple(columns), place=cursor.place(start))


def _read_added(cursor: Cursor) -> tree.AddColumn:
    start = cursor.mark()
    cursor.expect("ADD")
    # COLUMN may be left out, and may itself be the column's name.
    if cursor.at("COLUMN") and cursor.at_name(1) and not _ends_column(cursor):
        cursor.advance()
    name = cursor.name("a column")
    type_ = read_type(cursor)
    return tree.AddColumn(name, type_, place=cursor.place(start))


def _ends_column(cursor: Cursor) -> bool:
    after = cursor.peek(2)
    return after.kind == "END" or (after.kind == "SYMBOL" and after.value == ",")


def _read_explain(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    if cursor.at_name() and cursor.peek().kind == "END":
        return tree.Explain(cursor.name("a query"), place=cursor.place(start))
    cursor.enter()
    target = read_statement(cursor)
    cursor.leave()
    return tree.Explain(target, place=cursor.place(start))


def _read_assert(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    if cursor.take("VALUES"):
        source = cursor.name("a stream or table")
        columns = read_columns(cursor) if cursor.at_symbol("(") else ()
        cursor.expect("VALUES")
        return tree.AssertValues(source, columns, read_values(cursor), place=cursor.place(start))
    if cursor.take_sequence("NULL", "VALUES"):
        source = cursor.name("a table")
        columns = read_columns(cursor) if cursor.at_symbol("(") else ()
        cursor.expect("KEY")
        return tree.AssertTombstone(source, columns, read_values(cursor), place=cursor.place(start))
    if cursor.at(*_KINDS):
        kind = tree.SourceKind(cursor.advance().value)
        source = cursor.name(f"the name of a {kind.value.lower()}")
        elements = read_elements(cursor) if cursor.at_symbol("(") else ()
        properties = read_properties(cursor) if cursor.take("WITH") else ()
        return tree.AssertSource(kind, source, elements, properties, place=cursor.place(start))
    return _read_assert_existence(cursor, start)


def _read_assert_existence(cursor: Cursor, start: int) -> tree.Statement:
    exists = not at_not_exists(cursor)
    if cursor.take("TOPIC"):
        topic = cursor.resource()
        properties = read_properties(cursor) if cursor.take("WITH") else ()
        timeout = cursor.duration() if cursor.take("TIMEOUT") else None
        return tree.AssertTopic(topic, properties, exists, timeout, place=cursor.place(start))
    cursor.expect("SCHEMA")
    subject = cursor.resource() if cursor.take("SUBJECT") else None
    number = cursor.integer() if cursor.take("ID") else None
    timeout = cursor.duration() if cursor.take("TIMEOUT") else None
    return tree.AssertSchema(subject, number, exists, timeout, place=cursor.place(start))


_READERS: dict[str, Callable[[Cursor], tree.Statement]] = {
    "SELECT": _read_select,
    "WITH": _read_select,
    "CREATE": _read_create,
    "INSERT": _read_insert,
    "DROP": _read_drop,
    "ALTER": _read_alter,
    "EXPLAIN": _read_explain,
    "ASSERT": _read_assert,
    **COMMANDS,
}
