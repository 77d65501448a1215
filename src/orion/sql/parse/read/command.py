"""Statements that look around or steer: SHOW, DESCRIBE, PRINT, TERMINATE, SET, DEFINE and kin."""

from collections.abc import Callable

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor

_EXTENDABLE = {
    "TOPICS": tree.Listed.TOPICS,
    "STREAMS": tree.Listed.STREAMS,
    "TABLES": tree.Listed.TABLES,
    "QUERIES": tree.Listed.QUERIES,
}
_PLAIN = {
    "PROPERTIES": tree.Listed.PROPERTIES,
    "FUNCTIONS": tree.Listed.FUNCTIONS,
    "CONNECTORS": tree.Listed.CONNECTORS,
    "TYPES": tree.Listed.TYPES,
    "VARIABLES": tree.Listed.VARIABLES,
}
_OF_ALL: dict[str, type[tree.Terminate] | type[tree.Pause] | type[tree.Resume]] = {
    "TERMINATE": tree.Terminate,
    "PAUSE": tree.Pause,
    "RESUME": tree.Resume,
}


def _read_show(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    if cursor.take("ALL"):
        cursor.expect("TOPICS")
        extended = cursor.take("EXTENDED")
        return tree.Show(tree.Listed.TOPICS, extended, all=True, place=cursor.place(start))
    if cursor.take_sequence("CONNECTOR", "PLUGINS"):
        return tree.Show(tree.Listed.CONNECTOR_PLUGINS, place=cursor.place(start))
    if cursor.at("SOURCE", "SINK"):
        kind = tree.ConnectorKind(cursor.advance().value)
        cursor.expect("CONNECTORS")
        return tree.Show(tree.Listed.CONNECTORS, connectors=kind, place=cursor.place(start))
    word = cursor.expect(*_EXTENDABLE, *_PLAIN)
    if word in _PLAIN:
        return tree.Show(_PLAIN[word], place=cursor.place(start))
    extended = cursor.take("EXTENDED")
    return tree.Show(_EXTENDABLE[word], extended, place=cursor.place(start))


def _read_describe(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    # FUNCTION may also be the name of a source: then no name follows.
    if cursor.at("FUNCTION") and cursor.at_name(1):
        cursor.advance()
        return tree.DescribeFunction(cursor.name("a function"), place=cursor.place(start))
    if cursor.take("CONNECTOR"):
        return tree.DescribeConnector(cursor.name("a connector"), place=cursor.place(start))
    if cursor.at("STREAMS", "TABLES"):
        kind = tree.SourceKind(cursor.advance().value.removesuffix("S"))
        extended = cursor.take("EXTENDED")
        return tree.DescribeSources(kind, extended, place=cursor.place(start))
    name = cursor.name("a stream or table")
    extended = cursor.take("EXTENDED")
    return tree.DescribeSource(name, extended, place=cursor.place(start))


def _read_print(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    topic = cursor.resource()
    beginning = cursor.take_sequence("FROM", "BEGINNING")
    interval = cursor.integer() if cursor.take("INTERVAL", "SAMPLE") else None
    limit = cursor.integer() if cursor.take("LIMIT") else None
    return tree.PrintTopic(topic, beginning, interval, limit, place=cursor.place(start))


def _read_order(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    kind = _OF_ALL[cursor.advance().value]
    query = None if cursor.take("ALL") else cursor.name("the id of a query")
    return kind(query, place=cursor.place(start))


def _read_set(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    name = cursor.string("a property in single quotes")
    cursor.expect_symbol("=")
    value = cursor.string()
    return tree.SetProperty(name, value, place=cursor.place(start))


def _read_unset(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    name = cursor.string("a property in single quotes")
    return tree.UnsetProperty(name, place=cursor.place(start))


def _read_define(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    name = cursor.word("the name of a variable")
    cursor.expect_symbol("=")
    value = cursor.string()
    return tree.DefineVariable(name, value, place=cursor.place(start))


def _read_undefine(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    name = cursor.word("the name of a variable")
    return tree.UndefineVariable(name, place=cursor.place(start))


def _read_run(cursor: Cursor) -> tree.Statement:
    start = cursor.mark()
    cursor.advance()
    cursor.expect("SCRIPT")
    path = cursor.string("a file in single quotes")
    return tree.RunScript(path, place=cursor.place(start))


COMMANDS: dict[str, Callable[[Cursor], tree.Statement]] = {
    "LIST": _read_show,
    "SHOW": _read_show,
    "DESCRIBE": _read_describe,
    "PRINT": _read_print,
    "TERMINATE": _read_order,
    "PAUSE": _read_order,
    "RESUME": _read_order,
    "SET": _read_set,
    "UNSET": _read_unset,
    "DEFINE": _read_define,
    "UNDEFINE": _read_undefine,
    "RUN": _read_run,
}
