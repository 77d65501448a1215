"""Which clauses of a query go together, what its window may be, what its lambdas may name."""

from collections.abc import Collection, Iterator

from orion.sql.parse import children, tree
from orion.sql.plan.errors import StatementError
from orion.sql.plan.source import WINDOW_BOUNDS


def check_clauses(query: tree.Query, *, is_table: bool, is_persistent: bool) -> None:
    """Refuse clauses that mean nothing beside the others.

    Args:
        is_table: Whether the query reads the changes of a table.
        is_persistent: Whether its rows go to a topic, instead of to who asks.
    """
    _check_grouping(query, is_table=is_table)
    if query.window is not None:
        _check_window(query.window)
        _check_bounds(query)
    if query.emit is tree.Emit.FINAL and query.window is None:
        raise StatementError("EMIT FINAL needs a WINDOW.", node=query)
    if query.limit is not None and is_persistent:
        raise StatementError(
            "LIMIT ends an answer; a query that writes to a topic goes on.",
            node=query,
            fix="Ask with LIMIT what it has written.",
        )


def _check_grouping(query: tree.Query, *, is_table: bool) -> None:
    if query.partition_by is not None and is_table:
        raise StatementError(
            "PARTITION BY is for streams: a table is kept by its primary key.",
            node=query,
            fix="Use GROUP BY to build a table with another key.",
        )
    if query.having is not None and query.group_by is None:
        raise StatementError("HAVING needs a GROUP BY.", node=query.having)
    if query.window is not None and query.group_by is None:
        raise StatementError("A WINDOW needs a GROUP BY.", node=query.window)
    if query.window is not None and is_table:
        raise StatementError("A table has no windows to group by.", node=query.window)
    if query.partition_by is not None and query.group_by is not None:
        raise StatementError("PARTITION BY and GROUP BY exclude each other.", node=query)


def _check_window(window: tree.Window) -> None:
    """Refuse windows that records would fall between, or that are dropped while still open."""
    size = "SIZE" if window.kind is not tree.WindowKind.SESSION else "gap"
    if not window.size.ms:
        raise StatementError(f"The {size} of a window cannot be 0.", node=window)
    advance = window.advance
    if advance is not None and not 0 < advance.ms <= window.size.ms:
        raise StatementError(
            "ADVANCE BY must be longer than 0 and no longer than SIZE, or records would fall"
            " between windows.",
            node=advance,
        )
    grace_ms = 0 if window.grace is None else window.grace.ms
    if window.retention is not None and window.retention.ms < window.size.ms + grace_ms:
        raise StatementError(
            f"RETENTION must be at least the {size} and the GRACE PERIOD together:"
            " windows are open for that long.",
            node=window.retention,
        )


def _check_bounds(query: tree.Query) -> None:
    """Refuse a window's bounds where its rows are chosen: only what is selected knows them."""
    clauses: tuple[tuple[str, tuple[tree.Expression | None, ...]], ...] = (
        ("WHERE", (query.where,)),
        ("GROUP BY", query.group_by or ()),
        ("HAVING", (query.having,)),
    )
    for clause, parts in clauses:
        for node in (found for part in parts if part is not None for found in _walk(part)):
            if isinstance(node, tree.ColumnRef) and node.name.text in WINDOW_BOUNDS:
                raise StatementError(
                    f"'{node.name.text}' cannot stand in {clause} beside a WINDOW.",
                    node=node,
                    fix="Select it AS a column, and compare that when you ask for the rows.",
                )


def _walk(node: tree.Node) -> Iterator[tree.Node]:
    yield node
    for child in children(node):
        yield from _walk(child)


def check_lambdas(query: tree.Query, columns: Collection[str]) -> None:
    """Refuse parameters of lambdas that would hide a column, or one of a lambda around them."""
    keys = (*(query.group_by or ()), *(query.partition_by or ()))
    parts: tuple[tree.Node | None, ...] = (*query.select, *keys, query.where, query.having)
    for part in parts:
        if part is not None:
            _check_parameters(part, frozenset(columns))


def _check_parameters(node: tree.Node, taken: frozenset[str]) -> None:
    if isinstance(node, tree.Lambda):
        for name in node.parameters:
            if name.text in taken:
                raise StatementError(
                    f"The lambda's parameter '{name.text}' has the name of a column, or of a"
                    " parameter around it.",
                    node=name,
                    fix="Give it a name of its own.",
                )
        taken |= {name.text for name in node.parameters}
    for child in children(node):
        _check_parameters(child, taken)
