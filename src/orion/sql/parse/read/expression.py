"""Expressions: conditions, values and their operators, by climbing precedence.

From loose to tight: OR, AND, NOT, one predicate, `||`, `+ -`, `* / %`, a sign, AT TIME ZONE,
and the subscripts and fields that follow a primary expression.
"""

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.read.primary import at_query, read_nested, read_primary
from orion.sql.parse.word import FOREIGN_CLAUSES

_OR, _AND = 1, 2
_COMPARISONS = {operator.value: operator for operator in tree.ComparisonOperator} | {
    "!=": tree.ComparisonOperator.NOT_EQUAL
}
_BINDING = {"||": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3}
_SIGN_BINDING = 4


def read_expression(cursor: Cursor) -> tree.Expression:
    """Read a whole expression: conditions joined by AND and OR."""
    cursor.enter()
    found = _read_condition(cursor, _OR)
    cursor.leave()
    return found


def read_value(cursor: Cursor, binding: int = 1) -> tree.Expression:
    """Read a value: operators at least this tight, no comparison outside of parentheses."""
    start = cursor.mark()
    left = _read_signed(cursor)
    while True:
        operator = cursor.token.value if cursor.token.kind == "SYMBOL" else ""
        if _BINDING.get(operator, 0) < binding:
            return left
        cursor.advance()
        # Operators of one level join from the left, so the right side must bind tighter.
        right = read_value(cursor, _BINDING[operator] + 1)
        place = cursor.place(start)
        if operator == "||":
            left = tree.Concat(left, right, place=place)
        else:
            left = tree.Arithmetic(tree.ArithmeticOperator(operator), left, right, place=place)


def _read_condition(cursor: Cursor, level: int) -> tree.Expression:
    start = cursor.mark()
    left = _read_predicate(cursor)
    while True:
        if level <= _AND and cursor.take("AND"):
            operator, right = tree.LogicalOperator.AND, _read_predicate(cursor)
        elif level <= _OR and cursor.take("OR"):
            operator, right = tree.LogicalOperator.OR, _read_condition(cursor, _AND)
        else:
            return left
        left = tree.Logical(operator, left, right, place=cursor.place(start))


def _read_predicate(cursor: Cursor) -> tree.Expression:
    starts = []
    while cursor.at("NOT"):
        starts.append(cursor.mark())
        cursor.advance()
    start = cursor.mark()
    value = read_value(cursor)
    found = _read_comparison(cursor, start, value)
    for outer in reversed(starts):
        found = tree.Not(found, place=cursor.place(outer))
    return found


def _read_comparison(cursor: Cursor, start: int, value: tree.Expression) -> tree.Expression:
    if cursor.token.kind == "SYMBOL" and cursor.token.value in _COMPARISONS:
        operator = _COMPARISONS[cursor.advance().value]
        right = read_value(cursor)
        return tree.Comparison(operator, value, right, place=cursor.place(start))
    if cursor.take("IS"):
        return _read_is(cursor, start, value)
    negated = cursor.take("NOT")
    if cursor.take("BETWEEN"):
        low = read_value(cursor)
        cursor.expect("AND")
        high = read_value(cursor)
        return tree.Between(value, low, high, negated, place=cursor.place(start))
    if cursor.take("IN"):
        if at_query(cursor):
            query = read_nested(cursor)
            return tree.InQuery(value, query, negated, place=cursor.place(start))
        items = _read_items(cursor)
        return tree.In(value, items, negated, place=cursor.place(start))
    if cursor.take("LIKE"):
        return _read_like(cursor, start, value, negated)
    if negated:
        cursor.fail()
    return value


def _read_is(cursor: Cursor, start: int, value: tree.Expression) -> tree.Expression:
    negated = cursor.take("NOT")
    if cursor.take("NULL"):
        return tree.IsNull(value, negated, place=cursor.place(start))
    if not cursor.take_sequence("DISTINCT", "FROM"):
        cursor.fail()
    right = read_value(cursor)
    return tree.IsDistinctFrom(value, right, negated, place=cursor.place(start))


def read_orderings(cursor: Cursor) -> tuple[tree.Ordering, ...]:
    """Read ORDER BY with its expressions."""
    cursor.expect("ORDER")
    cursor.expect("BY")
    found = [_read_ordering(cursor)]
    while cursor.take_symbol(","):
        found.append(_read_ordering(cursor))
    return tuple(found)


def _read_ordering(cursor: Cursor) -> tree.Ordering:
    start = cursor.mark()
    expression = read_expression(cursor)
    descending = cursor.take("DESC")
    if not descending:
        cursor.take("ASC")
    nulls_first = cursor.take("NULLS") and cursor.expect("FIRST", "LAST") == "FIRST"
    return tree.Ordering(expression, descending, nulls_first, place=cursor.place(start))


def _read_items(cursor: Cursor) -> tuple[tree.Expression, ...]:
    cursor.expect_symbol("(")
    items = [read_expression(cursor)]
    while cursor.take_symbol(","):
        items.append(read_expression(cursor))
    cursor.expect_symbol(")")
    return tuple(items)


def _read_like(
    cursor: Cursor, start: int, value: tree.Expression, negated: bool
) -> tree.Expression:
    pattern = read_value(cursor)
    escape = None
    if cursor.take("ESCAPE"):
        escape = cursor.string("one character in single quotes")
        if len(escape) != 1:
            cursor.fail(reason="ESCAPE takes exactly one character")
    return tree.Like(value, pattern, escape, negated, place=cursor.place(start))


def _read_signed(cursor: Cursor) -> tree.Expression:
    signs = []
    # The sign of a plain number belongs to the number, and is read with it.
    while cursor.at_symbol("-", "+") and not (
        cursor.token.value == "-" and cursor.peek().kind in ("INTEGER", "DECIMAL", "DOUBLE")
    ):
        signs.append((cursor.mark(), cursor.advance().value == "-"))
    start = cursor.mark()
    value = read_primary(cursor, read_expression, read_value)
    if isinstance(value, tree.Call) and cursor.at("OVER") and cursor.peek().value == "(":
        value = _read_over(cursor, start, value)
    while cursor.take("AT"):
        if not cursor.take_sequence("TIME", "ZONE"):
            cursor.fail()
        zone = cursor.string("a time zone in single quotes")
        value = tree.AtTimeZone(value, zone, place=cursor.place(start))
    for outer, negative in reversed(signs):
        value = tree.Sign(negative, value, place=cursor.place(outer))
    return value


def _read_over(cursor: Cursor, start: int, call: tree.Call) -> tree.Over:
    cursor.only_in_answers(FOREIGN_CLAUSES["OVER"])
    cursor.advance()
    cursor.expect_symbol("(")
    partition_by: list[tree.Expression] = []
    if cursor.take_sequence("PARTITION", "BY"):
        partition_by.append(read_value(cursor))
        while cursor.take_symbol(","):
            partition_by.append(read_value(cursor))
    order_by = read_orderings(cursor) if cursor.at("ORDER") else ()
    cursor.expect_symbol(")")
    return tree.Over(call, tuple(partition_by), order_by, place=cursor.place(start))
