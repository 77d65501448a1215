"""A plan as a tree that people can read, from the rows that go out to the sources."""

import dataclasses
from collections.abc import Iterator
from typing import Any

from orion.sql.plan import typed
from orion.sql.plan.step import (
    Aggregate,
    Filter,
    Flatten,
    JoinStep,
    Named,
    Project,
    Rank,
    Read,
    Step,
)


def explain(step: Step) -> str:
    """Return a plan as indented lines."""
    return "\n".join(_lines(step, 0))


def _lines(step: Step, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for number, line in enumerate(_words(step)):
        yield f"{indent}{'> ' if number == 0 else '    '}{line}"
    if isinstance(step, JoinStep):
        yield from _lines(step.left, depth + 1)
        yield from _lines(step.right, depth + 1)
    elif not isinstance(step, Read):
        yield from _lines(step.input, depth + 1)


def _words(step: Step) -> Iterator[str]:
    match step:
        case Read(source):
            yield f"READ {source.kind.value} {source.name} FROM TOPIC {source.topic}"
            yield f"key {source.key_format.name}, value {source.value_format.name}"
        case Filter(_, condition):
            yield f"FILTER {_text(condition)}"
        case Flatten(_, columns):
            yield f"FLATTEN {_columns(columns)}"
        case Aggregate(_, keys, calls, window):
            yield f"AGGREGATE BY {_columns(keys)}"
            yield "compute " + ", ".join(f"{call.function.name} AS {call.name}" for call in calls)
            if window is not None:
                yield f"in {window.kind.value} windows of {window.size.ms} ms"
        case Rank():
            yield from _rank_words(step)
        case JoinStep():
            yield from _join_words(step)
        case Project(_, key, value):
            yield f"SELECT {_columns(value)}"
            if key:
                yield f"keyed by {_columns(key)}"


def _rank_words(step: Rank) -> Iterator[str]:
    by = ", ".join(f"{sort.name}{' DESC' if sort.descending else ''}" for sort in step.sorts)
    what = "its places" if step.is_table else "the events that take a place"
    yield f"RANK THE FIRST {step.count} AS {step.number} BY {by}"
    yield f"of each {', '.join(step.keys) or 'row'}, giving {what}"


def _join_words(step: JoinStep) -> Iterator[str]:
    match = step.match
    if isinstance(match.left, typed.Constant):
        yield f"{step.kind.value} JOIN WITHOUT EQUALITY"
        yield "in one task: each event looks at all within its time"
    else:
        yield f"{step.kind.value} JOIN ON {_text(match.left)} = {_text(match.right)}"
    if step.condition is not None:
        yield f"where {_text(step.condition)}"


def _columns(columns: tuple[Named, ...]) -> str:
    return ", ".join(f"{_text(each.expression)} AS {each.name}" for each in columns) or "nothing"


def _text(node: Any) -> str:
    """Return a checked expression in short."""
    match node:
        case typed.Constant(_, value):
            return (
                repr(value) if isinstance(value, str) else "NULL" if value is None else str(value)
            )
        case typed.Input(_, name) | typed.Variable(_, name):
            return str(name)
        case typed.FieldOf(_, value, field):
            return f"{_text(value)}->{field}"
        case typed.Converted(kind, value):
            return f"CAST({_text(value)} AS {kind})"
        case typed.Applied(_, function, arguments):
            return f"{function.name}({', '.join(map(_text, arguments))})"
        case _:
            return _general(node)


def _general(node: Any) -> str:
    """Return any other node by its name and parts."""
    parts = [
        getattr(node, field.name) for field in dataclasses.fields(node) if field.name != "type"
    ]
    operators = [part.value for part in parts if hasattr(part, "value") and hasattr(part, "name")]
    operands = [_text(part) for part in parts if dataclasses.is_dataclass(part)]
    if len(operands) == 2 and operators and isinstance(operators[0], str):
        return f"({operands[0]} {operators[0]} {operands[1]})"
    return f"{type(node).__name__.upper()}({', '.join(operands)})"
