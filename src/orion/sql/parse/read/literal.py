"""Literals: NULL, booleans, numbers with their sign, texts."""

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.read.type import MOST_DIGITS

_NUMBERS = ("INTEGER", "DECIMAL", "DOUBLE")


def at_literal(cursor: Cursor) -> bool:
    """Tell whether a literal stands here."""
    token = cursor.token
    if token.kind == "SYMBOL":
        return token.value == "-" and cursor.peek().kind in _NUMBERS
    if token.kind == "WORD":
        return token.value in ("NULL", "TRUE", "FALSE")
    return token.kind == "STRING" or token.kind in _NUMBERS


def read_literal(cursor: Cursor) -> tree.Literal:
    """Read a literal; a minus before a number is part of it."""
    start = cursor.mark()
    if not at_literal(cursor):
        cursor.expected("a literal")
        cursor.fail()
    token = cursor.token
    if token.kind == "STRING":
        cursor.advance()
        return tree.StringLiteral(token.value, place=cursor.place(start))
    if token.kind == "WORD":
        cursor.advance()
        if token.value == "NULL":
            return tree.NullLiteral(place=cursor.place(start))
        return tree.BooleanLiteral(token.value == "TRUE", place=cursor.place(start))
    return _read_number(cursor, start)


def _read_number(cursor: Cursor, start: int) -> tree.Literal:
    negative = cursor.take_symbol("-")
    if cursor.token.kind == "INTEGER":
        return cursor.whole_number(start, sign=-1 if negative else 1)
    if cursor.token.kind == "DECIMAL" and _digits(cursor.token.value) > MOST_DIGITS:
        cursor.fail(
            reason=f"a DECIMAL has at most {MOST_DIGITS} digits",
            hint="Leave some out, or write an exponent: 1.5e40 is a DOUBLE.",
        )
    token = cursor.advance()
    text = f"-{token.value}" if negative else token.value
    kind = tree.DecimalLiteral if token.kind == "DECIMAL" else tree.DoubleLiteral
    return kind(text, place=cursor.place(start))


def _digits(text: str) -> int:
    """Return how many digits a number needs; zeros behind the point count."""
    whole, _, fraction = text.partition(".")
    return len(whole.lstrip("0")) + len(fraction)
