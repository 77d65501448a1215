"""Queries: SELECT with its sources, joins, windows and clauses."""

from dataclasses import replace

from orion.sql.parse import tree
from orion.sql.parse.cursor import Cursor
from orion.sql.parse.read.expression import read_expression, read_orderings, read_value
from orion.sql.parse.word import FOREIGN_CLAUSES

_JOINS = {
    "INNER": tree.JoinKind.INNER,
    "LEFT": tree.JoinKind.LEFT,
    "RIGHT": tree.JoinKind.RIGHT,
    "FULL": tree.JoinKind.FULL,
}


def read_query(cursor: Cursor, *, alone: bool = False) -> tree.Query:
    """Read a query.

    Args:
        cursor: Where SELECT stands, or WITH.
        alone: Whether it is a statement of its own; without EMIT it is then a pull query.
    """
    cursor.nested = _read_nested
    return _read_query(cursor, alone=alone, may_emit=True)


def _read_nested(cursor: Cursor) -> tree.Query:
    """Read a query in parentheses, of which only the first has been read."""
    cursor.enter()
    found = _read_query(cursor, alone=True, may_emit=False)
    cursor.leave()
    cursor.expect_symbol(")")
    return found


def _read_query(cursor: Cursor, *, alone: bool, may_emit: bool) -> tree.Query:
    start = cursor.mark()
    common = _read_common(cursor)
    first = _read_select(cursor)
    united = []
    while cursor.at("UNION"):
        united.append(_read_united(cursor))
    order_by = _read_order(cursor)
    emits = may_emit and cursor.take("EMIT")
    emit = tree.Emit(cursor.expect("CHANGES", "FINAL")) if emits else None
    limit = cursor.integer() if cursor.take("LIMIT") else None
    offset = _read_offset(cursor)
    _refuse_foreign(cursor)
    return replace(
        first,
        emit=emit,
        limit=limit,
        is_pull=alone and emit is None,
        order_by=order_by,
        offset=offset,
        common=common,
        united=tuple(united),
        place=cursor.place(start),
    )


def _read_united(cursor: Cursor) -> tree.United:
    start = cursor.mark()
    cursor.only_in_answers(FOREIGN_CLAUSES["UNION"])
    cursor.advance()
    is_all = cursor.take("ALL")
    if not is_all:
        cursor.take("DISTINCT")
    query = replace(_read_select(cursor), is_pull=True)
    return tree.United(query, is_all, place=cursor.place(start))


def _read_select(cursor: Cursor) -> tree.Query:
    """Read a SELECT without what may follow a UNION: its order and its limits."""
    start = cursor.mark()
    cursor.expect("SELECT")
    is_distinct = cursor.at("DISTINCT") and not _is_column(cursor)
    if is_distinct:
        cursor.only_in_answers("SELECT DISTINCT is not part of streaming SQL; use GROUP BY")
        cursor.advance()
    select = [_read_item(cursor)]
    while cursor.take_symbol(","):
        select.append(_read_item(cursor))
    cursor.expect("FROM")
    source = _read_relation(cursor)
    window = _read_window(cursor) if cursor.take("WINDOW") else None
    where = read_expression(cursor) if cursor.take("WHERE") else None
    group_by = _read_keys(cursor) if cursor.take_sequence("GROUP", "BY") else None
    partition_by = _read_keys(cursor) if cursor.take_sequence("PARTITION", "BY") else None
    having = read_expression(cursor) if cursor.take("HAVING") else None
    return tree.Query(
        tuple(select),
        source,
        window,
        where,
        group_by,
        partition_by,
        having,
        is_distinct=is_distinct,
        place=cursor.place(start),
    )


def _read_common(cursor: Cursor) -> tuple[tree.CommonTable, ...]:
    if not cursor.at("WITH"):
        return ()
    cursor.only_in_answers("WITH queries are not part of streaming SQL; create a stream instead")
    cursor.advance()
    found = [_read_common_table(cursor)]
    while cursor.take_symbol(","):
        found.append(_read_common_table(cursor))
    return tuple(found)


def _read_common_table(cursor: Cursor) -> tree.CommonTable:
    start = cursor.mark()
    name = cursor.name("a name for the query")
    cursor.expect("AS")
    cursor.expect_symbol("(")
    query = _read_nested(cursor)
    return tree.CommonTable(name, query, place=cursor.place(start))


def _read_order(cursor: Cursor) -> tuple[tree.Ordering, ...]:
    if not cursor.at_sequence("ORDER", "BY"):
        return ()
    cursor.only_in_answers(FOREIGN_CLAUSES["ORDER"])
    return read_orderings(cursor)


def _read_offset(cursor: Cursor) -> int:
    if not cursor.at("OFFSET"):
        return 0
    cursor.only_in_answers(FOREIGN_CLAUSES["OFFSET"])
    cursor.advance()
    return cursor.integer()


def _is_column(cursor: Cursor) -> bool:
    following = cursor.peek()
    return following.kind == "SYMBOL" and following.value in (",", ".")


def _refuse_foreign(cursor: Cursor) -> None:
    if cursor.token.kind == "WORD" and cursor.token.value in FOREIGN_CLAUSES:
        cursor.fail(reason=FOREIGN_CLAUSES[cursor.token.value])


def _read_item(cursor: Cursor) -> tree.SelectPart:
    start = cursor.mark()
    if cursor.take_symbol("*"):
        return tree.AllColumns(place=cursor.place(start))
    if cursor.at_name() and cursor.peek(1).value == "." and cursor.peek(2).value == "*":
        source = cursor.name()
        cursor.advance()
        cursor.advance()
        return tree.AllColumns(source, place=cursor.place(start))
    expression = read_expression(cursor)
    if cursor.take_symbol("->"):
        cursor.expect_symbol("*")
        return tree.AllFields(expression, place=cursor.place(start))
    alias = None
    if cursor.take("AS") or cursor.at_name():
        alias = cursor.name("a name for the column")
    return tree.SelectItem(expression, alias, place=cursor.place(start))


def _read_relation(cursor: Cursor) -> tree.Relation:
    start = cursor.mark()
    found: tree.Relation = _read_source(cursor)
    while True:
        kind = _read_join_kind(cursor)
        if kind is None:
            return found
        right = _read_source(cursor)
        within = _read_within(cursor) if cursor.take("WITHIN") else None
        cursor.expect("ON")
        condition = read_expression(cursor)
        found = tree.Join(kind, found, right, condition, within, place=cursor.place(start))


def _read_join_kind(cursor: Cursor) -> tree.JoinKind | None:
    if cursor.at(*_JOINS):
        kind = _JOINS[cursor.advance().value]
        if kind is not tree.JoinKind.INNER:
            cursor.take("OUTER")
        cursor.expect("JOIN")
        return kind
    return tree.JoinKind.INNER if cursor.take("JOIN") else None


def _read_source(cursor: Cursor) -> tree.AliasedSource | tree.QuerySource:
    start = cursor.mark()
    if cursor.at_symbol("("):
        cursor.only_in_answers(
            "a query inside FROM is not part of streaming SQL; create a stream of it"
        )
        cursor.advance()
        query = _read_nested(cursor)
        given = tree.Name("ROWS")
        if cursor.take("AS") or (cursor.at_name() and not _at_clause(cursor)):
            given = cursor.name("a name for the query")
        return tree.QuerySource(query, given, place=cursor.place(start))
    name = cursor.name("a stream or table")
    alias = name
    if cursor.take("AS") or (cursor.at_name() and not _at_clause(cursor)):
        alias = cursor.name("a name for the source")
    return tree.AliasedSource(name, alias, place=cursor.place(start))


def _at_clause(cursor: Cursor) -> bool:
    # EMIT, PARTITION and the words of other dialects may be names: what follows decides.
    token, following = cursor.token, cursor.peek().value
    if token.kind != "WORD":
        return False
    return (
        (token.value == "EMIT" and cursor.at_name(1) and following not in ("EMIT", "PARTITION"))
        or (token.value in ("PARTITION", "ORDER") and following == "BY")
        or (token.value == "UNION" and following in ("ALL", "SELECT", "DISTINCT"))
        or (token.value == "OFFSET" and cursor.peek().kind == "INTEGER")
    )


def _read_within(cursor: Cursor) -> tree.Within:
    start = cursor.mark()
    if cursor.take_symbol("("):
        before = cursor.duration()
        cursor.expect_symbol(",")
        after = cursor.duration()
        cursor.expect_symbol(")")
    else:
        before = after = cursor.duration()
    grace = cursor.duration() if cursor.take_sequence("GRACE", "PERIOD") else None
    return tree.Within(before, after, grace, place=cursor.place(start))


def _read_window(cursor: Cursor) -> tree.Window:
    start = cursor.mark()
    kinds = [kind.value for kind in tree.WindowKind]
    # A window may have a name, which nothing refers to.
    if cursor.at_name() and cursor.peek().value in kinds:
        cursor.advance()
    kind = tree.WindowKind(cursor.expect(*kinds))
    cursor.expect_symbol("(")
    if kind is not tree.WindowKind.SESSION:
        cursor.expect("SIZE")
    size = cursor.duration()
    advance = None
    if kind is tree.WindowKind.HOPPING:
        cursor.expect_symbol(",")
        if not cursor.take_sequence("ADVANCE", "BY"):
            cursor.fail()
        advance = cursor.duration()
    retention = grace = None
    while cursor.take_symbol(","):
        if retention is None and grace is None and cursor.take("RETENTION"):
            retention = cursor.duration()
        elif grace is None and cursor.take_sequence("GRACE", "PERIOD"):
            grace = cursor.duration()
        else:
            cursor.fail()
    cursor.expect_symbol(")")
    return tree.Window(kind, size, advance, retention, grace, place=cursor.place(start))


def _read_keys(cursor: Cursor) -> tuple[tree.Expression, ...]:
    bracketed = _at_bracketed_list(cursor)
    if bracketed:
        cursor.advance()
        if cursor.take_symbol(")"):
            return ()
    keys = [read_value(cursor)]
    while cursor.take_symbol(","):
        keys.append(read_value(cursor))
    if bracketed:
        cursor.expect_symbol(")")
    return tuple(keys)


def _at_bracketed_list(cursor: Cursor) -> bool:
    """Tell `(a, b)`, a list, from `(a + b) * 2`, a value: only a list has a comma of its own."""
    if cursor.token.value != "(" or cursor.token.kind != "SYMBOL":
        return False
    depth, ahead = 1, 1
    while depth:
        token = cursor.peek(ahead)
        if token.kind == "END":
            return False
        if token.kind == "SYMBOL":
            depth += (token.value in ("(", "[")) - (token.value in (")", "]"))
            if depth == 1 and token.value == ",":
                return True
        ahead += 1
    return ahead == 2
