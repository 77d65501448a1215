"""Joins of answers: any condition counts; what it compares by equality finds partners fast."""

from collections.abc import Iterator

from orion.model import Scalar
from orion.sql.parse import tree
from orion.sql.plan.answer.plan import Derived, Joined, Relation, Scan
from orion.sql.plan.resolve import Resolver
from orion.sql.plan.typed import Compared, Logic, Typed, inputs_of


def join(node: tree.Join, left: Relation, right: Scan | Derived, resolver: Resolver) -> Joined:
    """Return the plan of a join.

    Args:
        resolver: Sees the columns of both sides.
    """
    condition = resolver.condition(node.on, "ON")
    left_keys: list[Typed] = []
    right_keys: list[Typed] = []
    rest: Typed | None = None
    for part in _conjuncts(condition):
        pair = _pair(part, right)
        if pair is None:
            rest = part if rest is None else _both(rest, part)
        else:
            left_keys.append(pair[0])
            right_keys.append(pair[1])
    return Joined(node.kind, left, right, tuple(left_keys), tuple(right_keys), rest)


def _conjuncts(node: Typed) -> Iterator[Typed]:
    if isinstance(node, Logic) and node.operator is tree.LogicalOperator.AND:
        yield from _conjuncts(node.left)
        yield from _conjuncts(node.right)
    else:
        yield node


def _both(left: Typed, right: Typed) -> Typed:
    return Logic(Scalar.BOOLEAN, tree.LogicalOperator.AND, left, right)


def _pair(node: Typed, right: Scan | Derived) -> tuple[Typed, Typed] | None:
    """Return what each side must equal, the left one first; None: no such comparison."""
    if not isinstance(node, Compared) or node.operator is not tree.ComparisonOperator.EQUAL:
        return None
    sides = (_is_right(node.left, right), _is_right(node.right, right))
    if sides == (False, True):
        return node.left, node.right
    if sides == (True, False):
        return node.right, node.left
    return None


def _is_right(node: Typed, right: Scan | Derived) -> bool | None:
    """Tell whether an expression speaks of the right side only; None: of both or of neither."""
    found = {name.split(".", 1)[0] == right.read.alias for name in inputs_of(node)}
    return found.pop() if len(found) == 1 else None
