"""CREATE OR REPLACE: what may change in place, and what needs a new name."""

from collections.abc import Iterator

from orion.sql.parse import tree
from orion.sql.plan.errors import StatementError
from orion.sql.plan.source import Column, Source
from orion.sql.plan.step import Aggregate, JoinStep, Project, Rank, Read, Step, reads_of

_ANEW = (
    "Make a table anew from its topics, WITH (REBUILD=true); otherwise DROP it first, or create it"
    " under another name."
)


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
    _check_columns(old.name, old.key, new.key, node, may_grow=False)
    _check_columns(old.name, old.value, new.value, node, may_grow=True)


def check_rebuild(known: Source, node: tree.Node) -> None:
    """Raise unless what a query has written can be made anew."""
    if not known.is_table:
        raise StatementError(
            f"'{known.name}' is a stream: what it has written stays as it is.",
            node=node,
            fix="Create the stream under another name; REBUILD is for tables.",
        )


def check_query(old: Project, new: Project, node: tree.Node) -> None:
    """Raise unless a query can go on with the offsets and the state of the one it replaces."""
    if [r.source.name for r in reads_of(old)] != [r.source.name for r in reads_of(new)]:
        raise StatementError(
            "A query cannot be replaced by one that reads other sources.",
            node=node,
            fix=_ANEW,
        )
    if list(_stateful(old)) != list(_stateful(new)):
        raise StatementError(
            "A query cannot be replaced by one that groups, windows or joins otherwise: its state"
            " would mean something else.",
            node=node,
            fix=_ANEW,
        )


def _stateful(step: Step) -> Iterator[object]:
    """Yield what the state of a query depends on, from its end to its sources."""
    match step:
        case Aggregate():
            calls = [(call.function.name, call.arguments, call.constants) for call in step.calls]
            yield step.keys, calls, step.window
            yield from _stateful(step.input)
        case Rank():
            shape = step.keys, step.sorts, step.columns, step.count, step.is_table
            yield shape, [named.expression for named in step.input.value]
            yield from _stateful(step.input)
        case JoinStep():
            yield step.kind, step.match, step.interval, step.condition
            yield from _stateful(step.left)
        case Read():
            return
        case _:
            yield from _stateful(step.input)


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
