"""Conditions that AND joins, taken apart and put together again."""

from collections.abc import Iterator, Sequence

from orion.sql.parse import tree


def conjuncts(node: tree.Expression | None) -> Iterator[tree.Expression]:
    """Yield the conditions that AND joins."""
    if isinstance(node, tree.Logical) and node.operator is tree.LogicalOperator.AND:
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    elif node is not None:
        yield node


def conjunction(parts: Sequence[tree.Expression]) -> tree.Expression | None:
    """Return conditions joined by AND; None: there are none."""
    found: tree.Expression | None = None
    for part in parts:
        both = tree.LogicalOperator.AND
        found = part if found is None else tree.Logical(both, found, part, place=part.place)
    return found
