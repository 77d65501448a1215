"""The condition of a join: an equality that finds partners, and what must hold of pairs besides."""

from dataclasses import dataclass

from orion.model import Scalar
from orion.sql.parse import tree
from orion.sql.plan.compare import compare
from orion.sql.plan.conjunct import conjunction, conjuncts
from orion.sql.plan.errors import StatementError
from orion.sql.plan.resolve import Resolver
from orion.sql.plan.step import Match, Read
from orion.sql.plan.typed import Compared, Constant, Typed, inputs_of

_EQUAL = tree.ComparisonOperator.EQUAL
# What all events are joined by where no equality tells them apart.
_ANY = Constant(Scalar.INTEGER, 0)


@dataclass(frozen=True)
class Joining:
    """What rows are joined by, and the condition that a pair must fulfil; None: no other."""

    match: Match
    condition: Typed | None = None

    @property
    def is_any(self) -> bool:
        """Whether no equality tells rows apart: every one may meet every other."""
        return self.match.left is _ANY


def plan_condition(
    on: tree.Expression, right: Read, resolver: Resolver, *, is_streams: bool
) -> Joining:
    """Return what a join's ON says.

    Args:
        resolver: Sees the columns of both sides.
        is_streams: Whether two streams meet, which a time bounds even without an equality.
    """
    parts = list(conjuncts(on))
    if len(parts) == 1 and _is_equality(on):
        return Joining(_match(on, right, resolver))
    equal = [part for part in parts if _tells_sides_apart(part, right, resolver)]
    if len(equal) > 1:
        raise StatementError(
            "A join is by one equality of both sides; there are more.",
            node=on,
            fix="Compare the others in WHERE.",
        )
    if not equal and not is_streams:
        raise StatementError(
            "A join needs a condition that two expressions are equal, one of each side.", node=on
        )
    rest = conjunction([part for part in parts if part not in equal])
    condition = None if rest is None else resolver.condition(rest, "ON")
    if equal:
        return Joining(_match(equal[0], right, resolver), condition)
    return Joining(Match(_ANY, _ANY), condition)


def _is_equality(node: tree.Expression) -> bool:
    return isinstance(node, tree.Comparison) and node.operator is _EQUAL


def _tells_sides_apart(node: tree.Expression, right: Read, resolver: Resolver) -> bool:
    if not isinstance(node, tree.Comparison) or node.operator is not _EQUAL:
        return False
    sides = [_side(resolver.resolve(part), right) for part in (node.left, node.right)]
    return sides in ([False, True], [True, False])


def _match(on: tree.Expression, right: Read, resolver: Resolver) -> Match:
    assert isinstance(on, tree.Comparison)
    one, other = resolver.resolve(on.left), resolver.resolve(on.right)
    met = compare(_EQUAL, one, other, on)
    assert isinstance(met, Compared)
    sides = [_side(part, right) for part in (one, other)]
    if one.type != other.type:
        raise StatementError(
            f"The join compares {one.type} with {other.type}.", node=on, fix="CAST one of them."
        )
    if sides == [False, True]:
        return Match(one, other)
    if sides == [True, False]:
        return Match(other, one)
    raise StatementError(
        "Each side of the join's condition must name one of the joined sources.", node=on
    )


def _side(part: Typed, right: Read) -> bool | None:
    """Tell whether an expression speaks of the right side; None: of both or of neither."""
    found = {name.split(".", 1)[0] == right.alias for name in inputs_of(part)}
    return found.pop() if len(found) == 1 else None
