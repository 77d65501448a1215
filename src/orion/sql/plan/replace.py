"""CREATE OR REPLACE: what may change in place, and what needs a new name."""

from orion.sql.parse import tree
from orion.sql.plan.errors import StatementError
from orion.sql.plan.source import Column, Source


def check_replacement(old: Source, new: Source, node: tree.Node) -> None:
    """Raise unless the new definition can go on where the old one was.

    Columns may be added behind the others; what was written stays readable.
    """
    same = (
        ("topic", old.topic, new.topic),
        ("key format", old.key_format, new.key_format),
        ("value format", old.value_format, new.value_format),
        ("windows", old.windowed, new.windowed),
    )
    for what, before, after in same:
        if before != after:
            raise StatementError(
                f"'{old.name}' cannot be replaced: its {what} would change.",
                node=node,
                fix="DROP it first, or create it under another name.",
            )
    if (old.query is None) != (new.query is None) and old.query is not None:
        return
    _check_columns(old.name, old.key, new.key, node, may_grow=False)
    _check_columns(old.name, old.value, new.value, node, may_grow=True)


def _check_columns(
    name: str,
    old: tuple[Column, ...],
    new: tuple[Column, ...],
    node: tree.Node,
    *,
    may_grow: bool,
) -> None:
    kept = new[: len(old)]
    if kept == old and (may_grow or len(new) == len(old)):
        return
    lost = next((c for c in old if c not in new), old[0] if old else new[0])
    raise StatementError(
        f"'{name}' cannot be replaced: column '{lost.name}' would change, move or go.",
        node=node,
        fix="Keep the columns as they are and add new ones behind them.",
    )
