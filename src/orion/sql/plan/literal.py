"""Literals: their values and types."""

from decimal import Decimal as Number

from orion.model import Decimal, Scalar
from orion.sql.function import MAX_PRECISION
from orion.sql.parse import tree
from orion.sql.plan import typed


def literal(node: tree.Node) -> typed.Constant | None:
    """Return a literal's value and type; None if the node is no literal."""
    match node:
        case tree.NullLiteral():
            return typed.Constant(None, None)
        case tree.BooleanLiteral(value):
            return typed.Constant(Scalar.BOOLEAN, value)
        case tree.IntegerLiteral(value):
            return typed.Constant(Scalar.INTEGER, value)
        case tree.LongLiteral(value):
            return typed.Constant(Scalar.BIGINT, value)
        case tree.DoubleLiteral(text):
            return typed.Constant(Scalar.DOUBLE, float(text))
        case tree.DecimalLiteral(text):
            number = Number(text)
            digits, exponent = number.as_tuple().digits, number.as_tuple().exponent
            scale = -int(exponent)
            # One digit stands before the point, where there is room for it.
            precision = max(len(digits), min(scale + 1, MAX_PRECISION))
            return typed.Constant(Decimal(precision, scale), number)
        case tree.StringLiteral(text):
            return typed.Constant(Scalar.STRING, text)
    return None
