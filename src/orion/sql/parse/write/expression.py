"""Expressions and types back to text, so that reading it again gives the same tree.

Names stand in backquotes and every operator in parentheses: nothing depends on precedence.
"""

from collections.abc import Iterable

from orion.sql.parse import tree
from orion.sql.parse.read.type import BUILT_IN_TYPES
from orion.sql.parse.word import KEYWORDS

Binary = tree.Arithmetic | tree.Comparison | tree.Logical | tree.Concat


def format_name(name: tree.Name | str) -> str:
    """Return a name in backquotes."""
    text = str(name).replace("`", "``")
    return f"`{text}`"


def format_string(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def format_type(written: tree.WrittenType) -> str:
    """Return a type as SQL."""
    match written:
        case tree.SimpleType(name):
            return name.text if name.text in BUILT_IN_TYPES else format_name(name)
        case tree.DecimalType(precision, scale):
            return f"DECIMAL({precision}, {scale})"
        case tree.ArrayType(element):
            return f"ARRAY<{format_type(element)}>"
        case tree.MapType(key, value):
            return f"MAP<{format_type(key)}, {format_type(value)}>"
        case tree.StructType(fields):
            inner = (f"{format_name(field.name)} {format_type(field.type)}" for field in fields)
            return f"STRUCT<{', '.join(inner)}>"


def format_expression(expression: tree.Argument) -> str:
    """Return an expression, or an argument of a function, as SQL."""
    match expression:
        case tree.NullLiteral() | tree.BooleanLiteral() | tree.StringLiteral():
            return _format_literal(expression)
        case tree.IntegerLiteral(value) | tree.LongLiteral(value):
            return str(value)
        case tree.DecimalLiteral(text) | tree.DoubleLiteral(text):
            return text
        case tree.ColumnRef() | tree.FieldRef() | tree.Subscript() | tree.Call():
            return _format_access(expression)
        case tree.Lambda() | tree.IntervalUnit() | tree.Star():
            return _format_argument(expression)
        case tree.Arithmetic() | tree.Comparison() | tree.Logical() | tree.Concat():
            return _format_binary(expression)
        case tree.ArrayLiteral() | tree.MapLiteral() | tree.StructLiteral() | tree.TypedLiteral():
            return _format_constructor(expression)
        case tree.Case() | tree.Cast() | tree.AtTimeZone() | tree.Sign() | tree.Not():
            return _format_form(expression)
        case _:
            return _format_predicate(expression)


def _format_literal(literal: tree.NullLiteral | tree.BooleanLiteral | tree.StringLiteral) -> str:
    match literal:
        case tree.NullLiteral():
            return "NULL"
        case tree.BooleanLiteral(value):
            return "TRUE" if value else "FALSE"
        case tree.StringLiteral(text):
            return format_string(text)


def _format_access(node: tree.ColumnRef | tree.FieldRef | tree.Subscript | tree.Call) -> str:
    match node:
        case tree.ColumnRef(None, name):
            return format_name(name)
        case tree.ColumnRef(source, name):
            return f"{format_name(source or '')}.{format_name(name)}"
        case tree.FieldRef(value, name):
            return f"{format_expression(value)}->{format_name(name)}"
        case tree.Subscript(value, index):
            return f"{format_expression(value)}[{format_expression(index)}]"
        case tree.Call(name, arguments):
            return f"{_format_function(name)}({_join(arguments)})"


def _format_function(name: tree.Name) -> str:
    plain = name.text.isidentifier() and name.text.isascii() and name.text == name.text.upper()
    return name.text if plain and name.text not in KEYWORDS else format_name(name)


def _format_argument(node: tree.Lambda | tree.IntervalUnit | tree.Star) -> str:
    match node:
        case tree.Lambda((name,), body):
            return f"{format_name(name)} => {format_expression(body)}"
        case tree.Lambda(parameters, body):
            names = ", ".join(format_name(name) for name in parameters)
            return f"({names}) => {format_expression(body)}"
        case tree.IntervalUnit(unit):
            return unit.name
        case tree.Star():
            return "*"


def _format_binary(node: Binary) -> str:
    if isinstance(node, tree.Comparison):
        operator = node.operator.value
        return f"({format_expression(node.left)} {operator} {format_expression(node.right)})"
    # A chain of one operator joins from the left by itself: `(a + b + c)` stays flat.
    operands: list[str] = []
    left: tree.Expression = node
    while isinstance(left, type(node)) and _operator(left) == _operator(node):
        operands.append(format_expression(left.right))
        left = left.left
    operands.append(format_expression(left))
    return f"({f' {_operator(node)} '.join(reversed(operands))})"


def _operator(node: Binary) -> str:
    return "||" if isinstance(node, tree.Concat) else node.operator.value


def _format_constructor(
    node: tree.ArrayLiteral | tree.MapLiteral | tree.StructLiteral | tree.TypedLiteral,
) -> str:
    match node:
        case tree.ArrayLiteral(items):
            return f"ARRAY[{_join(items)}]"
        case tree.MapLiteral(entries):
            pairs = (f"{format_expression(k)} := {format_expression(v)}" for k, v in entries)
            return f"MAP({', '.join(pairs)})"
        case tree.StructLiteral(fields):
            pairs = (f"{format_name(name)} := {format_expression(v)}" for name, v in fields)
            return f"STRUCT({', '.join(pairs)})"
        case tree.TypedLiteral(name, text):
            return f"{format_name(name)} {format_string(text)}"


def _format_form(
    node: tree.Case | tree.Cast | tree.AtTimeZone | tree.Sign | tree.Not,
) -> str:
    match node:
        case tree.Case(operand, branches, default):
            parts = ["CASE"] if operand is None else ["CASE", format_expression(operand)]
            for branch in branches:
                condition, result = map(format_expression, (branch.condition, branch.result))
                parts.append(f"WHEN {condition} THEN {result}")
            if default is not None:
                parts.append(f"ELSE {format_expression(default)}")
            return f"({' '.join(parts)} END)"
        case tree.Cast(value, type_):
            return f"CAST({format_expression(value)} AS {format_type(type_)})"
        case tree.AtTimeZone(value, zone):
            return f"({format_expression(value)} AT TIME ZONE {format_string(zone)})"
        case tree.Sign(negative, value):
            # Parentheses keep a signed number from being read as one literal, and `--` away.
            return f"({'-' if negative else '+'}({format_expression(value)}))"
        case tree.Not(value):
            return f"(NOT {format_expression(value)})"


def _format_predicate(
    node: tree.Between | tree.In | tree.Like | tree.IsNull | tree.IsDistinctFrom,
) -> str:
    no = "NOT " if node.negated else ""
    match node:
        case tree.Between(value, low, high):
            limits = f"{format_expression(low)} AND {format_expression(high)}"
            return f"({format_expression(value)} {no}BETWEEN {limits})"
        case tree.In(value, items):
            return f"({format_expression(value)} {no}IN ({_join(items)}))"
        case tree.Like(value, pattern, escape):
            end = "" if escape is None else f" ESCAPE {format_string(escape)}"
            return f"({format_expression(value)} {no}LIKE {format_expression(pattern)}{end})"
        case tree.IsNull(value):
            return f"({format_expression(value)} IS {no}NULL)"
        case tree.IsDistinctFrom(left, right):
            return f"({format_expression(left)} IS {no}DISTINCT FROM {format_expression(right)})"


def _join(items: Iterable[tree.Argument]) -> str:
    return ", ".join(format_expression(item) for item in items)
