"""The parts that statements share: declared columns, WITH properties, lists of names and values."""

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.read.expression import read_value
from orion.sql.parse.read.literal import read_literal
from orion.sql.parse.read.type import read_type


def read_elements(cursor: Cursor) -> tuple[tree.TableElement, ...]:
    """Read the declared columns in parentheses."""
    cursor.expect_symbol("(")
    elements = [_read_element(cursor)]
    while cursor.take_symbol(","):
        elements.append(_read_element(cursor))
    cursor.expect_symbol(")")
    return tuple(elements)


def read_properties(cursor: Cursor) -> tree.Properties:
    """Read the properties of a WITH clause."""
    cursor.expect_symbol("(")
    properties = [_read_property(cursor)]
    while cursor.take_symbol(","):
        properties.append(_read_property(cursor))
    cursor.expect_symbol(")")
    return tuple(properties)


def read_columns(cursor: Cursor) -> tuple[tree.Name, ...]:
    """Read the names of columns in parentheses."""
    cursor.expect_symbol("(")
    names = [cursor.name("a column")]
    while cursor.take_symbol(","):
        names.append(cursor.name("a column"))
    cursor.expect_symbol(")")
    return tuple(names)


def read_values(cursor: Cursor) -> tuple[tree.Expression, ...]:
    """Read values in parentheses; there may be none."""
    cursor.expect_symbol("(")
    values: list[tree.Expression] = []
    while not cursor.at_symbol(")"):
        if values:
            cursor.expect_symbol(",")
        values.append(read_value(cursor))
    cursor.advance()
    return tuple(values)


def read_if_not_exists(cursor: Cursor) -> bool:
    """Read `IF NOT EXISTS` if it stands here."""
    return cursor.take_sequence("IF", "NOT", "EXISTS")


def read_if_exists(cursor: Cursor) -> bool:
    """Read `IF EXISTS` if it stands here."""
    return cursor.take_sequence("IF", "EXISTS")


def at_not_exists(cursor: Cursor) -> bool:
    """Read `NOT EXISTS` if it stands here."""
    return cursor.take_sequence("NOT", "EXISTS")


def _read_element(cursor: Cursor) -> tree.TableElement:
    start = cursor.mark()
    name = cursor.name("a column")
    type_ = read_type(cursor)
    mark, header = None, None
    if cursor.take_sequence("PRIMARY", "KEY"):
        mark = tree.ColumnMark.PRIMARY_KEY
    elif cursor.take("KEY"):
        mark = tree.ColumnMark.KEY
    elif cursor.take("HEADERS"):
        mark = tree.ColumnMark.HEADERS
    elif cursor.take("HEADER"):
        mark = tree.ColumnMark.HEADER
        cursor.expect_symbol("(")
        header = cursor.string("the key of a header in single quotes")
        cursor.expect_symbol(")")
    return tree.TableElement(name, type_, mark, header, place=cursor.place(start))


def _read_property(cursor: Cursor) -> tree.Property:
    start = cursor.mark()
    quoted = cursor.token.kind == "STRING"
    name = cursor.string() if quoted else cursor.name("a property").text
    cursor.expect_symbol("=")
    return tree.Property(name, read_literal(cursor), place=cursor.place(start))
