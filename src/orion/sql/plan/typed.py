"""Expressions after checking: every node knows its type, every conversion is written out.

What runs them (Spark in the engine, Python where one row is enough) decides nothing about types.
"""

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from orion.model import Type
from orion.sql.function import Resolved
from orion.sql.parse.tree import ArithmeticOperator, ComparisonOperator, LogicalOperator


@dataclass(frozen=True)
class Constant:
    """A value: DATE in days, TIME and TIMESTAMP in milliseconds; None is NULL."""

    type: Type | None
    value: Any


@dataclass(frozen=True)
class Input:
    """A column of the row."""

    type: Type
    name: str


@dataclass(frozen=True)
class Variable:
    """A parameter of the lambda around it."""

    type: Type
    name: str


@dataclass(frozen=True)
class FieldOf:
    """A field of a struct."""

    type: Type
    value: "Typed"
    field: str


@dataclass(frozen=True)
class ElementOf:
    """An element of an array (from 1, negative from the end) or of a map; missing: null."""

    type: Type
    value: "Typed"
    index: "Typed"


@dataclass(frozen=True)
class Arithmetic:
    """Numbers of one type joined by an operator; decimals keep types of their own."""

    type: Type
    operator: ArithmeticOperator
    left: "Typed"
    right: "Typed"


@dataclass(frozen=True)
class Negative:
    """A number with its sign turned."""

    type: Type
    value: "Typed"


@dataclass(frozen=True)
class Joined:
    """Texts, or bytes, joined."""

    type: Type
    left: "Typed"
    right: "Typed"


@dataclass(frozen=True)
class Compared:
    """Values of one type compared; FALSE when one is null."""

    type: Type
    operator: ComparisonOperator
    left: "Typed"
    right: "Typed"


@dataclass(frozen=True)
class Distinct:
    """Whether two values differ, null being a value like others."""

    type: Type
    left: "Typed"
    right: "Typed"


@dataclass(frozen=True)
class Logic:
    """Two conditions joined."""

    type: Type
    operator: LogicalOperator
    left: "Typed"
    right: "Typed"


@dataclass(frozen=True)
class Negated:
    """A condition turned round."""

    type: Type
    value: "Typed"


@dataclass(frozen=True)
class Missing:
    """Whether a value is null."""

    type: Type
    value: "Typed"


@dataclass(frozen=True)
class Matches:
    """A text against a LIKE pattern."""

    type: Type
    value: "Typed"
    pattern: "Typed"
    escape: str | None


@dataclass(frozen=True)
class Choice:
    """The result of the first condition that holds."""

    type: Type | None
    branches: tuple[tuple["Typed", "Typed"], ...]
    default: "Typed"


@dataclass(frozen=True)
class Converted:
    """A value in another type; null where it cannot be had."""

    type: Type
    value: "Typed"


class Shape(enum.Enum):
    """What values are put together into."""

    ARRAY = "ARRAY"
    MAP = "MAP"
    STRUCT = "STRUCT"


@dataclass(frozen=True)
class Made:
    """An array, a map (keys and values in turn) or a struct of values."""

    type: Type
    shape: Shape
    parts: tuple["Typed", ...]


@dataclass(frozen=True)
class LambdaOf:
    """A lambda: its parameters and its body."""

    type: Type
    parameters: tuple[Variable, ...]
    body: "Typed"


@dataclass(frozen=True)
class Applied:
    """A function with its arguments, converted to the types it takes."""

    type: Type
    function: Resolved
    arguments: tuple["Typed", ...]


Typed = (
    Constant
    | Input
    | Variable
    | FieldOf
    | ElementOf
    | Arithmetic
    | Negative
    | Joined
    | Compared
    | Distinct
    | Logic
    | Negated
    | Missing
    | Matches
    | Choice
    | Converted
    | Made
    | LambdaOf
    | Applied
)


def parts_of(node: Typed) -> tuple[Typed, ...]:
    """Return the expressions a node is made of."""
    match node:
        case Constant() | Input() | Variable():
            return ()
        case ElementOf(_, value, index):
            return value, index
        case Arithmetic() | Joined() | Compared() | Distinct() | Logic():
            return node.left, node.right
        case Matches(_, value, pattern, _):
            return value, pattern
        case Choice(_, branches, default):
            return (*(part for branch in branches for part in branch), default)
        case Made(_, _, parts):
            return parts
        case LambdaOf(_, _, body):
            return (body,)
        case Applied(_, _, arguments):
            return arguments
        case _:
            return (node.value,)


def walk(node: Typed) -> Iterator[Typed]:
    """Yield a node and everything below it."""
    yield node
    for part in parts_of(node):
        yield from walk(part)


_PARTS = frozenset(
    [
        "value",
        "left",
        "right",
        "index",
        "pattern",
        "branches",
        "default",
        "parts",
        "body",
        "arguments",
    ]
)


def renamed(node: Typed, names: Mapping[str, str]) -> Typed:
    """Return an expression whose columns go by other names."""

    def rename(leaf: Typed) -> Typed:
        if not isinstance(leaf, Input):
            return leaf
        return replace(leaf, name=names.get(leaf.name, leaf.name))

    return with_leaves(node, rename)


def bound(node: Typed, values: Mapping[str, Constant]) -> Typed:
    """Return an expression in which variables have got their values."""

    def bind(leaf: Typed) -> Typed:
        return values.get(leaf.name, leaf) if isinstance(leaf, Variable) else leaf

    return with_leaves(node, bind)


def with_leaves(node: Typed, change: Callable[[Typed], Typed]) -> Typed:
    """Return an expression with other columns, constants and variables."""
    if isinstance(node, Input | Constant | Variable):
        return change(node)
    parts = {
        f.name: _changed(getattr(node, f.name), change) for f in fields(node) if f.name in _PARTS
    }
    return replace(node, **parts)


def _changed(part: Any, change: Callable[[Typed], Typed]) -> Any:
    if isinstance(part, tuple):
        return tuple(_changed(item, change) for item in part)
    return with_leaves(part, change)


def inputs_of(node: Typed) -> set[str]:
    """Return the columns that an expression reads."""
    return {found.name for found in walk(node) if isinstance(found, Input)}
