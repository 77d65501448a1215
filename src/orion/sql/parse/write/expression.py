"""Expressions, queries and types back to text, so that reading it again gives the same tree.

Names stand in backquotes and every operator in parentheses: nothing depends on precedence.
"""

from collections.abc import Iterable, Iterator

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
        case tree.QueryValue() | tree.QueryExists() | tree.InQuery() | tree.Over():
            return _format_answer(expression)
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


def format_query(query: tree.Query) -> str:
    """Return a query as SQL, a clause a line."""
    common = (f"{format_name(one.name)} AS ({format_query(one.query)})" for one in query.common)
    lines = [f"WITH {', '.join(common)}"] if query.common else []
    word = "SELECT DISTINCT" if query.is_distinct else "SELECT"
    lines.append(f"{word} {', '.join(_format_part(part) for part in query.select)}")
    lines.append(f"FROM {_format_relation(query.source)}")
    if query.window is not None:
        lines.append(f"WINDOW {_format_window(query.window)}")
    lines.extend(_format_clauses(query))
    if query.emit is not None:
        lines.append(f"EMIT {query.emit.value}")
    if query.limit is not None:
        lines.append(f"LIMIT {query.limit}")
    if query.offset:
        lines.append(f"OFFSET {query.offset}")
    return "\n".join(lines)


def _format_clauses(query: tree.Query) -> Iterator[str]:
    if query.where is not None:
        yield f"WHERE {format_expression(query.where)}"
    if query.group_by is not None:
        yield f"GROUP BY {_format_keys(query.group_by)}"
    if query.partition_by is not None:
        yield f"PARTITION BY {_format_keys(query.partition_by)}"
    if query.having is not None:
        yield f"HAVING {format_expression(query.having)}"
    for one in query.united:
        yield f"UNION{' ALL' if one.is_all else ''} {format_query(one.query)}"
    if query.order_by:
        yield _format_order(query.order_by)


def _format_order(orderings: tuple[tree.Ordering, ...]) -> str:
    parts = (
        f"{format_expression(one.expression)}{' DESC' if one.descending else ''}"
        f"{' NULLS FIRST' if one.nulls_first else ''}"
        for one in orderings
    )
    return f"ORDER BY {', '.join(parts)}"


def _format_answer(
    node: tree.QueryValue | tree.QueryExists | tree.InQuery | tree.Over,
) -> str:
    """Return what only queries that answer once hold."""
    return _format_over(node) if isinstance(node, tree.Over) else _format_nested(node)


def _format_over(over: tree.Over) -> str:
    parts = [f"PARTITION BY {format_list(over.partition_by)}"] if over.partition_by else []
    if over.order_by:
        parts.append(_format_order(over.order_by))
    return f"{format_expression(over.call)} OVER ({' '.join(parts)})"


def _format_nested(node: tree.QueryValue | tree.QueryExists | tree.InQuery) -> str:
    inner = f"({format_query(node.query)})"
    match node:
        case tree.QueryValue():
            return inner
        case tree.QueryExists():
            return f"EXISTS {inner}"
        case tree.InQuery(value, _, negated):
            return f"({format_expression(value)} {'NOT ' if negated else ''}IN {inner})"


def _format_part(part: tree.SelectPart) -> str:
    match part:
        case tree.AllColumns(None):
            return "*"
        case tree.AllColumns(source):
            return f"{format_name(source or '')}.*"
        case tree.AllFields(value):
            return f"{format_expression(value)}->*"
        case tree.SelectItem(expression, None):
            return format_expression(expression)
        case tree.SelectItem(expression, alias):
            return f"{format_expression(expression)} AS {format_name(alias or '')}"


def _format_relation(relation: tree.Relation) -> str:
    if isinstance(relation, tree.AliasedSource):
        alias = f" AS {format_name(relation.alias)}" if relation.has_alias else ""
        return f"{format_name(relation.name)}{alias}"
    if isinstance(relation, tree.QuerySource):
        return f"({format_query(relation.query)}) AS {format_name(relation.alias)}"
    within = "" if relation.within is None else f" WITHIN {_format_within(relation.within)}"
    return (
        f"{_format_relation(relation.left)}\n  {relation.kind.value} JOIN "
        f"{_format_relation(relation.right)}{within} ON {format_expression(relation.on)}"
    )


def _format_within(within: tree.Within) -> str:
    before, after = format_duration_of(within.before), format_duration_of(within.after)
    span = before if before == after else f"({before}, {after})"
    grace = "" if within.grace is None else f" GRACE PERIOD {format_duration_of(within.grace)}"
    return f"{span}{grace}"


def _format_window(window: tree.Window) -> str:
    size = "" if window.kind is tree.WindowKind.SESSION else "SIZE "
    parts = [f"{size}{format_duration_of(window.size)}"]
    if window.advance is not None:
        parts.append(f"ADVANCE BY {format_duration_of(window.advance)}")
    if window.retention is not None:
        parts.append(f"RETENTION {format_duration_of(window.retention)}")
    if window.grace is not None:
        parts.append(f"GRACE PERIOD {format_duration_of(window.grace)}")
    return f"{window.kind.value} ({', '.join(parts)})"


def format_duration_of(duration: tree.Duration) -> str:
    """Return an amount with its unit."""
    return f"{duration.amount} {duration.unit.name}"


def _format_keys(keys: tuple[tree.Expression, ...]) -> str:
    return format_list(keys) if keys else "()"


def format_list(items: tuple[tree.Expression, ...]) -> str:
    """Return expressions with commas between them."""
    return ", ".join(format_expression(item) for item in items)
