"""Primary expressions: literals, columns, calls, CASE, CAST, and what may follow each of them.

They hold whole expressions, which hold them again: the readers of those are handed in.
"""

from collections.abc import Callable

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.read.literal import at_literal, read_literal
from orion.sql.parse.read.type import read_type
from orion.sql.parse.word import TIME_UNITS, UNIT_FUNCTIONS

Reader = Callable[[Cursor], tree.Expression]


def read_primary(cursor: Cursor, whole: Reader, value: Reader) -> tree.Expression:
    """Read a primary expression with its subscripts and fields.

    Args:
        cursor: Where it begins.
        whole: Reads an expression.
        value: Reads a value, which has no comparison outside of parentheses.
    """
    start = cursor.mark()
    found = _read_start(cursor, whole, value)
    while True:
        if cursor.take_symbol("["):
            cursor.enter()
            index = value(cursor)
            cursor.leave()
            cursor.expect_symbol("]")
            found = tree.Subscript(found, index, place=cursor.place(start))
        elif cursor.at_symbol("->") and not _at_all_fields(cursor):
            cursor.advance()
            found = tree.FieldRef(found, cursor.name("a field"), place=cursor.place(start))
        else:
            return found


def _at_all_fields(cursor: Cursor) -> bool:
    following = cursor.peek()
    return following.kind == "SYMBOL" and following.value == "*"


def _read_start(cursor: Cursor, whole: Reader, value: Reader) -> tree.Expression:
    if at_literal(cursor):
        return read_literal(cursor)
    token = cursor.token
    if at_query(cursor):
        start = cursor.mark()
        return tree.QueryValue(read_nested(cursor), place=cursor.place(start))
    if token.kind == "SYMBOL" and token.value == "(":
        cursor.advance()
        found = whole(cursor)
        cursor.expect_symbol(")")
        return found
    if token.kind == "WORD" and token.value == "EXISTS":
        return _read_exists(cursor)
    if token.kind == "WORD":
        reader = _CONSTRUCTORS.get((token.value, cursor.peek().value))
        if reader is not None and cursor.peek().kind == "SYMBOL":
            return reader(cursor, whole)
        if token.value == "CASE":
            return _read_case(cursor, whole, value)
    return _read_named(cursor, whole)


def at_query(cursor: Cursor) -> bool:
    """Tell whether a query in parentheses stands here."""
    following = cursor.peek()
    is_open = cursor.token.kind == "SYMBOL" and cursor.token.value == "("
    return is_open and following.kind == "WORD" and following.value in ("SELECT", "WITH")


def read_nested(cursor: Cursor) -> tree.Query:
    """Read a query in parentheses; only queries hold queries."""
    if cursor.nested is None:
        cursor.advance()
        cursor.fail(reason="a query cannot stand here")
    cursor.only_in_answers("a query inside of another is not part of streaming SQL")
    cursor.advance()
    return cursor.nested(cursor)


def _read_exists(cursor: Cursor) -> tree.Expression:
    start = cursor.mark()
    cursor.advance()
    if not at_query(cursor):
        cursor.expected("a query in parentheses")
        cursor.fail()
    return tree.QueryExists(read_nested(cursor), place=cursor.place(start))


def _read_named(cursor: Cursor, whole: Reader) -> tree.Expression:
    start = cursor.mark()
    name = cursor.name("an expression")
    if cursor.token.kind == "STRING":
        return tree.TypedLiteral(name, cursor.advance().value, place=cursor.place(start))
    if cursor.take_symbol("("):
        arguments = _read_arguments(cursor, name, whole)
        return tree.Call(name, arguments, place=cursor.place(start))
    if cursor.at_symbol(".") and cursor.at_name(1):
        cursor.advance()
        column = cursor.name("a column")
        return tree.ColumnRef(name, column, place=cursor.place(start))
    return tree.ColumnRef(None, name, place=cursor.place(start))


def _read_arguments(cursor: Cursor, name: tree.Name, whole: Reader) -> tuple[tree.Argument, ...]:
    start = cursor.mark()
    if cursor.take_symbol("*"):
        cursor.expect_symbol(")")
        return (tree.Star(place=cursor.place(start)),)
    arguments: list[tree.Argument] = []
    while not (not arguments and cursor.at_symbol(")")):
        is_unit = not arguments and name.text.upper() in UNIT_FUNCTIONS
        arguments.append(_read_argument(cursor, whole, is_unit))
        if not cursor.take_symbol(","):
            break
    cursor.expect_symbol(")")
    return tuple(arguments)


def _read_argument(cursor: Cursor, whole: Reader, is_unit: bool) -> tree.Argument:
    start = cursor.mark()
    token, following = cursor.token, cursor.peek()
    if token.kind == "WORD" and token.value in TIME_UNITS:
        alone = following.kind == "SYMBOL" and following.value in (",", ")")
        if alone and (is_unit or not cursor.at_name()):
            unit = cursor.unit()
            return tree.IntervalUnit(unit, place=cursor.place(start))
    if _at_lambda(cursor):
        parameters = _read_parameters(cursor)
        cursor.expect_symbol("=>")
        body = whole(cursor)
        return tree.Lambda(parameters, body, place=cursor.place(start))
    return whole(cursor)


def _at_lambda(cursor: Cursor) -> bool:
    ahead = 0
    if cursor.token.kind == "SYMBOL" and cursor.token.value == "(":
        ahead = 1
        while cursor.at_name(ahead) and cursor.peek(ahead + 1).value == ",":
            ahead += 2
        if not cursor.at_name(ahead) or cursor.peek(ahead + 1).value != ")":
            return False
        ahead += 1
    elif not cursor.at_name():
        return False
    arrow = cursor.peek(ahead + 1)
    return arrow.kind == "SYMBOL" and arrow.value == "=>"


def _read_parameters(cursor: Cursor) -> tuple[tree.Name, ...]:
    if not cursor.take_symbol("("):
        return (cursor.name(),)
    names = [cursor.name()]
    while cursor.take_symbol(","):
        names.append(cursor.name())
    cursor.expect_symbol(")")
    return tuple(names)


def _read_case(cursor: Cursor, whole: Reader, value: Reader) -> tree.Case:
    start = cursor.mark()
    cursor.enter()
    cursor.expect("CASE")
    operand = None if cursor.at("WHEN") else value(cursor)
    branches: list[tree.When] = []
    while cursor.at("WHEN") or not branches:
        branch = cursor.mark()
        cursor.expect("WHEN")
        condition = whole(cursor)
        cursor.expect("THEN")
        result = whole(cursor)
        branches.append(tree.When(condition, result, place=cursor.place(branch)))
    default = whole(cursor) if cursor.take("ELSE") else None
    cursor.expect("END")
    cursor.leave()
    return tree.Case(operand, tuple(branches), default, place=cursor.place(start))


def _read_cast(cursor: Cursor, whole: Reader) -> tree.Expression:
    start = cursor.mark()
    cursor.advance()
    cursor.expect_symbol("(")
    value = whole(cursor)
    cursor.expect("AS")
    type_ = read_type(cursor)
    cursor.expect_symbol(")")
    return tree.Cast(value, type_, place=cursor.place(start))


def _read_array(cursor: Cursor, whole: Reader) -> tree.Expression:
    start = cursor.mark()
    cursor.advance()
    cursor.expect_symbol("[")
    items: list[tree.Expression] = []
    while not cursor.at_symbol("]"):
        if items:
            cursor.expect_symbol(",")
        items.append(whole(cursor))
    cursor.advance()
    return tree.ArrayLiteral(tuple(items), place=cursor.place(start))


def _read_map(cursor: Cursor, whole: Reader) -> tree.Expression:
    start = cursor.mark()
    cursor.advance()
    cursor.expect_symbol("(")
    entries: list[tuple[tree.Expression, tree.Expression]] = []
    while not cursor.at_symbol(")"):
        if entries:
            cursor.expect_symbol(",")
        key = whole(cursor)
        cursor.expect_symbol(":=")
        entries.append((key, whole(cursor)))
    cursor.advance()
    return tree.MapLiteral(tuple(entries), place=cursor.place(start))


def _read_struct(cursor: Cursor, whole: Reader) -> tree.Expression:
    start = cursor.mark()
    cursor.advance()
    cursor.expect_symbol("(")
    fields: list[tuple[tree.Name, tree.Expression]] = []
    while not cursor.at_symbol(")"):
        if fields:
            cursor.expect_symbol(",")
        name = cursor.name("a field")
        cursor.expect_symbol(":=")
        fields.append((name, whole(cursor)))
    cursor.advance()
    return tree.StructLiteral(tuple(fields), place=cursor.place(start))


_CONSTRUCTORS: dict[tuple[str, str], Callable[[Cursor, Reader], tree.Expression]] = {
    ("CAST", "("): _read_cast,
    ("ARRAY", "["): _read_array,
    ("MAP", "("): _read_map,
    ("STRUCT", "("): _read_struct,
}
