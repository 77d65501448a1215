"""The height of a tree: long chains of operators are deep trees, though nothing is nested."""

from collections.abc import Iterator
from dataclasses import fields

from orion.sql.parse.errors import SqlTooDeepError
from orion.sql.parse.tree import Node

MAX_HEIGHT = 200


def check_depth(text: str, root: Node) -> None:
    """Refuse a tree that those who walk it by recursion could not walk."""
    level: list[Node] = [root]
    for _ in range(MAX_HEIGHT):
        level = [child for node in level for child in children(node)]
        if not level:
            return
    raise SqlTooDeepError(text, level[0].place, MAX_HEIGHT)


def children(node: Node) -> Iterator[Node]:
    """Return the nodes directly below one."""
    for field in fields(node):
        yield from _nodes(getattr(node, field.name))


def _nodes(value: object) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)
