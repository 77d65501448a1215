"""Scripts: text to statements, one after the other, with their variables filled in."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.depth import check_depth
from orion.sql.parse.lexer import Token, place_at, tokenize
from orion.sql.parse.read.expression import read_expression
from orion.sql.parse.read.statement import read_statement
from orion.sql.parse.read.type import read_type
from orion.sql.parse.variable import has_variables, substitute

_Node = TypeVar("_Node", bound=tree.Node)


def parse_statements(text: str, variables: Mapping[str, str] | None = None) -> list[tree.Statement]:
    """Return the statements of a script; the last one needs no semicolon.

    Args:
        text: Statements, with comments.
        variables: The session's variables. DEFINE and UNDEFINE count from the next statement on.
    """
    known = {name.upper(): value for name, value in (variables or {}).items()}
    statements = []
    for part, tokens, origin in _split(text):
        statement = _parse_part(part, tokens, origin, known)
        match statement:
            case tree.DefineVariable(name, value):
                known[name.upper()] = value
            case tree.UndefineVariable(name):
                known.pop(name.upper(), None)
        statements.append(statement)
    return statements


def parse_statement(text: str, variables: Mapping[str, str] | None = None) -> tree.Statement:
    """Return the one statement of a text."""
    found = parse_statements(text, variables)
    if len(found) == 1:
        return found[0]
    cursor = Cursor(text, tokenize(text))
    cursor.expected("one statement")
    return cursor.fail()


def parse_expression(text: str) -> tree.Expression:
    """Return the expression of a text."""
    cursor = Cursor(text, tokenize(text))
    found = read_expression(cursor)
    cursor.expect_end()
    return _checked(text, found)


def parse_type(text: str) -> tree.WrittenType:
    """Return the type of a text, as written."""
    cursor = Cursor(text, tokenize(text))
    found = read_type(cursor)
    cursor.expect_end()
    return _checked(text, found)


def split_statements(text: str) -> list[str]:
    """Return the texts of a script's statements, each with its comments and semicolon."""
    return [part for part, _, _ in _split(text)]


def place_statements(text: str) -> list[str]:
    r"""Return the texts of a script's statements, each where it stands in the script.

    >>> place_statements("SHOW TOPICS;\n SHOW QUERIES;")
    ['SHOW TOPICS;', '\n SHOW QUERIES;']
    """
    return [
        "\n" * (place.line - 1) + " " * (place.column - 1) + part for part, _, place in _split(text)
    ]


def _parse_part(
    part: str, tokens: Sequence[Token], origin: tree.Place, known: Mapping[str, str]
) -> tree.Statement:
    if has_variables(part):
        part = substitute(part, tokens, known)
        tokens = [token for token in tokenize(part) if token[:2] != ("SYMBOL", ";")]
    cursor = Cursor(part, tokens, origin)
    statement = read_statement(cursor)
    cursor.expect_end()
    return dataclasses.replace(_checked(part, statement), text=part)


def _split(text: str) -> Iterator[tuple[str, list[Token], tree.Place]]:
    """Cut a script at its semicolons; offsets of tokens count from the start of their part."""
    tokens: list[Token] = []
    begin = 0
    for token in tokenize(text):
        if token.kind == "SYMBOL" and token.value == ";":
            if tokens:
                yield _part(text, tokens, begin, token.end)
            tokens, begin = [], token.end
        else:
            tokens.append(token)
    if tokens:
        yield _part(text, tokens, begin, len(text))


def _part(
    text: str, tokens: list[Token], begin: int, end: int
) -> tuple[str, list[Token], tree.Place]:
    inside = text[begin:end]
    start = begin + len(inside) - len(inside.lstrip())
    moved = [
        Token(token.kind, token.value, token.start - start, token.end - start) for token in tokens
    ]
    return inside.strip(), moved, place_at(text, start, end)


def _checked(text: str, found: _Node) -> _Node:
    check_depth(text, found)
    return found
